#include "run/start_model.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/manifest.h"
#include "checkpoint/model_folder.h"
#include "model/parts.h"

namespace attune {

namespace {

std::string weights_hash(const Manifest& manifest) {
  for (const ManifestEntry& e : manifest)
    if (e.name == kModelName) return e.hash;
  return "";
}

/// Where a parameter's rows are words: which side's. None: they are not.
std::optional<bool> of_source(const std::string& name) {
  if (name == "encoder.embedding.weight") return true;
  if (name == "embedding.weight" || name == "decoder.embedding.weight" || name == "output.weight") return false;
  return std::nullopt;
}

/// The id that each piece of `now` had in `before`; -1: none. Marks and bytes spell no text: they are matched as such.
std::vector<int32_t> ids_before(const text::Vocabulary& now, const text::Vocabulary& before) {
  std::vector<int32_t> ids(static_cast<size_t>(now.size()), -1);
  for (int32_t i = 0; i < now.size(); ++i) {
    int32_t& id = ids[static_cast<size_t>(i)];
    if (i < text::kMarks || (now.is_byte(i) && before.has_bytes())) id = i;
    if (i < now.first() || !before.contains(now.piece(i))) continue;
    if (const int32_t found = before.id(now.piece(i)); found >= before.first()) id = found;
  }
  return ids;
}

std::string shape_text(const StoredTensor& t, const Shape& shape) {
  return fmt::format("is {} here and {} there", shape.text(), t.shape_text());
}

/// Takes tensors of a file one by one, writing down what does not fit.
class Taker {
 public:
  Taker(const std::string& path, const Tokenizers& before, const Tokenizers& now)
      : file_(path), before_(before), now_(now) {}

  void take(const NamedParameter& p, float* to) {
    const StoredTensor* t = file_.find(p.name);
    if (!t) {
      missing.push_back(p.name + " is not there");
      return;
    }
    if (in_part(p.name, "head") && other_labels()) {
      take_labels(p, *t, to);
      return;
    }
    const int64_t rows = p.shape.rank() == 2 ? p.shape[0] : 0;
    const std::optional<bool> source = of_source(p.name);
    const bool same =
        std::ssize(t->dims) == p.shape.rank() && t->size() == p.shape.size() && (rows == 0 || t->dims[0] == rows);
    const bool words = source && rows > 0 && t->dims.size() == 2 && t->dims[1] == p.shape[1];
    if (t->type != Stored::f32 || (!same && !words)) {
      wrong.push_back(
          p.name + " " +
          (t->type != Stored::f32 ? "is stored as " + std::string(name_of(t->type)) : shape_text(*t, p.shape)));
      return;
    }
    const bool of_sources = source.value_or(false);
    const auto before = of_sources ? before_.source : before_.target, after = of_sources ? now_.source : now_.target;
    if (same && (!words || before->hash() == after->hash()))
      file_.read(*t, to);
    else
      take_rows(p, *t, to, {&before->vocabulary(), &after->vocabulary()});
    ++taken;
  }
  bool has(const std::string& part) const {
    return std::any_of(file_.tensors().begin(), file_.tensors().end(),
                       [&](const StoredTensor& t) { return in_part(t.name, part); });
  }
  /// The first type that is not f32.
  std::string narrow_type() const {
    for (const StoredTensor& t : file_.tensors())
      if (t.type != Stored::f32) return name_of(t.type);
    return "";
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const StoredTensor& t : file_.tensors()) all.push_back(t.name);
    return all;
  }

  int64_t taken = 0;
  std::vector<std::string> missing, wrong;
  std::vector<std::string> matched;  // of which vocabulary how much

 private:
  bool other_labels() const { return before_.labels && now_.labels && before_.labels->hash() != now_.labels->hash(); }
  /// What is said of labels that were there before.
  void take_labels(const NamedParameter& p, const StoredTensor& t, float* to) {
    const text::Labels &before = *before_.labels, &now = *now_.labels;
    const int64_t width = p.shape.size() / std::max<int64_t>(1, p.shape[0]);
    if (t.type != Stored::f32 || p.shape[0] != now.size() || t.dims[0] != before.size() ||
        t.size() != before.size() * width) {
      matched.push_back(p.name + ": other labels, it keeps its first values");
      return;
    }
    std::vector<float> rows(static_cast<size_t>(t.size()));
    file_.read(t, rows.data());
    int64_t found = 0;
    for (int32_t i = 0; i < now.size(); ++i) {
      const int32_t was = before.number(now.name(i));
      if (was < 0) continue;
      ++found;
      std::copy_n(rows.data() + was * width, width, to + i * width);
    }
    matched.push_back(fmt::format("{}: {} of {} labels were there before, the others keep first values", p.name,
                                  thousands(found), thousands(now.size())));
    ++taken;
  }
  struct Words {
    const text::Vocabulary *before, *now;
  };
  void take_rows(const NamedParameter& p, const StoredTensor& t, float* to, const Words& words) {
    if (t.dims[0] != words.before->size()) {
      wrong.push_back(
          fmt::format("{} has {} rows, and its vocabulary {} pieces", p.name, t.dims[0], words.before->size()));
      return;
    }
    std::vector<float> rows(static_cast<size_t>(t.size()));
    file_.read(t, rows.data());
    const std::vector<int32_t> ids = ids_before(*words.now, *words.before);
    const auto width = static_cast<size_t>(t.dims[1]);
    int64_t found = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0) continue;
      ++found;
      std::copy_n(rows.data() + static_cast<size_t>(ids[i]) * width, width, to + i * width);
    }
    matched.push_back(fmt::format("{}: {} of {} pieces matched by their text, the others keep first values", p.name,
                                  thousands(found), thousands(words.now->size())));
  }

  SafetensorsFile file_;
  const Tokenizers &before_, &now_;
};

