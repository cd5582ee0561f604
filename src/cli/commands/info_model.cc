#include "cli/commands/info_model.h"

#include <fmt/core.h>

#include <algorithm>

#include "attune/error.h"
#include "attune/model.h"
#include "attune/text.h"
#include "cli/output.h"

namespace attune::cli {

namespace {

Record scores_of(const ModelScore& s) {
  Record r{{"step", s.step}};
  for (const auto& [name, value] : s.values) r.emplace_back(name, value);
  return r;
}

const char* state_text(RunDescription::State s) {
  return s == RunDescription::State::training  ? "training"
         : s == RunDescription::State::stopped ? "stopped"
                                               : "finished";
}

/// A curve of eight heights; of more values than fit, every n-th and the last.
std::string curve_text(const std::vector<double>& values) {
  constexpr const char* kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr size_t kWidth = 40;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  std::string out;
  const size_t shown = std::min(values.size(), kWidth);
  for (size_t i = 0; i < shown; ++i) {
    const double v = values[shown == 1 ? 0 : i * (values.size() - 1) / (shown - 1)];
    out += kHeights[*high > *low ? static_cast<size_t>((v - *low) / (*high - *low) * 7.999) : 0];
  }
  return out;
}

/// How the metric of the recipe went.
std::string metric_curve(const ModelDescription& d) {
  std::vector<double> values;
  for (const ModelScore& s : d.scores)
    for (const auto& [name, value] : s.values)
      if (name == d.metric || name == "valid_" + d.metric) values.push_back(value);
  if (values.size() < 2) return "";
  return fmt::format("{} from {:.4g} to {:.4g}, {} validations: {}", d.metric, values.front(), values.back(),
                     values.size(), curve_text(values));
}

std::string as_json(const ModelDescription& d) {
  List files, checkpoints, languages;
  for (const std::string& l : {d.source_language, d.target_language})
    if (!l.empty()) languages.emplace_back(l);
  for (const ModelFile& f : d.files) files.push_back(Record{{"name", f.name}, {"bytes", f.bytes}});
  for (const int64_t step : d.checkpoints) checkpoints.push_back(step);
  Record metadata;
  for (const auto& [key, value] : d.metadata) metadata.emplace_back(key, value);
  Record r{{"folder", d.folder},
           {"verified", d.verified},
           {"trouble", d.trouble},
           {"task", d.task},
           {"languages", languages},
           {"shape", d.shape},
           {"kind", d.kind},
           {"encoder_layers", d.encoder_layers},
           {"decoder_layers", d.decoder_layers},
           {"d_model", d.d_model},
           {"d_ff", d.d_ff},
           {"heads", d.heads},
           {"norm", d.norm},
           {"position", d.position},
           {"attention", d.attention},
           {"tie", d.tie},
           {"tokenizer", d.tokenizer},
           {"source_vocabulary", d.source_vocabulary},
           {"target_vocabulary", d.target_vocabulary},
           {"parameters", d.parameters},
           {"tensors", d.tensors},
           {"stored_as", d.stored_as},
           {"bytes", d.bytes},
           {"files", files},
           {"metadata", metadata},
           {"weights", d.weights},
           {"checkpoints", checkpoints},
           {"metric", d.metric},
           {"validations", static_cast<int64_t>(d.scores.size())}};
  if (d.shortlist)
    r.emplace_back("shortlist", Record{{"translations", d.shortlist_translations}, {"frequent", d.shortlist_frequent}});
  if (d.is_run) {
    const RunDescription& run = d.run;
    r.emplace_back("run", Record{{"state", state_text(run.state)},
                                 {"updates", run.updates},
                                 {"stop", run.stop},
                                 {"share_done", rounded(run.share_done, 4)},
                                 {"epochs", rounded(run.epochs, 4)},
                                 {"seconds", run.seconds},
                                 {"loss", run.loss},
                                 {"learning_rate", run.learning_rate},
                                 {"target_tokens_per_s", run.target_tokens_per_s},
                                 {"memory_mb", run.memory_mb},
                                 {"skipped", run.skipped},
                                 {"rolled_back", run.rolled_back},
                                 {"trouble", run.trouble},
                                 {"settings", run.settings}});
  }
  if (d.step >= 0) r.emplace_back("step", d.step);
  if (!d.scores.empty()) r.emplace_back("last", scores_of(d.scores.back()));
  if (d.best >= 0) r.emplace_back("best", scores_of(d.scores[static_cast<size_t>(d.best)]));
  return to_json(r);
}

std::string test_score_text(const ModelScore& s) {
  std::string out;
  for (const auto& [name, value] : s.values) out += fmt::format("{}{} {:.4g}", out.empty() ? "" : ", ", name, value);
  return out + fmt::format(" (step {})", thousands(s.step));
}

std::string vocabulary_text(const ModelDescription& d) {
  const std::string kind = d.tokenizer.empty() ? "" : " (" + d.tokenizer + ")";
  if (d.source_vocabulary == 0 || d.target_vocabulary == 0 || d.source_vocabulary == d.target_vocabulary)
    return thousands(std::max(d.source_vocabulary, d.target_vocabulary)) + kind;
  return fmt::format("{} source, {} target{}", thousands(d.source_vocabulary), thousands(d.target_vocabulary), kind);
}

std::string layers_text(const ModelDescription& d) {
  if (d.encoder_layers == 0 || d.decoder_layers == 0) return fmt::format("{}", d.encoder_layers + d.decoder_layers);
  return fmt::format("{} + {}", d.encoder_layers, d.decoder_layers);
}

std::string as_text(const ModelDescription& d) {
  std::string out;
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += fmt::format("{:<12} {}\n", name, fit_columns(value, 0));  // it may be of strangers
  };
  line("model", d.folder);
  if (!d.task.empty()) {
    line("task", d.task + (d.source_language.empty() ? "" : ", " + d.source_language + " to " + d.target_language));
    const bool attends = d.kind.find("transformer") != std::string::npos;
    line("shape", d.shape == "bag" ? d.shape
                  : attends ? fmt::format("{}, {} layers, d_model {}, d_ff {}, {} heads", d.shape, layers_text(d),
                                          d.d_model, d.d_ff, d.heads)
                            : fmt::format("{}, {} layers, d_model {}", d.shape, layers_text(d), d.d_model));
    if (d.kind != "transformer" && d.shape != "bag") line("kind", d.kind);
    if (attends)
      line("mechanism", fmt::format("attention {}, positions {}, {}-norm, tied embeddings: {}", d.attention, d.position,
                                    d.norm, d.tie));
  }
  if (d.source_vocabulary + d.target_vocabulary > 0) line("vocabulary", vocabulary_text(d));
  if (d.tensors > 0)
    line("parameters", fmt::format("{} in {} tensors ({})", thousands(d.parameters), d.tensors, d.stored_as));
  if (d.shortlist)
    line("shortlist", fmt::format("{} translations of single words, {} words for any line",
                                  thousands(d.shortlist_translations), thousands(d.shortlist_frequent)));
  line("weights", d.weights);
  if (d.step >= 0 && d.weights.empty()) line("step", thousands(d.step));
  for (const auto& [key, value] : d.metadata)
    if (std::ranges::count(d.told_by_weights, key) == 0) line(key.c_str(), value);
  if (d.is_run) {
    const RunDescription& run = d.run;
    line("run", run.state == RunDescription::State::training   ? "training now"
                : run.state == RunDescription::State::finished ? "finished"
                                                               : "stopped; attune train goes on with it");
    line("updates",
         fmt::format("{}{}, {:.2f} epochs, {} of training", thousands(run.updates),
                     run.share_done > 0 ? fmt::format(" ({:.0f} % of {})", 100 * run.share_done, run.stop) : "",
                     run.epochs, duration_text(run.seconds)));
    line("speed",
         fmt::format("{} target tokens/s, {:.0f} MB",
                     thousands(static_cast<int64_t>(std::clamp(run.target_tokens_per_s, 0.0, 1e15))), run.memory_mb));
    line("loss", fmt::format("{:.4f} at a learning rate of {:.3g}", run.loss, run.learning_rate));
    line("curve", metric_curve(d));
    if (run.skipped > 0 || run.rolled_back > 0)
      line("trouble",
           fmt::format("{} update{} skipped, {} times rolled back{}", thousands(run.skipped),
                       run.skipped == 1 ? "" : "s", run.rolled_back, run.trouble.empty() ? "" : ": " + run.trouble));
    for (size_t i = 0; i < run.settings.size(); ++i) line(i == 0 ? "settings" : "", run.settings[i]);
  }
  if (d.best >= 0) line("best", test_score_text(d.scores[static_cast<size_t>(d.best)]));
  if (!d.scores.empty()) line("last", test_score_text(d.scores.back()));
  if (!d.checkpoints.empty())
    line("checkpoints", fmt::format("{}, steps {} to {}", d.checkpoints.size(), thousands(d.checkpoints.front()),
                                    thousands(d.checkpoints.back())));
  line("files", human_bytes(d.bytes));
  for (const ModelFile& f : d.files) out += fmt::format("  {:>10}  {}\n", human_bytes(f.bytes), f.name);
  line("verified", d.verified ? "yes: every file is what the manifest says" : "no");
  return out;
}

}  // namespace

void tell_model(const std::string& folder, const Session& session) {
  const ModelDescription d = describe_model(folder);
  print(session.json ? as_json(d) + "\n" : as_text(d));
  if (!d.trouble.empty()) throw Error(ErrorKind::model, d.trouble);
}

}  // namespace attune::cli
