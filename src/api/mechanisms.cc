#include "attune/mechanisms.h"

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/text.h"
#include "inference/pattern_picture.h"
#include "model/attention/mechanism.h"
#include "model/family.h"
#include "model/heads/head.h"
#include "model/input/input.h"
#include "model/pooling/pooling.h"
#include "model/position/scheme.h"
#include "model/score/score.h"
#include "model/transformer/mixers.h"
#include "show/pattern.h"
#include "train/optimizer/optimizer.h"

namespace attune {

namespace {

std::vector<RecipeKey> keys_of(const Fields& fields) {
  std::vector<RecipeKey> keys;
  for (const Field& f : fields) keys.push_back({f.name, f.type(), literal_of(f.get()), f.rule.text(), f.sentence});
  return keys;
}

std::string options_table(const std::vector<RecipeKey>& options) {
  if (options.empty()) return "";
  std::string out = "\n| option | default | type or range | meaning |\n|---|---|---|---|\n";
  for (const RecipeKey& k : options)
    out += "| `" + k.key + "` | `" + k.standard + "` | " + markdown_cell(k.range.empty() ? k.type : k.range) + " | " +
           markdown_cell(k.sentence) + " |\n";
  return out;
}

std::string described(const Described& d) {
  std::string out = "\n### " + d.name + "\n\n" + d.sentence + "\n\n    " + d.formula + "\n\n";
  if (!d.details.empty()) out += d.details + "\n\n";
  if (!d.cost.empty()) out += "Cost: " + d.cost + ". ";
  return out + "From: " + d.cite + ".\n";
}

constexpr const char* kMechanismsBegin = R"(# Attention mechanisms and positions

<!-- Written by `attune info mechanisms --markdown`; a test compares. -->

A recipe names a mechanism with `attention = "softmax"`, or with options `attention = { kind = "band", width = 64 }`; a
list has one entry per layer from the bottom, beginning again when it ends. `encoder_attention`, `decoder_attention` and
`cross_attention` choose for one place alone. Positions are chosen in the same way with `position`, `encoder_position`
and `decoder_position`. What can't stand together is refused in one sentence before anything runs.

In the formulas q_i, k_j and v_j are rows of one head, n is the length of a sequence and d the width of all heads.

What all share, so that each can be built anew from this page: a source that is translated ends with `</s>` and has no `<s>`; a decoder reads `<s>` and
the target, and is to say the target and `</s>`; texts that get labels, and those with missing words, have both marks. Embeddings are multiplied by
sqrt(d_model), then positions are added. Post-norm: x = LayerNorm(x + dropout(sublayer(x))); pre-norm: x = x + dropout(sublayer(LayerNorm(x))), and one
more norm at the end of each stack; epsilon is 1e-5. Every projection has a bias unless it is said. Feed-forward: W_2 activation(W_1 x + b_1) + b_2, gelu
the exact one. In a decoder each layer attends to its past, then to the encoder's last rows, then feeds forward.

Which sparse pattern: where data has a period (the rows of a picture, the bars of music), a band with every l-th position (sparse-strided,
axial); text, which has none, wants blocks or a band with a few positions that all see (sparse-fixed, bigbird, longformer). `attune info
mechanisms NAME --picture` draws who sees whom, with the share of pairs that is left.
)";

constexpr const char* kPositions = R"(
## Positions

Some schemes add to the embeddings; the others change something in every attention layer, which its mechanism must allow.

| name | changes in each layer | |
|---|---|---|
)";

std::string name_of(Relative r) {
  return r == Relative::scores ? "scores" : r == Relative::turned ? "queries and keys" : "";
}

const char* yes(bool x) { return x ? "yes" : "no"; }

}  // namespace

std::vector<Described> models() {
  std::vector<Described> all;
  for (size_t i = 0; i < model_kinds().size(); ++i) {
    const ModelKind& k = model_kinds()[i];
    const std::string cost = std::string(k.cost) + " a layer; steps between two positions: " + k.path;
    all.push_back({k.name, k.sentence, "", cost, k.cite, keys_of(model_kind_options()[i])});
  }
  return all;
}

std::vector<Described> inputs() {
  std::vector<Described> all;
  for (size_t i = 0; i < input_kinds().size(); ++i) {
    const InputKind& k = input_kinds()[i];
    all.push_back({k.name, k.sentence, k.formula, "", k.cite, keys_of(input_options()[i])});
  }
  return all;
}

std::vector<Described> mixers() {
  std::vector<Described> all;
  for (size_t i = 0; i < mixer_kinds().size(); ++i) {
    const MixerKind& k = mixer_kinds()[i];
    all.push_back({k.name, k.sentence, "", "", k.cite, keys_of(mixer_options()[i])});
  }
  return all;
}

std::vector<Mechanism> mechanisms() {
  std::vector<Mechanism> all;
  for (size_t i = 0; i < attention_kinds().size(); ++i) {
    const AttentionKind& k = attention_kinds()[i];
    Mechanism m{{k.name, k.sentence, k.formula, k.cost, k.cite, keys_of(attention_options()[i]), k.details},
                k.causal,
                k.cross,
                k.step,
                name_of(k.relative),
                k.survey.sequences,
                k.survey.levels,
                k.survey.positions,
                k.survey.representations};
    all.push_back(std::move(m));
  }
  return all;
}

