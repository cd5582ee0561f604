// Comparisons: each variant a run of its own, whatever interrupts them, and pages that can be trusted.
#include "attune/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "checks.h"
#include "compare/files.h"
#include "compare/measure.h"
#include "compare/table.h"
#include "model/attention/mechanism.h"
#include "run/language_run.h"
#include "show/well_formed.h"

namespace attune::test {
namespace {

namespace fs = std::filesystem;
using attune::error_of;
using VariantState = ComparedVariant::State;
using Json = nlohmann::json;

struct CompareTest : testing::Test {
  SmallRun run;
  CompareOptions options(const Sets& over, const Sets& sets = {"train.stop=8u"}) const {
    return {.recipe = run.recipe(), .over = over, .out = run.folder / "out", .sets = sets, .threads = 1};
  }
  Comparison compare(const Sets& over, const Sets& sets = {"train.stop=8u"}) const {
    return Comparer(options(over, sets)).run();
  }
  std::string file(const std::string& name) const { return slurp(run.folder / ("out/" + name)); }
};

TEST_F(CompareTest, TrainsAndMeasuresEach) {
  put_letters(run.folder / "test", 15, 10, 3);
  const Comparison c = compare({"model.position=sinusoidal,learned"},
                               {"train.stop=8u", "train.validate=2u",
                                "data.test=[\"" + run.folder / "test.in" + "\", \"" + run.folder / "test.out" + "\"]"});
  ASSERT_EQ(c.variants.size(), 2u);
  EXPECT_FALSE(c.interrupted);
  EXPECT_EQ(c.metric, "bleu");
  for (const ComparedVariant& v : c.variants) {
    EXPECT_EQ(v.state, VariantState::finished) << v.reason;
    const VariantFigures& f = v.figures;
    EXPECT_EQ(f.updates, 8);
    EXPECT_GT(f.parameters, 1000);
    EXPECT_GT(*f.loss, 0);
    EXPECT_EQ(f.valid.at(1).first, "exact");
    EXPECT_EQ(f.test.size(), 2u);
    EXPECT_GT(f.train_tokens_per_s, 0);
    EXPECT_GT(f.decode_tokens_per_s, 0);
    EXPECT_EQ(f.decode_lines, 20);
    EXPECT_GT(f.memory, 10000);
    EXPECT_EQ(v.curve.size(), 4u);
    EXPECT_EQ(v.curve.back().update, 8);
    EXPECT_EQ(v.seed, 1u);
    EXPECT_EQ(f.pictures.size(), 2u);
    open_model(v.folder);
  }
  EXPECT_EQ(c.variants[0].name, "sinusoidal");
  EXPECT_GT(c.variants[1].figures.parameters, c.variants[0].figures.parameters);
  // Nothing but the choice differs: the first is what the trainer alone would have made.
  run.train("alone", {"train.stop=8u", "train.validate=2u"});
  EXPECT_TRUE(slurp(run.folder / "alone/model.safetensors") == file("sinusoidal/model.safetensors"));
}

/// A recipe that does not choose positions gets rope where it can be had; beside what can't take it, nobody has it.
TEST_F(CompareTest, VariantsHaveTheSamePositions) {
  std::string text = slurp(run.recipe());
  text.erase(text.find("position = "), std::string("position = \"sinusoidal\"\n").size());
  put(run.recipe(), text);
  for (const auto& [over, wanted] : {std::pair{"model.attention=softmax,linear", "sinusoidal"},
                                     {"model.attention=softmax,band", "rope"},
                                     {"model.kind=transformer,rnn", "rope"}}) {
    const Comparison c = Comparer({.recipe = run.recipe(),
                                   .over = {over},
                                   .out = run.folder / wanted,
                                   .sets = {"train.stop=1u"},
                                   .fresh = true,
                                   .threads = 1})
                             .run();
    for (const ComparedVariant& v : c.variants) {
      EXPECT_EQ(v.state, VariantState::finished) << over << v.reason;
      EXPECT_EQ(load_recipe(v.folder + "/recipe.toml").model.position.kind, wanted) << over;
    }
  }
}

/// Every mechanism there is reads a text, says one and, where it has weights, shows them.
TEST(CompareLanguage, MeasuresEveryMechanism) {
  const LanguageRun run;
  std::string all;
  size_t count = 0;
  for (const AttentionKind& kind : attention_kinds()) {
    if (!kind.causal) continue;  // no decoder can have it
    all += (all.empty() ? "" : ",") + std::string(kind.name);
    ++count;
  }
  const Comparison c = Comparer({.recipe = run.recipe(),
                                 .over = {"model.attention=" + all},
                                 .out = run.folder / "out",
                                 .sets = {"train.stop=2u", "train.validate=2u"},
                                 .threads = 1})
                           .run();
  ASSERT_EQ(c.variants.size(), count);
  for (const ComparedVariant& v : c.variants) {
    EXPECT_EQ(v.state, VariantState::finished) << v.name << ": " << v.reason;
    EXPECT_GT(*v.figures.loss, 0) << v.name;
    EXPECT_GT(v.figures.decode_tokens_per_s, 0) << v.name;
    if (v.name == "luna") continue;  // in a decoder, running means: no weights
    ASSERT_EQ(v.figures.pictures.size(), 1u) << v.name;
    const AttentionPicture& p = v.figures.pictures[0].picture;
    EXPECT_EQ(p.rows, p.columns);
    EXPECT_EQ(p.rows.size(), 32u) << "a window";
    for (size_t i = 0; i < 32; ++i)
      for (size_t j = i + 1; j < 32; ++j) EXPECT_EQ(p.weights[i * 32 + j], 0) << "the future";
  }
}

TEST_F(CompareTest, TheFilesSayWhatWasFound) {
  const Comparison c = compare({"model.heads=2,4"});
  const Json j = Json::parse(file("compare.json"));
  EXPECT_EQ(j["variants"].size(), 2u);
  EXPECT_EQ(j["variants"][1]["name"], "heads-4");
  EXPECT_EQ(j["variants"][1]["settings"]["model.heads"], "4");
  EXPECT_EQ(j["variants"][0]["valid_loss"], *c.variants[0].figures.loss);
  EXPECT_EQ(Json::parse(json_of(c.variants[0])), j["variants"][0]);
  const std::string markdown = file("compare.md"), page = file("compare.html");
  const CompareTable table = table_of(c);
  for (size_t i = 0; i < table.head.size(); ++i) {
    EXPECT_NE(markdown.find(table.head[i]), std::string::npos) << table.head[i];
    for (const auto& row : table.rows) {
      EXPECT_NE(markdown.find(row[i]), std::string::npos) << row[i];
      EXPECT_NE(page.find(row[i]), std::string::npos) << row[i];
    }
  }
  EXPECT_NE(page.find("attune compare "), std::string::npos);
}

TEST_F(CompareTest, ThePageIsWellFormedAndNeedsNothing) {
  // Names and a sentence that would break a page that trusted them.
  const std::string nasty = "<script>alert(1)</script> & \"b\" </svg>\n";
  put(run.folder / "valid.in", nasty + slurp(run.folder / "valid.in"));
  put(run.folder / "valid.out", nasty + slurp(run.folder / "valid.out"));
  put(run.folder / "train.in", nasty + slurp(run.folder / "train.in"));
  put(run.folder / "train.out", nasty + slurp(run.folder / "train.out"));
  compare({"model.dropout=0.1,0.2"}, {"train.stop=4u", "train.validate=2u"});
  const std::string page = file("compare.html");
  EXPECT_EQ(trouble_with_markup(page), "");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("url("), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  for (const char* what : {"<polyline", "class=\"bar\"", "class=\"cell\"", "prefers-color-scheme", "seed", "machine"})
    EXPECT_NE(page.find(what), std::string::npos) << what;
}

TEST_F(CompareTest, AnImpossibleVariantIsToldAndTheOthersGoOn) {
  Comparer comparer(options({"model.heads=2,3"}));
  const auto& v = comparer.plan().variants;
  EXPECT_EQ(v[0].state, VariantState::waiting);
  EXPECT_EQ(v[1].state, VariantState::refused);
  EXPECT_EQ(v[1].reason, "model.d_model = 16 is not a multiple of model.heads = 3");
  EXPECT_FALSE(fs::exists(run.folder / "out")) << "checked before anything is written";
  const Comparison c = comparer.run();
  EXPECT_EQ(c.variants[0].state, VariantState::finished);
  const CompareTable t = table_of(c);
  EXPECT_EQ(t.head.back(), "remarks");
  EXPECT_EQ(t.rows[0].back(), "");
  EXPECT_EQ(t.rows[1].back(), "impossible: model.d_model = 16 is not a multiple of model.heads = 3");
  EXPECT_NE(file("compare.html").find("is not a multiple of model.heads = 3"), std::string::npos);
  EXPECT_FALSE(fs::exists(c.variants[1].folder));
}

/// What can't be together is left out; what is not there at all is a slip, told before an hour of training.
TEST_F(CompareTest, ANameThatThereIsNotIsAnError) {
  EXPECT_EQ(error_of([&] { Comparer(options({"model.position=sinusoidal,sinusoidle"})); }, ErrorKind::recipe),
            "--set: model.position = \"sinusoidle\" is not known. Did you mean \"sinusoidal\"?");
  EXPECT_FALSE(fs::exists(run.folder / "out"));
}

TEST_F(CompareTest, WhenNoneCanBeTrainedNothingIsWritten) {
  const auto trouble = [&](const Sets& over, ErrorKind kind) { return error_of([&] { compare(over); }, kind); };
  EXPECT_EQ(trouble({"model.heads=3,5"}, ErrorKind::recipe),
            "none of the 2 variants can be trained: model.d_model = 16 is not a multiple of model.heads = 3");
  EXPECT_EQ(trouble({"model.haeds=2,4"}, ErrorKind::recipe),
            "none of the 2 variants can be trained: unknown key 'model.haeds'. Did you mean 'model.heads'?");
  EXPECT_NE(trouble({"data.train=[\"no\", \"such\"]"}, ErrorKind::data).find("data.train: cannot read "),
            std::string::npos);
  EXPECT_FALSE(fs::exists(run.folder / "out"));
}

TEST_F(CompareTest, TroubleOfOneIsNotThatOfAll) {
  const Comparison c = compare({"train.learning_rate=1e30,1e-2", "train.batch_tokens=1024,8"});
  EXPECT_EQ(c.variants[0].state, VariantState::failed);
  EXPECT_NE(c.variants[0].reason.find("diverged"), std::string::npos) << c.variants[0].reason;
  EXPECT_EQ(c.variants[1].state, VariantState::failed);
  EXPECT_NE(c.variants[1].reason.find("train.batch_tokens = 8 is less than"), std::string::npos);
  EXPECT_EQ(c.variants[2].state, VariantState::finished);
}

TEST_F(CompareTest, WhatIsFinishedIsNotDoneAgain) {
  const Comparison first = compare({"model.heads=2,4"});
  const std::string page = file("compare.html"), log = file("heads-2/metrics.jsonl");
  const auto written = fs::last_write_time(run.folder / "out/heads-2/model.safetensors");
  int phases = 0, over = 0;
  CompareEvents events;
  events.on_phase = [&](const char*) { ++phases; };
  events.on_trained = [&](const ComparedVariant&, const TrainingOutcome& o) { over += o.was_over; };
  const Comparison second = Comparer(options({"model.heads=2,4"})).run(events);
  EXPECT_EQ(over, 2);
  EXPECT_EQ(phases, 0) << "measured again";
  EXPECT_TRUE(file("compare.html") == page) << "the page changed";
  EXPECT_EQ(file("heads-2/metrics.jsonl"), log);
  EXPECT_EQ(fs::last_write_time(run.folder / "out/heads-2/model.safetensors"), written);
  EXPECT_EQ(json_of(second.variants[1]), json_of(first.variants[1]));
  // One value more leaves the others alone.
  EXPECT_EQ(compare({"model.heads=2,4,8"}).variants[2].state, VariantState::finished);
  EXPECT_EQ(fs::last_write_time(run.folder / "out/heads-2/model.safetensors"), written);
  // A measurement of another model does not count.
  write_file(run.folder / "out/heads-4/measured.json", slurp(run.folder / "out/heads-2/measured.json"));
  EXPECT_FALSE(read_figures(run.folder / "out/heads-4"));
  write_file(run.folder / "out/heads-2/measured.json", "{\"format\":1,");
  EXPECT_FALSE(read_figures(run.folder / "out/heads-2"));
}

TEST_F(CompareTest, AStopIsGoneOnFromWithTheSameBits) {
  const Sets over{"model.heads=2,4"}, sets{"train.stop=8u", "train.save=3u", "train.validate=3u"};
  {
    CompareOptions whole = options(over, sets);
    whole.out = run.folder / "whole";
    EXPECT_FALSE(Comparer(whole).run().interrupted);
  }
  // In the first, in the second, and between updates and figures of the second.
  for (const auto& [variant, update] : {std::pair{0, 2}, {1, 5}, {1, 0}}) {
    Comparer comparer(options(over, sets));
    CompareEvents events;
    int at = -1;
    events.on_start = [&, update = update, variant = variant](const ComparedVariant&, int64_t number, int64_t) {
      at = static_cast<int>(number) - 1;
      TrainingEvents t;
      t.on_update = [&, update, variant](const TrainingStatus& s) {
        if (at == variant && s.update == update) comparer.stop();
      };
      return t;
    };
    events.on_phase = [&, update = update, variant = variant](const char*) {
      if (at == variant && update == 0) comparer.stop();
    };
    const Comparison c = comparer.run(events);
    EXPECT_TRUE(c.interrupted);
    EXPECT_EQ(c.variants[static_cast<size_t>(variant)].state, VariantState::interrupted);
    EXPECT_EQ(Json::parse(file("compare.json"))["finished"], false);
    EXPECT_EQ(trouble_with_markup(file("compare.html")), "");
  }
  EXPECT_FALSE(compare(over, sets).interrupted);
  for (const char* name : {"/heads-2", "/heads-4"})
    expect_same_bits(run.bits(std::string("whole") + name), run.bits(std::string("out") + name));
}

TEST_F(CompareTest, AnotherRecipeInTheFolderIsRefused) {
  compare({"model.heads=2,4"});
  const std::string text = error_of(
      [&] {
        compare({"model.heads=2,4"}, {"train.stop=8u", "model.d_ff=32"});
      },
      ErrorKind::recipe);
  EXPECT_NE(text.find("out/heads-2 holds a run of another recipe: model.d_ff was 16, is 32\n  fix: "),
            std::string::npos)
      << text;
  CompareOptions fresh = options({"model.heads=2"}, {"train.stop=8u", "model.d_ff=32"});
  fresh.fresh = true;
  EXPECT_EQ(Comparer(fresh).run().variants[0].state, VariantState::finished);
}

TEST_F(CompareTest, HeldOutLinesAndNoneAtAll) {
  const Comparison held = compare({"train.seed=1,2"}, {"train.stop=4u", "data.valid=[]"});
  EXPECT_GT(held.variants[0].figures.decode_lines, 5);
  EXPECT_EQ(held.variants[1].seed, 2u);
  put(run.folder / "train.in", "a b c\n");
  put(run.folder / "train.out", "a b c\n");
  CompareOptions o = options({"model.heads=2"}, {"train.stop=4u", "data.valid=[]"});
  o.out = run.folder / "single";
  const Comparison single = Comparer(o).run();
  EXPECT_EQ(single.variants[0].state, VariantState::finished) << single.variants[0].reason;
  EXPECT_FALSE(single.variants[0].figures.loss);
  EXPECT_EQ(trouble_with_markup(slurp(run.folder / "single/compare.html")), "");
}

TEST(CompareWork, GrowsAsCounted) {
  ModelOptions o;
  o.d_model = 16;
  o.heads = 2;
  const Model model(o, {8, 8, 9});
  const auto work = count_work(model);
  ASSERT_EQ(work.size(), 9u);
  EXPECT_EQ(work.front().length, 64);
  EXPECT_EQ(work.back().length, 16384);
  // Softmax: 4 layers of n^2 and 4 of n (n + 1) / 2 pairs, 14 d operations each, and as many layers of n^2 across.
  const double n = 16384, pairs = 4 * n * n + 4 * n * (n + 1) / 2;
  EXPECT_NEAR(work.back().self_attention, 14 * 16 * pairs, 1e-6 * pairs);
  EXPECT_NEAR(work.back().attention, 14 * 16 * (pairs + 4 * n * n), 1e-6 * pairs);
  EXPECT_GT(work.back().update, work.back().attention);
}

TEST(CompareTable, TheBestStandsOut) {
  const TableColumn more{"", "", 1, {"1", "3", "", "3"}, {1, 3, std::nullopt, 3}};
  EXPECT_FALSE(more.is_best(0));
  EXPECT_TRUE(more.is_best(1));
  EXPECT_FALSE(more.is_best(2));
  EXPECT_TRUE(more.is_best(3));
  const TableColumn same{"", "", -1, {"2", "2"}, {2, 2}};
  EXPECT_FALSE(same.is_best(0)) << "nothing to tell where all are alike";
}

/// A comparison as it might be, of so many variants; every third was trained while others worked.
Comparison many_variants(int count) {
  Comparison c;
  c.recipe = "translate.toml";
  c.command = "attune compare";
  c.metric = "bleu";
  for (int i = 0; i < count; ++i) {
    ComparedVariant v;
    v.name = "variant-" + std::to_string(i);
    v.state = VariantState::finished;
    v.curve = {{1, 5.0 - 0.1 * i}, {2, 4.0 - 0.1 * i}};
    v.figures.loss = 4.0 - 0.1 * i;
    v.figures.train_tokens_per_s = 1000 + i;
    v.figures.ms_per_update = 10;
    v.figures.decode_tokens_per_s = 500;
    v.figures.work = {{64, 1e6, 2e6, 3e6}, {128, 4e6, 8e6, 9e6}};
    if (i % 3 == 0) v.figures.load = {.taken = 1.4, .cores = 2};
    c.variants.push_back(std::move(v));
  }
  return c;
}

TEST(CompareBusy, SpeedsOfABusyMachineAreMarked) {
  const Comparison c = many_variants(4);
  const CompareTable t = table_of(c);
  const auto column = [&](const char* title) {
    return static_cast<size_t>(std::find(t.head.begin(), t.head.end(), title) - t.head.begin());
  };
  for (const char* timed : {"train tok/s", "ms/update", "decode tok/s"}) {
    EXPECT_TRUE(t.rows[0][column(timed)].starts_with("~")) << timed;
    EXPECT_FALSE(t.rows[1][column(timed)].starts_with("~")) << timed;
  }
  EXPECT_EQ(t.rows[0][column("loss")], "4.0000");
  EXPECT_TRUE(t.note.starts_with("~ marks what was timed while this machine was busy")) << t.note;
  EXPECT_NE(t.note.find("1.4 of 2 cores"), std::string::npos);
  EXPECT_NE(comparison_markdown(c).find(t.note), std::string::npos);
  const std::string page = comparison_page(c);
  EXPECT_NE(page.find("~1,000"), std::string::npos);
  EXPECT_NE(page.find(">~1k<"), std::string::npos) << "bars too";
  EXPECT_EQ(Json::parse(json_of(c.variants[0]))["busy"], 0.7);
  EXPECT_EQ(Json::parse(json_of(c.variants[1]))["busy"], 0);
  Comparison quiet = c;
  for (ComparedVariant& v : quiet.variants) v.figures.load = {.cores = 2};
  EXPECT_EQ(table_of(quiet).note, "");
  EXPECT_EQ(comparison_page(quiet).find(">~"), std::string::npos);
}

TEST_F(CompareTest, TheLoadIsKeptWithTheFigures) {
  const Comparison c = compare({"model.heads=2"}, {"train.stop=2u"});
  VariantFigures f = c.variants[0].figures;
  f.load = {.taken = 0.9, .cores = 3};
  save_figures(c.variants[0].folder, f);
  EXPECT_NEAR(read_figures(c.variants[0].folder)->load.taken, 0.9, 1e-9);
  EXPECT_EQ(read_figures(c.variants[0].folder)->load.cores, 3);
}

TEST(ComparePage, ManyVariantsAreToldApartOnAnyScreen) {
  const Comparison c = many_variants(24);
  const std::string page = comparison_page(c);
  EXPECT_EQ(trouble_with_markup(page), "");
  std::set<std::string> keys;
  size_t count = 0;
  for (size_t at = page.find("<svg class=\"key"); at != std::string::npos; at = page.find("<svg class=\"key", at + 1)) {
    keys.insert(page.substr(at, page.find("</svg>", at) - at));
    ++count;
  }
  EXPECT_EQ(keys.size(), 24u) << "no two look alike";
  EXPECT_EQ(count, 48u) << "over the curves, and over the growth of work";
  EXPECT_NE(page.find("position:sticky"), std::string::npos);
  EXPECT_NE(page.find("max-width:640px"), std::string::npos);
  // Plots for phones are drawn for their width, so that letters stay as large.
  EXPECT_NE(page.find("<div class=\"narrow\">\n<svg class=\"plot\""), std::string::npos);
  EXPECT_NE(page.find("width=\"372\""), std::string::npos);
}

TEST(ComparePictures, LargeOnesArePooledByTheirLargest) {
  AttentionPicture p;
  for (int i = 0; i < 5; ++i) p.rows.push_back(std::to_string(i));
  p.columns = {"a", "b", "c"};
  p.weights.assign(15, 0.1f);
  p.weights[4 * 3 + 2] = 0.9f;
  const AttentionPicture q = pooled(p, 2);
  EXPECT_EQ(q.rows, (std::vector<std::string>{"0 …", "2 …"}));
  EXPECT_EQ(q.columns, (std::vector<std::string>{"a …", "b …"}));
  EXPECT_EQ(q.weights, (std::vector<float>{0.1f, 0.1f, 0.1f, 0.9f}));
  EXPECT_EQ(pooled(p, 5).weights, p.weights);
}

}  // namespace
}  // namespace attune::test
