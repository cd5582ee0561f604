#include "run/train_log.h"

#include <fmt/core.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/weights_text.h"
#include "show/png.h"

namespace attune {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kOftenFlat = 1000;  // updates: some tasks learn nothing for so long at first

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

/// A run that was killed has written metrics of updates that it will do again, and of an accident after this one.
void drop_later(const std::string& path, int64_t update) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  const std::string old = read_file(path);
  std::string kept;
  for (const std::string& line : split(old, '\n')) {
    const OrderedJson j = OrderedJson::parse(line, nullptr, false);
    if (!j.is_object() || !j.contains("update") || !j["update"].is_number() || j["update"] > update) continue;
    if (j["update"] == update && j.contains("rolled_back")) continue;
    kept += line + "\n";
  }
  if (kept != old) write_file(path, kept);  // else whoever follows the file goes on
}

}  // namespace

TrainLog::TrainLog(const std::string& dir, int64_t resumed_at, const TrainingEvents& events)
    : dir_(dir), log_(dir + "/train.log"), on_line_(events.on_log), on_metrics_(events.on_metrics) {
  open_records(resumed_at);
}

void TrainLog::open_records(int64_t update) {
  metrics_.reset();
  events_.reset();
  const std::string path = dir_ + "/metrics.jsonl";
  refuse_link(path);
  drop_later(path, update);
  metrics_.emplace(path);
  events_.emplace(dir_, update);
}

void TrainLog::say(const std::string& text) {
  log_.line(fmt::format("[{}] {}", time_of_day(), text));
  if (on_line_) on_line_(text);
}

struct TrainLog::Record {
  OrderedJson json;
};

void TrainLog::record(const Record& record) {
  const std::string line = record.json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  metrics_->line(line);
  if (on_metrics_) on_metrics_(line);
  if (record.json.contains("rolled_back")) return;  // it stands at an update that has its numbers already
  const int64_t update = record.json["update"];
  for (const auto& [name, value] : record.json.items())
    if (value.is_number() && name != "update")
      events_->scalar(name.starts_with("valid_") ? "valid/" + name.substr(6) : "train/" + name, update,
                      value.get<double>());
}

void TrainLog::plan(const TrainingPlan& p) {
  for (const std::string& note : p.notes) say(note);
  say(fmt::format(
      "{} parameters, {}, {} training {}, {} validation {}, {} target tokens an epoch", thousands(p.parameters),
      p.target_vocabulary == 0 ? thousands(p.labels) + " labels"
      : p.source_vocabulary == p.target_vocabulary
          ? "vocabulary " + thousands(p.target_vocabulary)
          : "vocabulary " + thousands(p.source_vocabulary) + " and " + thousands(p.target_vocabulary),
      thousands(p.training_pairs), p.unit, thousands(p.validation_pairs), p.unit, thousands(p.tokens_per_epoch)));
  say(fmt::format("will take up to {} of memory{}, {} thread{}", human_bytes(p.memory),
                  p.seconds > 0 ? " and about " + duration_text(p.seconds) : "", p.threads, p.threads == 1 ? "" : "s"));
  if (p.resumed_at > 0) say(fmt::format("going on from update {}", thousands(p.resumed_at)));
}

void TrainLog::update(const TrainingStatus& s, int64_t sentences) {
  const double now = now_seconds();
  if (s.update % 100 != 0 && now - last_ < 30) return;
  last_ = now;
  say(
      fmt::format("Ep. {:.2f} : Up. {} : Sen. {} : Cost {:.4f}{} : Time {:.0f}s : {} tokens/s : {:.0f} % of peak : "
                  "L.r. {:.4e}",
                  s.epoch, s.update, thousands(sentences), s.loss,
                  s.guide_loss ? fmt::format(" : Guide {:.4f}", *s.guide_loss) : "", s.seconds,
                  thousands(static_cast<int64_t>(s.target_tokens_per_s)), 100 * s.share_of_peak, s.rate));
  OrderedJson json{{"update", s.update}, {"epoch", s.epoch}, {"loss", s.loss}};
  if (s.guide_loss) json["guide_loss"] = *s.guide_loss;
  json["learning_rate"] = s.rate;
  json["target_tokens_per_s"] = std::round(s.target_tokens_per_s);
  json["share_of_peak"] = std::round(s.share_of_peak * 1000) / 1000;
  json["memory_mb"] = s.memory >> 20;
  json["seconds"] = std::round(s.seconds * 10) / 10;
  record({json});
}

void TrainLog::skipped(const TrainingStatus& s, const std::string& why, const std::string& parameter) {
  say(fmt::format("update {} was skipped: {} ({} skipped so far)", thousands(s.update), why, thousands(s.skipped)));
  record({OrderedJson{{"update", s.update}, {"skipped", s.skipped}, {"not_a_number", parameter}}});
}

