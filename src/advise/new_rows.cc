// Recipes for pictures and graphs: what the files hold, and sizes that suit them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "advise/recipe_layout.h"
#include "attune/bench.h"
#include "base/error.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "data/corpus/row_corpus.h"
#include "data/files/row_files.h"
#include "model/cost.h"

namespace attune {

namespace {

constexpr double kLikelyShare = 0.4;     // of the peak, that small rows reach
constexpr double kShareOfGraphs = 0.06;  // of one example few parts can be worked on at once; Cora reaches 7 %

/// What some files hold.
struct RowsLook {
  int64_t examples = 0, counted = 0;  // counted: answers that count
  std::set<std::string> labels;
  RowShape shape;
};

/// Where rows are `known`, these must be such, too.
RowsLook look_at_rows(const RowFiles& files, DataFormat format, const RowShape* known = nullptr) {
  RowsLook look;
  const auto reader = open_rows(files, format);
  if (known) {
    reader->widen(known->width);
    check_row_shape(reader->shape(), *known, join(files.files, ", "));
  }
  look.shape = reader->shape();
  for (RowExample e; reader->next(e);) {
    ++look.examples;
    for (size_t i = 0; i < e.answers.size(); ++i) {
      if (!e.answers[i].empty()) look.labels.insert(e.answers[i]);
      look.counted += e.weights.empty() || e.weights[i] > 0;
    }
  }
  return look;
}

void size_pictures(const RowsLook& look, SizedRecipe& s) {
  Recipe& r = s.recipe;
  const int64_t side = *std::min_element(look.shape.grid.begin(), look.shape.grid.end());
  r.model.input = Choice{"convolution", {{"layers", side < 16 ? int64_t{1} : int64_t{2}}}};
  r.model.position = {"learned"};
  r.model.encoder_layers = 2;
  r.model.d_model = 64;
  r.model.d_ff = 128;
  r.model.dropout = 0.1;
  s.reasons["model.input"] = "neighbouring pixels become one row; or { kind = \"patches\", size = 4 }";
  s.reasons["model.position"] = "a learned vector for each line, and one for each column";
  s.reasons["model.dropout"] = "more for fewer pictures";
  TrainOptions& t = r.train;
  t.batch_tokens.tokens = 64 * look.shape.longest;
  s.reasons["train.batch_tokens"] = "pixels: 64 pictures";
  const double updates = std::clamp(10 * static_cast<double>(look.examples) / 64, 200.0, 50'000.0);
  t.stop = {std::ceil(updates / 100) * 100, Period::Unit::updates};
  t.schedule = Schedule::cosine;
  t.learning_rate = 2e-3;
  t.warmup = static_cast<int64_t>(t.stop.count / 20);
  t.clip = 1;
  t.validate = {std::ceil(t.stop.count / 10), Period::Unit::updates};
  t.average = 1;
  s.reasons["train.stop"] = "updates: about 10 times through the pictures; also e epochs, m minutes";
  s.reasons["train.validate"] = "a score and a checkpoint, 10 times in all";
}

void size_graph(SizedRecipe& s) {
  Recipe& r = s.recipe;
  r.model.input = Choice{"linear", {{"dropout", 0.6}}};
  r.model.encoder_layers = 2;
  r.model.d_model = 64;
  r.model.heads = 8;
  r.model.dropout = 0.3;
  r.model.attention_dropout = 0.6;
  r.model.residual = r.model.feed_forward = false;
  s.reasons["model.input"] = "features of a node, of which so many are dropped while training";
  s.reasons["model.attention"] = "along the edges";
  s.reasons["model.attention_dropout"] = "edges that are not followed, while training";
  s.reasons["model.residual"] = "attention along the edges alone, as published ...";
  s.reasons["model.feed_forward"] = "... true, true: whole layers of a Transformer";
  TrainOptions& t = r.train;
  t.stop = {200, Period::Unit::updates};
  t.schedule = Schedule::constant;
  t.learning_rate = 5e-3;
  t.warmup = 10;
  t.weight_decay = 0.1;
  t.ema = 0.9;
  t.validate = {5, Period::Unit::updates};
  t.average = 1;
  s.reasons["train.stop"] = "updates, each of the whole graph";
  s.reasons["train.weight_decay"] = "much: few nodes have labels";
  s.reasons["train.ema"] = "a moving average of the weights, which is steadier";
}

}  // namespace

SizedRecipe choose_row_sizes(Task task, const Room& room, NewRecipe& n) {
  const int threads = room.threads;
  SizedRecipe s;
  s.recipe = defaults_of(task);
  Recipe& r = s.recipe;
  const bool image = task == Task::image;
  const RowsLook look = look_at_rows({n.train, "train"}, r.data.format);
  image ? size_pictures(look, s) : size_graph(s);
  s.reasons["train.average"] = "1: the model is the best one, not a mean";
  s.reasons["train.learning_rate"] = "the peak; lower it if the loss jumps";
  choose_shares(s, threads);

  ModelSizes sizes{0, std::ssize(look.labels), look.shape.longest};
  sizes.source_width = look.shape.width;
  sizes.source_grid = look.shape.grid;
  const Model model(r.model, sizes);
  n.parameters = model.parameters().numbers();
  n.pairs = look.examples;
  n.held_out = n.valid.empty() && image;
  const int64_t in_batch = std::clamp<int64_t>(r.train.batch_tokens.tokens / look.shape.longest, 1, look.examples);
  const Segments one = Segments::single(look.shape.longest), answers = Segments::single(image ? 1 : look.shape.longest);
  n.seconds = r.train.stop.count * static_cast<double>(in_batch) * training_flops(model, {&one, answers}) /
              (1e9 * (image ? kLikelyShare : kShareOfGraphs) * peak_gflops(threads));
  if (room.seconds > 0 && n.seconds > room.seconds) {
    const double share = room.seconds / n.seconds;
    TrainOptions& t = r.train;
    for (double* count : {&t.stop.count, &t.validate.count}) *count = std::max(1.0, std::floor(share * *count));
    t.warmup = static_cast<int64_t>(share * static_cast<double>(t.warmup));
    s.reasons["train.stop"] = "updates: about as many as fit in the time";
    n.seconds = room.seconds;
  }

  auto& notes = n.notes;
  const auto beside = [&](const RowFiles& files) { return look_at_rows(files, r.data.format, &look.shape); };
  if (look.labels.size() == 1) notes.push_back("there is one label only: nothing to learn");
  constexpr size_t kShown = 10;
  std::vector<std::string> names(look.labels.begin(), look.labels.end());
  const bool more = names.size() > kShown;
  if (more) names.resize(kShown);
  const std::string labels =
      fmt::format("{} labels: {}{}", thousands(std::ssize(look.labels)), join(names, ", "), more ? ", ..." : "");
  if (image) {
    notes.push_back(fmt::format("{} pictures of {} x {} pixels to train on; {}", thousands(look.examples),
                                look.shape.grid[0], look.shape.grid[1], labels));
    n.valid_pairs = n.held_out ? std::min({std::max<int64_t>(1, look.examples / 50), int64_t{1000}, look.examples - 1})
                               : beside({n.valid, "valid"}).examples;
    notes.push_back(n.held_out ? fmt::format("no validation files: about {} pictures will be held out for it",
                                             thousands(n.valid_pairs))
                               : fmt::format("validation: {} pictures", thousands(n.valid_pairs)));
    if (!n.test.empty()) {
      n.test_pairs = beside({n.test, "test"}).examples;
      notes.push_back(fmt::format("test: {} pictures", thousands(n.test_pairs)));
    }
  } else {
    notes.push_back(fmt::format("{} nodes of {} features, {} of them to train on; {}", thousands(look.shape.longest),
                                thousands(look.shape.width), thousands(look.counted), labels));
    n.valid_pairs = beside({n.valid.empty() ? n.train : n.valid, "valid", true, n.valid.empty()}).counted;
    notes.push_back(fmt::format("validation: {} nodes", thousands(n.valid_pairs)));
    if (!n.test.empty()) {
      n.test_pairs = beside({n.test, "test"}).counted;
      notes.push_back(fmt::format("test: {} nodes", thousands(n.test_pairs)));
    }
  }
  notes.push_back(fmt::format("model: {} layers, d_model {}, {:.2f} M parameters", r.model.encoder_layers,
                              r.model.d_model, static_cast<double>(n.parameters) / 1e6));
  notes.push_back(training_note(r, n.seconds, threads));
  return s;
}

void write_rows(SizedRecipe& sized, NewRecipe& n) {
  const Recipe& r = sized.recipe;
  const bool image = r.task == Task::image;
  RecipeLayout w(sized, n);
  n.text = fmt::format(
      "# Labels of {}. Train it:  attune train {}\n"
      "# What is not said here has its default; `attune info recipe` tells every key there is.\n\n",
      image ? thousands(n.pairs) + " pictures" : "the nodes of a graph", shown_name(n.file));
  w.key("task", image ? "a label for each picture" : "a label for each node");
  w.section("data");
  w.key("train", image ? "pictures, labels; relative to this file" : "nodes, edges; relative to this file");
  if (!r.data.valid.empty())
    w.key("valid", "to see whether it learns, never trained on");
  else if (image)
    w.example("valid = [\"valid-images.gz\", \"valid-labels.gz\"]",
              "none given: 2 % of train, at most 1,000, are held out");
  if (!r.data.test.empty()) w.key("test", "for `attune test`");
  w.section("model");
  for (const char* key : {"input", "encoder_layers", "d_model", "heads", "dropout"}) w.key(key);
  if (image)
    for (const char* key : {"d_ff", "position"}) w.key(key);
  else
    for (const char* key : {"attention_dropout", "residual", "feed_forward"}) w.key(key);
  w.section("train");
  for (const char* key : {"batch_tokens", "shards", "slices"})
    if (image) w.key(key);
  for (const char* key : {"stop", "schedule", "learning_rate", "warmup"}) w.key(key);
  if (image)
    w.key("clip");
  else
    for (const char* key : {"weight_decay", "ema"}) w.key(key);
  for (const char* key : {"validate", "metric", "average"}) w.key(key);
}

}  // namespace attune
