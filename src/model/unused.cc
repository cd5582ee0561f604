#include "model/unused.h"

#include <algorithm>

#include "base/error.h"
#include "model/family.h"

namespace attune {

namespace {

/// A key of [model], and what it is called in the lists of ModelKind::ignores.
struct OwnKey {
  const char* key;
  const char* name;
};
// How many layers a side has may be said where there is no such side: it is like saying none.
constexpr OwnKey kOfEncoder[] = {{"encoder", ""},
                                 {"source_input", "input"},
                                 {"encoder_heads", "heads"},
                                 {"encoder_position", "position"},
                                 {"encoder_attention", "attention"}};
constexpr OwnKey kOfDecoder[] = {{"decoder", ""},
                                 {"target_input", "input"},
                                 {"decoder_heads", "heads"},
                                 {"decoder_position", "position"},
                                 {"decoder_attention", "attention"}};
constexpr OwnKey kBetween[] = {{"cross_heads", "heads"}, {"cross_attention", "cross_attention"}};
constexpr const char* kOfAnySide[] = {
    "d_model",       "d_ff", "heads",    "heads_kv",     "input",      "mixer",    "dropout",   "attention_dropout",
    "layer_dropout", "norm", "residual", "feed_forward", "activation", "position", "attention", "activation_dropout"};

bool ignores(const Choice& family, std::string_view name) {
  for (const ModelKind& k : model_kinds())
    if (family.kind == k.name) return std::find(k.ignores.begin(), k.ignores.end(), name) != k.ignores.end();
  return false;  // there is no such family: said where it is made
}

class Unused {
 public:
  explicit Unused(const Recipe& r) : given_(r), usual_(defaults_of(r.task)), places_(r.places.said) {
    for (const char* key : {"task", "model.kind", "model.shape", "model.encoder", "model.decoder"})
      rewritten_ |= places_.contains(key) && places_.at(key) == kSet;
  }

  /// Refuses the key when it says something.
  void operator()(const std::string& key, const std::string& why) const {
    const FieldValue value = find_field(fields_, key).get();
    if (value == find_field(defaults_, key).get()) return;
    if (key.ends_with("position") && text_of(value) == "none") return;
    const auto place = places_.find(key);
    if (rewritten_ && place != places_.end() && place->second != kSet) return;
    fail(ErrorKind::recipe, "{} = {}: {}\n  fix: leave {} out", key, literal_of(value), why, key);
  }

 private:
  Recipe given_, usual_;
  const std::map<std::string, std::string>& places_;
  bool rewritten_ = false;  // by the command line
  Fields fields_ = fields_of(given_), defaults_ = fields_of(usual_);
};

std::string no_use(const char* key, const Choice& family) {
  return fmt::format("{} = \"{}\" has no use for it", key, family.kind);
}

void refuse_of_model(const Recipe& r, const Unused& unused) {
  const ModelOptions& m = r.model;
  const bool encoder = has_encoder(m.shape), decoder = has_decoder(m.shape);
  const Choice &reads = encoder_kind(m), &writes = decoder_kind(m);
  const std::string none_reads = no_use(encoder_key(m), reads), none_writes = no_use(decoder_key(m), writes);
  const std::string model = "model.";
  for (const auto& [key, name] : kOfEncoder)
    if (!encoder || ignores(reads, name)) unused(model + key, encoder ? none_reads : "this model has no encoder");
  for (const auto& [key, name] : kOfDecoder)
    if (!decoder || ignores(writes, name)) unused(model + key, decoder ? none_writes : "this model has no decoder");
  for (const auto& [key, name] : kBetween)
    if (!encoder || !decoder || ignores(writes, name))
      unused(model + key, encoder && decoder ? none_writes : "no decoder of this model reads an encoder");
  const auto any_side_uses = [&](const char* name) {
    return (encoder && !ignores(reads, name)) || (decoder && !ignores(writes, name));
  };
  const std::string& none = encoder ? none_reads : none_writes;
  for (const char* key : kOfAnySide)
    if (!any_side_uses(key)) unused(model + key, none);
  if (!any_side_uses("recompute")) unused("train.recompute", none);
  if (decoder && ignores(writes, "guide")) unused("train.guide.weight", none_writes);
  if (!any_side_uses("vectors")) unused("train.vectors", none);
  const bool pools = r.task == Task::classify || r.task == Task::image;
  const bool its_own = is_bag(m) && m.pool.kind == "bag";
  if (!pools || (!any_side_uses("pool") && !its_own))
    unused("model.pool", pools ? none : "this task does not make one vector of a text");
  if (!encoder || reads.kind != "bag") unused("model.ngrams", "only model.kind = \"bag\" counts words in a row");
}

void refuse_of_task(const Recipe& r, const Unused& unused) {
  const bool answers = gives_answers(r.task), writes = !answers && has_decoder(r.model.shape);
  if (!writes)
    for (const char* key : {"model.tie", "train.target_noise", "train.sampling.share"})
      unused(key, "this model writes nothing");
  if (r.task != Task::language || writes) unused("train.mask", "no words are missing here");
  if (r.task != Task::translate)
    for (const char* key : {"data.languages", "data.expansion", "tokenizer.joint", "train.metric_options.tokenize",
                            "train.metric_options.lowercase"})
      unused(key, "it is for translations");
  if (!answers)
    for (const char* key : {"train.label_weights", "data.answers"}) unused(key, "this task gives no labels");
  const std::string& head = r.model.head.kind;
  if (head == "number" || head == "labels")
    unused("train.label_weights", "it weighs texts that have one label, and these have a number or a set");
}

}  // namespace

void refuse_unused(const Recipe& recipe) {
  const Unused unused(recipe);
  refuse_of_model(recipe, unused);
  refuse_of_task(recipe, unused);
}

}  // namespace attune