void TrainLog::rolled_back(const std::string& why, const Progress& p) {
  say(fmt::format("{}: back to update {}, from there on at {:.3g} of the learning rate", why, thousands(p.updates),
                  p.rate_scale));
  open_records(p.updates);
  record(
      {OrderedJson{{"update", p.updates}, {"rolled_back", why}, {"rate_scale", p.rate_scale}, {"skipped", p.skipped}}});
}

void TrainLog::plateau(double rate_scale) {
  say(fmt::format("no better for a while: the learning rate is {:.3g} of the recipe's from now on", rate_scale));
}

void TrainLog::baselines(const std::vector<BaselineScore>& all, int64_t update, bool known) {
  OrderedJson list = OrderedJson::array();
  for (const BaselineScore& b : all) {
    OrderedJson json{{"name", b.name}};
    std::string scores;
    for (const auto& [name, value] : b.scores) {
      scores += fmt::format("{}{} {:.4g}", scores.empty() ? "" : ", ", name, value);
      json[name] = value;
    }
    say(fmt::format("baseline: {}: {}", b.name, scores));
    list.push_back(json);
  }
  if (!known) record({OrderedJson{{"update", update}, {"baselines", list}}});
}

void TrainLog::validation(const ValidationResult& v) {
  std::string scores;
  OrderedJson json{
      {"update", v.update}, {"epoch", v.epoch}, {"valid_loss", v.loss}, {"valid_perplexity", v.perplexity}};
  for (const auto& [name, value] : v.scores) {
    scores += fmt::format(" : {} {:.2f}", name, value);
    json["valid_" + name] = value;
  }
  json["best"] = v.best;
  json["valid_seconds"] = std::round(v.seconds * 10) / 10;
  say(fmt::format("Ep. {:.2f} : Up. {} : valid : loss {:.4f} : perplexity {:.3f}{} : {}", v.epoch, v.update, v.loss,
                  v.perplexity, scores,
                  v.best ? "new best" : fmt::format("best {:.4g} at {}", v.best_score, thousands(v.best_update))));
  if (v.update >= kOftenFlat && v.loss_by_frequency > 0 && v.loss >= v.loss_by_frequency)
    say(fmt::format(
        "nothing but how frequent words are has been learned (that alone has a loss of {:.4f}): if it stays "
        "so, try another train.learning_rate, mostly a lower one, or a longer train.warmup, with --fresh",
        v.loss_by_frequency));
  for (const SampleTranslation& s : v.samples) {
    say("  source:    " + s.source);
    say("  reference: " + s.reference);
    say("  output:    " + s.translation);
  }
  record({json});
  std::string table;
  for (const SampleTranslation& sample : v.samples)
    table +=
        fmt::format("{}| {} | {} | {} |\n", table.empty() ? "| source | reference | output |\n|---|---|---|\n" : "",
                    markdown_cell(sample.source), markdown_cell(sample.reference), markdown_cell(sample.translation));
  if (!table.empty()) events_->text("valid/samples", v.update, table);
  if (!v.attention.weights.empty()) events_->image("valid/attention", v.update, show::attention_png(v.attention));
}

void TrainLog::nothing_to_do(const TrainingOutcome& o) {
  say(fmt::format(
      "this run was over after {} updates, and its model stays as it is: {}. To go on, {}; to start anew, use --fresh",
      thousands(o.updates), o.model, o.to_go_on));
}

void TrainLog::outcome(const TrainingOutcome& o) {
  const char* why = o.reason == TrainingOutcome::Reason::finished          ? "finished"
                    : o.reason == TrainingOutcome::Reason::out_of_patience ? "no better for a while, finished"
                                                                           : "interrupted";
  say(fmt::format("{} after {} updates, {} of training", why, thousands(o.updates), duration_text(o.seconds)));
  if (o.reason == TrainingOutcome::Reason::interrupted) return;
  say("the model is " + o.model_text());
  if (!o.baseline_warning.empty())
    for (const std::string& line : split("warning: " + o.baseline_warning, '\n')) say(line);
  OrderedJson json{{"update", o.updates}, {"finished", true}, {"averaged", o.averaged}};
  json["weights"] = kWeightsKinds[static_cast<size_t>(o.judged.front().kind)];
  json["of_updates"] = o.judged.front().updates;
  json["valid_" + o.metric] = o.has_score ? OrderedJson(o.final_score) : OrderedJson();
  for (const FinalWeights& w : o.judged)
    if (o.has_score)
      json["judged"].push_back(
          {{"weights", kWeightsKinds[static_cast<size_t>(w.kind)]}, {"of_updates", w.updates}, {"score", w.score}});
  json["seconds"] = std::round(o.seconds * 10) / 10;
  if (!o.baseline.empty()) {
    json["baseline"] = o.baseline;
    json["baseline_score"] = o.baseline_score;
    json["beats_baseline"] = o.beats_baseline;
  }
  record({json});
}

}  // namespace attune
