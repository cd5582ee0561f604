#include "attune/compare.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <new>
#include <set>

#include "attune/machine.h"
#include "base/error.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "compare/files.h"
#include "compare/measure.h"
#include "compare/variants.h"
#include "model/usual_position.h"
#include "run/run_folder.h"

namespace attune {

namespace {

namespace fs = std::filesystem;
using VariantState = ComparedVariant::State;

constexpr const char* kOutOfMemory = "there is not enough memory for it";

std::string default_comparison(const std::string& recipe) {
  const fs::path path(recipe);
  return (path.parent_path() / (path.stem().string() + ".compare")).string();
}

/// A word as a shell wants it.
std::string quoted_word(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("/._-+:,@%=").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string command_of(const CompareOptions& o) {
  std::string text = "attune compare " + quoted_word(o.recipe);
  for (const std::string& over : o.over) text += " --over " + quoted_word(over);
  for (const std::string& set : o.sets) text += " --set " + quoted_word(set);
  if (!o.out.empty()) text += " --out " + quoted_word(o.out);
  return text;
}

std::string machine_text() {
  const Machine m = describe_machine();
  return fmt::format("{}, {} core{}, {}, {} of memory", m.cpu, m.cores_allowed, m.cores_allowed == 1 ? "" : "s", m.isa,
                     human_bytes(m.memory));
}

/// What an error says in one line of a table: without the remedy, and without the file that all variants share.
std::string reason_of(const Error& e, const std::string& recipe) {
  std::string text = e.what();
  text.resize(std::min(text.find('\n'), text.size()));
  for (const std::string& place : {recipe + ":", std::string(kSet) + ":"})
    if (text.starts_with(place)) text.erase(0, text.find(' ', place.size() - 1) + 1);
  return text;
}

/// Refuses a folder with a run of another recipe: what it holds would be taken for this variant.
void check_variant_folder(const std::string& folder, const Recipe& recipe) {
  const std::vector<Checkpoint> found = checkpoints(folder);
  if (found.empty()) return;
  Recipe before;
  try {
    before = load_recipe(found.back().path + "/" + kRecipeName);
  } catch (const Error&) { return; }  // damaged: the run itself tells what is to be done
  refuse_changes(folder, before, recipe);
}

/// Somebody compares with words without order by themselves: see below.
bool any_bag(const std::vector<VariantChoice>& choices) {
  return std::any_of(choices.begin(), choices.end(), [](const VariantChoice& v) {
    return v.name == "bag" ||
           std::any_of(v.settings.begin(), v.settings.end(), [](const auto& s) { return s.first == "model.shape"; });
  });
}

/// Trouble that belongs to one variant. All other kinds would meet the next one too, or are for people to decide.
bool is_its_own(ErrorKind kind) {
  return kind == ErrorKind::recipe || kind == ErrorKind::diverged || kind == ErrorKind::memory;
}

}  // namespace

const char* name_of(ComparedVariant::State state) {
  constexpr const char* kNames[] = {"waiting", "refused", "failed", "interrupted", "finished"};
  return kNames[static_cast<size_t>(state)];
}

namespace {

std::vector<std::string> sets_of(const CompareOptions& options, const VariantChoice& choice) {
  std::vector<std::string> sets = options.sets;
  for (const std::string& set : choice.sets()) sets.push_back(set);
  return sets;
}

/// Whether only some variants can take the usual positions, which nothing but the recipe's file chose, if anything did.
/// All get those that every attention can take then: nothing but what is compared may differ.
bool positions_differ(const CompareOptions& options, const std::vector<VariantChoice>& choices) {
  std::set<std::string> usual;
  for (const VariantChoice& choice : choices) try {
      Recipe r = load_recipe_for_run(options.recipe, sets_of(options, choice));
      const bool turned = r.model.position.kind == "rope" && r.model.encoder_position.kind.empty() &&
                          r.model.decoder_position.kind.empty();
      for (const auto& [key, where] : r.places.said)
        if (key.ends_with("position") && (where == kSet || !turned)) return false;
      r.places.said.erase("model.position");
      settle_position(r);
      const ModelOptions& m = r.model;
      if (has_use_for_positions(m))
        usual.insert(m.position.literal() + m.encoder_position.literal() + m.decoder_position.literal());
    } catch (const Error&) {
      continue;  // its own trouble, told when it is added
    }
  return usual.size() > 1;
}

}  // namespace

struct Comparer::Body {
  CompareOptions options;
  Comparison comparison;
  /// One for each variant, none where it was refused. They live as long as this, so that a signal handler may ask all
  /// of them to stop whatever happens meanwhile.
  std::vector<std::unique_ptr<Trainer>> trainers;
  std::atomic<bool> stop{false};
  bool plain_positions = false;  // for all: see positions_differ

