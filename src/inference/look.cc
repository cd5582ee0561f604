#include "inference/look.h"

#include <algorithm>

#include "attune/new_recipe.h"
#include "attune/translator.h"
#include "base/error.h"
#include "data/corpus/answers.h"

namespace attune {

AttentionChoice by_guide(AttentionChoice choice, const GuideSettings& guide) {
  if (choice.at != AttentionSite::cross || choice.layer >= 0 || guide.weight == 0) return choice;
  choice.layer = static_cast<int>(guide.layer);
  if (choice.head < 0) choice.head = static_cast<int>(guide.head);
  return choice;
}

bool can_be_looked_at(const Model& model) {
  return (model.encoder() && model.encoder()->attention_layers() > 0) ||
         (model.decoder() && (model.decoder()->attention_layers() > 0 || model.decoder()->cross_layers() > 0));
}

LookedAt::LookedAt(const Model& model, const AttentionChoice& asked, const GuideSettings& guide)
    : model_(model), at_(asked.at), each_(asked.each), one_layer_(asked.layer >= 0), one_head_(asked.head >= 0) {
  const AttentionChoice choice = by_guide(asked, guide);
  head_ = std::max(choice.head, -1);
  const bool of_encoder = at_ == AttentionSite::encoder, cross = at_ == AttentionSite::cross;
  if (of_encoder ? !model.encoder() : !model.decoder())
    fail(ErrorKind::usage, "this model has no {}\n  fix: leave out --at, or give --at {}",
         of_encoder ? "encoder" : "decoder", of_encoder ? "decoder" : "encoder");
  layers_ = static_cast<int>(of_encoder ? model.encoder()->attention_layers()
                             : cross    ? model.decoder()->cross_layers()
                                        : model.decoder()->attention_layers());
  if (layers_ == 0)
    fail(ErrorKind::usage, "{} attends to nothing{}\n  fix: name a model that has such layers",
         is_bag(model.options()) ? "a bag of words" : "model.kind = " + model.options().kind.literal(),
         of_encoder ? ""
         : cross    ? " that it reads"
                    : " in what it says");
  layer_ = choice.layer >= 0 ? choice.layer
           : cross           ? static_cast<int>(model.decoder()->alignment_layer())
                             : layers_ - 1;
  if (layer_ >= layers_)
    fail(ErrorKind::usage, "there is no layer {}: the {} has layers 0 to {}", layer_,
         of_encoder ? "encoder" : "decoder", layers_ - 1);
  stack_ = of_encoder ? model.encoder()->stack() : "decoder";
}

/// [heads, rows, columns]; nothing where that layer has no weights.
std::vector<float> LookedAt::weights_of(int layer, const SentencePair& pair, Arena& arena) const {
  const char* kind = at_ == AttentionSite::cross ? "cross" : "self";
  return attention_weights(model_, pair, fmt::format("{}.{}.{}", stack_, layer, kind), arena);
}

/// While `look.weights` still are those of all heads of its layer.
void LookedAt::add_each(AttentionLook& look, const SentencePair& pair, Arena& arena) const {
  const int64_t size = std::ssize(look.rows) * std::ssize(look.columns);
  for (int layer = one_layer_ ? layer_ : 0; layer < (one_layer_ ? layer_ + 1 : layers_); ++layer) {
    const std::vector<float> all = layer == layer_ ? look.weights : weights_of(layer, pair, arena);
    if (all.empty()) look.silent.push_back(layer);
    const int64_t heads = std::ssize(all) / size;
    for (int64_t h = one_head_ ? head_ : 0; h < (one_head_ ? std::min<int64_t>(head_ + 1, heads) : heads); ++h)
      look.each.push_back({layer, static_cast<int>(h), of_head(all, heads, h)});
  }
}

AttentionLook LookedAt::operator()(const Tokenizers& tokenizers, const SentencePair& pair, Arena& arena) const {
  AttentionLook p;
  p.at = at_;
  p.layer = layer_;
  p.layers = layers_;
  p.head = head_;
  p.weights = weights_of(layer_, pair, arena);
  if (p.weights.empty())
    fail(ErrorKind::usage,
         "the attention of {} layer {} has no weights to look at\n  fix: choose a layer of another mechanism by "
         "--layer, or "
         "another part by --at, where there is one",
         stack_, layer_);
  std::vector<int32_t> read{text::kBegin};  // while it says the target
  if (!pair.target.empty()) read.insert(read.end(), pair.target.begin(), pair.target.end() - 1);
  const text::Tokenizer& target = *tokenizers.target;
  p.columns = at_ == AttentionSite::decoder ? pieces_of(target, read) : pieces_of(*tokenizers.source, pair.source);
  p.rows = at_ == AttentionSite::encoder || pair.source.empty() ? p.columns : pieces_of(target, pair.target);
  const int64_t each = std::ssize(p.rows) * std::ssize(p.columns);
  p.heads = static_cast<int>(std::ssize(p.weights) / each);
  if (head_ >= p.heads) fail(ErrorKind::usage, "there is no head {}: there are heads 0 to {}", head_, p.heads - 1);
  if (each_) add_each(p, pair, arena);
  p.weights = of_head(p.weights, p.heads, head_);
  return p;
}

std::vector<int32_t> read_alone(const OpenedModel& m, const std::string& text) {
  std::vector<int32_t> ids = encode_texts(*m.tokenizers.source, text);
  ids.resize(std::min(ids.size(), static_cast<size_t>(m.recipe.data.max_length)));
  ids.insert(ids.begin(), text::kBegin);
  ids.push_back(text::kEnd);
  return ids;
}

namespace {

/// A look of a model that says nothing beside what it read.
AttentionLook at_itself(AttentionLook look, const OpenedModel& m, const std::string& text, bool cropped) {
  look.task = task_names()[static_cast<size_t>(m.recipe.task)];
  look.source = look.text = text;
  look.cropped = cropped;
  return look;
}

/// Of a model that reads and does not write: what its text looked at in itself.
AttentionLook look_at_encoder(const std::string& model, const std::string& text, const AttentionChoice& given,
                              int threads) {
  if (given.at == AttentionSite::decoder || !given.target.empty())
    fail(ErrorKind::usage, "{} reads texts and writes none: it has no {}\n  fix: leave out {}", model,
         given.target.empty() ? "decoder" : "translation to explain",
         given.target.empty() ? "--at, or give --at encoder" : "--target");
  ThreadPool pool(threads);
  const OpenedModel m = open_model_files(model, &pool);
  if (m.tokenizers.rows) refuse_model(m.recipe, model);
  AttentionChoice choice = given;
  choice.at = AttentionSite::encoder;
  const LookedAt at(*m.model, choice);
  Arena arena;
  const bool cropped = std::ssize(encode_texts(*m.tokenizers.source, text)) > m.recipe.data.max_length;
  return at_itself(at(m.tokenizers, {read_alone(m, text), {}}, arena), m, text, cropped);
}

}  // namespace

AttentionLook look_at(const std::string& model, const std::string& text, const AttentionChoice& given, int threads) {
  if (encodes_alone(model)) return look_at_encoder(model, text, given, threads);
  if (!is_language_model(model)) return Translator(model, threads).attention(text, given);
  if (given.at == AttentionSite::encoder || !given.target.empty())
    fail(ErrorKind::usage, "{} is a language model: it has no {}\n  fix: leave out {}", model,
         given.target.empty() ? "encoder" : "translation to explain",
         given.target.empty() ? "--at, or give --at decoder" : "--target");
  ThreadPool pool(threads);
  const OpenedModel m = open_model_files(model, &pool);
  AttentionChoice choice = given;
  choice.at = AttentionSite::decoder;
  const LookedAt at(*m.model, choice);
  SentencePair pair{{}, m.tokenizers.target->encode(text)};
  if (pair.target.empty()) fail(ErrorKind::usage, "the text is empty\n  fix: give a text to read");
  const auto most = static_cast<size_t>(m.model->longest_target() - 1);
  const bool cropped = pair.target.size() > most;
  if (cropped) pair.target.resize(most);
  pair.target.push_back(text::kEnd);
  Arena arena;
  return at_itself(at(m.tokenizers, pair, arena), m, text, cropped);
}

}  // namespace attune