/// The first few of a list, and how many more.
std::string some_of(const std::vector<std::string>& all) {
  constexpr size_t kSome = 3;
  const std::vector<std::string> first(all.begin(),
                                       all.begin() + static_cast<std::ptrdiff_t>(std::min(kSome, all.size())));
  return join(first, "; ") + (all.size() > kSome ? fmt::format("; and {} more", all.size() - kSome) : "");
}

}  // namespace

std::string StartModel::hash_of(const std::string& dir) try {
  return weights_hash(read_manifest(dir));
} catch (const Error&) { return ""; }

StartModel::StartModel(const Recipe& recipe) : dir_(recipe.train.start), recipe_(recipe) {
  try {
    check_finite(SafetensorsFile(open_model(dir_) + "/" + kModelName));
  } catch (const Error& e) { throw Error(e.kind(), "train.start: " + std::string(e.what())); }
  hash_ = weights_hash(read_manifest(dir_));
  if (hash_.empty())
    fail(ErrorKind::model, "train.start: {} has no {}\n  fix: name a folder that attune train wrote", dir_, kModelName);
}

Tokenizers StartModel::tokenizers() const {
  Tokenizers t = Tokenizers::load(dir_ + "/" + kTokenizerName);
  if ((t.rows != nullptr) != reads_rows(recipe_.task))
    fail(ErrorKind::recipe, "train.start: {} reads {}, and this task {}\n  fix: start from a model of the same task",
         dir_, t.rows ? "no texts" : "texts", t.rows ? "does" : "reads none");
  if (t.rows) return t;
  const bool both = recipe_.model.shape == ModelShape::encoder_decoder;
  if (!t.joint() && both && recipe_.model.tie == Tie::all)
    fail(ErrorKind::recipe,
         "model.tie = \"all\" needs one vocabulary for both sides, and {} has two\n"
         "  fix: set model.tie = \"output\", or give the recipe a [tokenizer] of its own",
         dir_);
  if (!both) t.source = t.target;
  if (recipe_.data.lowercase && !(t.source->vocabulary().lowercase() && t.target->vocabulary().lowercase()))
    fail(ErrorKind::recipe,
         "data.lowercase = true, but the tokenizer of {} keeps capitals\n  fix: leave data.lowercase out, or give the "
         "recipe a [tokenizer] of its own",
         dir_);
  return t;
}

void StartModel::give(Model& model, const Tokenizers& now, ThreadPool* pool) {
  const std::vector<std::string>& parts = recipe_.train.start_parts;
  Parameters& parameters = model.parameters();
  check_parts(parameters, parts, "train.start_parts");
  const Tokenizers before = Tokenizers::load(dir_ + "/" + kTokenizerName);
  Taker taker(dir_ + "/" + kModelName, before, now);
  if (const std::string type = taker.narrow_type(); !type.empty())
    fail(ErrorKind::model,
         "train.start: {} holds weights as {}, which are for use and can't be trained\n  fix: start from the model "
         "that it was made of by attune quantize",
         dir_, type);
  for (const std::string& part : parts)
    if (!taker.has(part))
      fail(ErrorKind::recipe, "train.start_parts: {} has no part \"{}\"\n  fix: use some of {}", dir_, part,
           parts_there_are(taker.names()));

  for (const NamedParameter& p : parameters.named())
    if (parts.empty() || in_any_part(p.name, parts)) taker.take(p, parameters.data() + p.offset);

  std::vector<std::string> troubles = taker.wrong;
  if (parts.empty()) {
    troubles.insert(troubles.end(), taker.missing.begin(), taker.missing.end());
    for (const std::string& name : taker.names())
      if (std::none_of(parameters.named().begin(), parameters.named().end(),
                       [&](const NamedParameter& p) { return p.name == name; }))
        troubles.push_back(name + " of it has no place here");
  }
  if (!troubles.empty())
    fail(ErrorKind::recipe,
         "train.start: the model in {} is not the recipe's: {}\n  fix: make [model] and data.max_length those of "
         "{}/{}, or say what to take: train.start_parts = [\"{}\"]",
         dir_, some_of(troubles), dir_, kRecipeName, taker.has("encoder") ? "encoder" : "decoder");
  parameters.repack(pool);

  notes_ = {fmt::format("started from {}: {} of {} parameters taken, {} frozen", dir_, taker.taken,
                        parameters.named().size(), parameters.frozen())};
  notes_.insert(notes_.end(), taker.matched.begin(), taker.matched.end());
}

}  // namespace attune
