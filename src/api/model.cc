#include "attune/model.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/manifest.h"
#include "checkpoint/model_folder.h"
#include "checkpoint/quantized.h"
#include "checkpoint/weights_text.h"
#include "data/files/data_files.h"
#include "data/tokenizers.h"
#include "decode/shortlist.h"
#include "recipe/reader.h"
#include "recipe/settings.h"
#include "recipe/writer.h"
#include "run/metrics_file.h"
#include "run/run_folder.h"
#include "text/vocabulary.h"

namespace attune {

namespace {

namespace fs = std::filesystem;

/// Does what it can, and notes the first thing that it can't.
template <class F>
void attempt(ModelDescription& d, F f) {
  try {
    f();
  } catch (const Error& e) {
    if (d.trouble.empty()) d.trouble = e.what();
  }
}

void describe_recipe(ModelDescription& d) {
  const std::string path = d.folder + "/" + kRecipeName;
  Recipe r = read_recipe(read_recipe_text(path), path);
  const Fields fields = fields_of(r);
  const auto word = [&](const char* key) { return text_of(find_field(fields, key).get()); };
  d.task = word("task");
  d.shape = is_bag(r.model) ? "bag" : word("model.shape");
  const std::string reads = encoder_kind(r.model).text(), writes = decoder_kind(r.model).text();
  const bool both = has_encoder(r.model.shape) && has_decoder(r.model.shape);
  d.kind = both && reads != writes ? reads + " + " + writes : has_encoder(r.model.shape) ? reads : writes;
  d.norm = word("model.norm");
  d.tie = word("model.tie");
  d.position = word("model.position");
  d.attention = word("model.attention");
  d.tokenizer = word("tokenizer.kind");
  d.metric = r.train.metric;
  const bool encoder = has_encoder(r.model.shape), decoder = has_decoder(r.model.shape);
  d.encoder_layers = encoder ? r.model.encoder_layers : 0;
  d.decoder_layers = decoder ? r.model.decoder_layers : 0;
  d.d_model = r.model.d_model;
  d.d_ff = r.model.d_ff;
  d.heads = r.model.heads;
  if (r.tokenizer_of_start) {  // the recipe does not say
    const Tokenizers t = Tokenizers::load(d.folder + "/" + kTokenizerName);
    if (t.target) d.tokenizer = text::tokenizer_kinds()[static_cast<size_t>(t.target->kind())];
  }
  if (reads_rows(r.task)) d.tokenizer.clear();
  if (r.task != Task::translate) return;
  const auto languages = languages_of(r.data);
  d.source_language = languages[0];
  d.target_language = languages[1];
}

/// Scales of int8 rows are how weights are stored, not weights.
bool is_scale_of_int8(const SafetensorsFile& file, const StoredTensor& t) {
  if (!t.name.ends_with(kScaleSuffix)) return false;
  const StoredTensor* of = file.find(t.name.substr(0, t.name.size() - std::string_view(kScaleSuffix).size()));
  return of && of->type == Stored::i8;
}

void read_weights(ModelDescription& d) {
  const SafetensorsFile file(d.folder + "/" + kModelName);
  std::set<std::string> types;
  for (const StoredTensor& t : file.tensors()) {
    ++d.tensors;
    types.insert(name_of(t.type));
    if (!is_scale_of_int8(file, t)) d.parameters += t.size();
  }
  d.stored_as = join({types.begin(), types.end()}, ", ");
  d.weights = shown_name(weights_text(file.metadata()));
  for (const auto& [key, value] : file.metadata()) {
    d.metadata.emplace_back(shown_name(key), shown_name(value));
    if (tells_weights(key) && !d.weights.empty()) d.told_by_weights.push_back(key);
  }
  const auto rows = [&](const char* name) {
    const StoredTensor* t = file.find(name);
    return t && !t->dims.empty() ? t->dims[0] : 0;
  };
  const int64_t shared = rows("embedding.weight");
  if (d.encoder_layers > 0) d.source_vocabulary = shared ? shared : rows("encoder.embedding.weight");
  if (d.decoder_layers > 0) d.target_vocabulary = shared ? shared : rows("decoder.embedding.weight");
}

void read_shortlist(ModelDescription& d) {
  d.shortlist = lists(read_manifest(d.folder), kShortlistName);
  if (!d.shortlist) return;
  const Shortlist list = Shortlist::load(d.folder + "/" + kShortlistName, d.source_vocabulary, d.target_vocabulary);
  d.shortlist_translations = list.translations();
  d.shortlist_frequent = std::ssize(list.always());
}

/// The sizes of the files as they are, not as the manifest says.
void read_files(ModelDescription& d) {
  for (const ManifestEntry& e : read_manifest(d.folder)) {
    std::error_code error;
    const auto bytes = fs::file_size(d.folder + "/" + e.name, error);
    if (error) continue;
    d.files.push_back({e.name, static_cast<int64_t>(bytes)});
    d.bytes += d.files.back().bytes;
  }
}

void read_progress(ModelDescription& d) {
  for (const Checkpoint& c : checkpoints(d.folder)) d.checkpoints.push_back(c.step);
  const std::string path = d.folder + "/" + kTrainerName;
  if (!fs::exists(path)) return;
  const State state = read_state(path);
  for (const char* name : {"step", "updates", "update"})
    if (state.has(name) && d.step < 0) d.step = state.whole(name);
}

/// A folder that is none, said so that the right one is found.
void check_folder(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    fail(ErrorKind::model, "{} is not a folder\n  fix: name a folder that attune train wrote", folder);
}

/// Where the model is: in a run that has none yet, the last checkpoint.
std::string model_in(const std::string& folder) {
  std::error_code ignored;
  if (fs::exists(folder + "/" + kManifestName, ignored) || fs::exists(folder + "/.next-model", ignored)) return folder;
  const std::vector<Checkpoint> found = checkpoints(folder);
  return found.empty() ? folder : found.back().path;
}

void describe_run(ModelDescription& d, const std::string& folder) {
  const std::string metrics = folder + "/metrics.jsonl";
  if (!fs::exists(metrics)) return;
  d.is_run = true;
  d.scores = read_scores(metrics);
  RunDescription& r = d.run = read_run(metrics);
  if (!d.checkpoints.empty()) r.updates = std::max(r.updates, d.checkpoints.back());  // saved by a stop, between lines
  const std::string path = d.folder + "/" + kRecipeName;
  const Recipe recipe = read_recipe(read_recipe_text(path), path);
  for (const Difference& c : differences(to_values(defaults_of(recipe.task)), to_values(recipe)))
    if (!c.key.starts_with("data.") && c.key != "task") r.settings.push_back(c.key + " = " + c.now);
  const Period& stop = recipe.train.stop;
  r.stop = stop.text();
  const double done = stop.unit == Period::Unit::updates   ? static_cast<double>(r.updates)
                      : stop.unit == Period::Unit::epochs  ? r.epochs
                      : stop.unit == Period::Unit::minutes ? r.seconds / 60
                                                           : 0;
  if (!stop.never()) r.share_done = std::min(done / stop.count, 1.0);
  if (FolderLock::is_held(folder)) r.state = RunDescription::State::training;
}

}  // namespace

ModelDescription describe_model(const std::string& folder) {
  check_folder(folder);
  ModelDescription d;
  d.folder = model_in(folder);
  attempt(d, [&] {
    open_model(d.folder);
    d.verified = true;
  });
  if (std::error_code ignored; !fs::exists(d.folder + "/" + kManifestName, ignored))
    throw Error(ErrorKind::model, d.trouble);
  attempt(d, [&] { read_files(d); });
  attempt(d, [&] { describe_recipe(d); });
  attempt(d, [&] { read_weights(d); });
  attempt(d, [&] { read_shortlist(d); });
  attempt(d, [&] { read_progress(d); });
  attempt(d, [&] { describe_run(d, folder); });
  attempt(d, [&] { check_finite(SafetensorsFile(d.folder + "/" + kModelName)); });
  d.best = best_score(d.scores, d.metric);
  if (d.step < 0 && !d.checkpoints.empty()) d.step = d.checkpoints.back();
  return d;
}

}  // namespace attune