PatternPicture picture_pattern(const std::string& mechanism, bool causal, int64_t length) {
  constexpr int64_t kMost = 4096;
  if (length < 1 || length > kMost) fail(ErrorKind::usage, "a picture of {} positions\n  fix: 1 to {}", length, kMost);
  Choice choice;
  std::vector<std::string> names;
  for (const AttentionKind& k : attention_kinds()) names.push_back(k.name);
  const bool read = Choice::parse(mechanism, choice);
  const auto kind = std::find(names.begin(), names.end(), choice.kind);
  if (!read || kind == names.end()) {
    const std::string near = closest_name(read ? choice.kind : mechanism, names);
    fail(ErrorKind::usage,
         "there is no mechanism '{}'{}\n  fix: one of `attune info mechanisms`, or with options: "
         "'band(width=9)'",
         mechanism, near.empty() ? "" : ". Did you mean '" + near + "'?");
  }
  const AttentionKind& k = attention_kinds()[static_cast<size_t>(kind - names.begin())];
  if (choice.options.empty() && *k.drawn != 0) Choice::parse(fmt::format("{}({})", k.name, k.drawn), choice);
  return picture_of(choice, causal, length);
}

std::string draw_pattern(const PatternPicture& picture) { return show::draw_pattern_text(picture); }
void write_pattern(const PatternPicture& picture, const std::string& png_file) {
  write_drawing(png_file, show::pattern_png(picture));
}

std::vector<ScoreOrNormalizer> scores() {
  std::vector<ScoreOrNormalizer> all;
  for (const bool normalizer : {false, true})
    for (const ScoreDescription& k : normalizer ? normalizer_kinds() : score_kinds())
      all.push_back({{k.name, k.sentence, k.formula, "", k.cite, {}}, normalizer});
  return all;
}

std::vector<Position> positions() {
  std::vector<Position> all;
  for (size_t i = 0; i < position_kinds().size(); ++i) {
    const PositionKind& k = position_kinds()[i];
    all.push_back(
        {{k.name, k.sentence, k.formula, "", k.cite, keys_of(position_options()[i]), k.details}, name_of(k.relative)});
  }
  return all;
}

std::vector<Described> optimizers() {
  std::vector<Described> all;
  for (size_t i = 0; i < optimizer_kinds().size(); ++i) {
    const OptimizerKind& k = optimizer_kinds()[i];
    all.push_back({k.name, k.sentence, k.formula, "", k.cite, keys_of(optimizer_options()[i])});
  }
  return all;
}

std::vector<Described> heads() {
  std::vector<Described> all;
  for (size_t i = 0; i < head_kinds().size(); ++i) {
    const HeadKind& k = head_kinds()[i];
    all.push_back({k.name, k.sentence, "", "", k.cite, keys_of(head_options()[i])});
  }
  return all;
}

std::vector<Described> pools() {
  std::vector<Described> all;
  for (size_t i = 0; i < pooling_kinds().size(); ++i) {
    const PoolingKind& k = pooling_kinds()[i];
    all.push_back({k.name, k.sentence, k.formula, "", k.cite, keys_of(pooling_options()[i])});
  }
  return all;
}

std::string mechanisms_reference() {
  std::string out = kMechanismsBegin;
  out +=
      "\n## Mechanisms\n\n| name | in a decoder | from decoder to encoder | relative positions | cost "
      "|\n|---|---|---|---|---|\n";
  for (const Mechanism& m : mechanisms())
    out += "| [" + m.name + "](#" + m.name + ") | " + yes(m.causal) + " | " + yes(m.cross) + " | " +
           (m.relative.empty() ? "no" : m.relative) + " | " + markdown_cell(m.cost) + " |\n";
  for (const Mechanism& m : mechanisms())
    out += described(m) + "\nSequences: " + m.sequences + "; levels: " + m.levels + "; positions: " + m.positions +
           "; representations: " + m.representations + ".\n" + options_table(m.options);
  for (const bool normalizer : {false, true}) {
    out += normalizer ? "\n## Normalisers\n\nHow a row of scores becomes weights: `attention = { kind = \"softmax\", "
                        "normalizer = \"sparsemax\" }`.\n"
                      : "\n## Scores\n\nHow well a key fits a query: `attention = { kind = \"softmax\", score = "
                        "\"additive\" }`.\n";
    for (const ScoreOrNormalizer& s : scores())
      if (s.normalizer == normalizer) out += described(s);
  }
  out += kPositions;
  const auto anchor = [](const std::string& name) {  // of the second heading of that name
    for (const Mechanism& m : mechanisms())
      if (m.name == name) return name + "-1";
    return name;
  };
  for (const Position& p : positions())
    out += "| [" + p.name + "](#" + anchor(p.name) + ") | " + (p.relative.empty() ? "nothing" : p.relative) + " | " +
           markdown_cell(p.sentence) + " |\n";
  for (const Position& p : positions()) out += described(p) + options_table(p.options);
  return out;
}

}  // namespace attune