  void add(const VariantChoice& choice, std::optional<Error>& first);
  bool train(ComparedVariant& v, Trainer& trainer, const CompareEvents& events, int64_t number);
  void save() const;
};

/// False: someone asked for a stop.
bool Comparer::Body::train(ComparedVariant& v, Trainer& trainer, const CompareEvents& events, int64_t number) {
  if (options.fresh) remove_path(v.folder + "/" + kMeasuredName);
  const MeasureTalk talk{events.on_phase, [this] { return stop.load(); }};
  forget_freed_memory();  // the next one's resident memory is its own
  const TrainingOutcome outcome =
      trainer.run(events.on_start ? events.on_start(v, number, std::ssize(comparison.variants)) : TrainingEvents{});
  v.state = VariantState::interrupted;
  if (events.on_trained) events.on_trained(v, outcome);
  if (outcome.reason == TrainingOutcome::Reason::interrupted) return false;
  auto figures = measure_run(v.folder, options.threads, talk);
  if (!figures) return false;
  figures->updates = outcome.updates;
  figures->train_seconds = outcome.seconds;
  save_figures(v.folder, *figures);
  v.figures = read_figures(v.folder).value();  // rounded, as whoever goes on will see them
  v.state = VariantState::finished;
  return true;
}

void Comparer::Body::save() const {
  write_file(comparison.out + "/compare.json", comparison_json(comparison));
  write_file(comparison.out + "/compare.md", comparison_markdown(comparison));
  write_file(comparison.out + "/compare.html", comparison_page(comparison));
}

/// `first`: the first reason of all that a variant can't be trained for.
void Comparer::Body::add(const VariantChoice& choice, std::optional<Error>& first) {
  ComparedVariant v;
  v.name = choice.name;
  v.settings = choice.settings;
  v.folder = comparison.out + "/" + choice.name;
  std::vector<std::string> sets = sets_of(options, choice);
  Recipe recipe;
  std::unique_ptr<Trainer> trainer;
  const auto refuse = [&](ErrorKind kind, const std::string& reason) {
    trainer.reset();
    v.state = VariantState::refused;
    v.reason = reason;
    if (!first) first = Error(kind, reason);
  };
  try {
    if (plain_positions && has_use_for_positions(load_recipe_for_run(options.recipe, sets).model))
      sets.emplace_back("model.position=sinusoidal");
    trainer = std::make_unique<Trainer>(TrainerOptions{options.recipe, v.folder, sets, options.fresh, options.threads});
    recipe = load_recipe_for_run(options.recipe, sets);
    settle_position(recipe);
    v.seed = recipe.train.seed;
    check_files("data.test", recipe.data.test, recipe.data.encoding);
  } catch (const Error& e) {
    // A name that there is not is a slip of whoever typed it, not something that can't be together.
    if (std::string_view(e.what()).find("is not known. ") != std::string_view::npos) throw;
    refuse(e.kind(), reason_of(e, options.recipe));
  } catch (const std::bad_alloc&) { refuse(ErrorKind::memory, kOutOfMemory); }
  if (trainer && !options.fresh) check_variant_folder(v.folder, recipe);
  trainers.push_back(std::move(trainer));
  comparison.variants.push_back(std::move(v));
}

Comparer::Comparer(const CompareOptions& options) : body_(std::make_unique<Body>()) {
  Body& b = *body_;
  Comparison& c = b.comparison;
  b.options = options;
  c.recipe = options.recipe;
  c.out = options.out.empty() ? default_comparison(options.recipe) : options.out;
  c.command = command_of(options);
  c.threads = options.threads > 0 ? options.threads : default_threads();
  c.machine = machine_text();
  const Recipe shared = load_recipe_for_run(options.recipe, options.sets);  // also: mistakes that all would share
  c.metric = shared.train.metric;

  std::vector<VariantChoice> choices = variants_of(options.over);
  const bool one_head = kinds_of_head(shared.model.head).size() == 1;
  if (shared.task == Task::classify && one_head && !any_bag(choices) && !is_bag(shared.model)) {
    VariantChoice bag{"bag", {{"model.shape", "bag"}, {"train.learning_rate", "1e-2"}}};
    if (Choice head = shared.model.head;
        head.options.erase("ngrams") > 0)  // what they are beside an encoder, it is alone
      bag.settings.emplace_back("model.head", head.literal());
    choices.push_back(std::move(bag));
  }
  b.plain_positions = positions_differ(b.options, choices);
  if (b.plain_positions)
    c.notes.push_back(
        "positions are sinusoidal for all: not every variant can take rope (--set model.position=... chooses others)");
  std::optional<Error> first;
  for (const VariantChoice& choice : choices) b.add(choice, first);
  if (std::none_of(b.trainers.begin(), b.trainers.end(), [](const auto& t) { return t != nullptr; }))
    fail(first->kind(), "none of the {} variants can be trained: {}", c.variants.size(), first->what());
}

Comparer::~Comparer() = default;
const Comparison& Comparer::plan() const { return body_->comparison; }

void Comparer::stop() noexcept {
  body_->stop.store(true);
  for (const auto& t : body_->trainers)
    if (t) t->stop();
}

Comparison Comparer::run(const CompareEvents& events) {
  Body& b = *body_;
  Comparison& c = b.comparison;
  make_folder(c.out);
  for (size_t i = 0; i < c.variants.size() && !c.interrupted; ++i) {
    ComparedVariant& v = c.variants[i];
    if (!b.trainers[i]) continue;
    if (b.stop.load()) {
      c.interrupted = true;
      break;
    }
    const auto failed = [&](const std::string& reason) {
      v.state = VariantState::failed;
      v.reason = reason;
      if (events.on_trouble) events.on_trouble(v);
    };
    try {
      c.interrupted = !b.train(v, *b.trainers[i], events, static_cast<int64_t>(i) + 1);
    } catch (const Error& e) {
      if (!is_its_own(e.kind())) throw;
      failed(reason_of(e, c.recipe));
    } catch (const std::bad_alloc&) { failed(kOutOfMemory); }
    v.curve = learning_curve(v.folder);
    b.save();
  }
  b.save();
  return c;
}

}  // namespace attune
