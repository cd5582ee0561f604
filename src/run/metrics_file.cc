#include "run/metrics_file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "attune/metric.h"
#include "data/files/line_reader.h"

namespace attune {

namespace {

using Json = nlohmann::json;

bool is_score(const std::string& name) {
  const std::vector<std::string> known = metric_names();
  return name.starts_with("valid_") || name == "perplexity" || std::count(known.begin(), known.end(), name) > 0;
}

/// Calls f with every line that is an object.
template <class F>
void for_objects(const std::string& path, F f) {
  if (!std::filesystem::is_regular_file(path)) return;
  LineReader reader(path);
  for (std::string_view line; reader.next(line);)
    if (const Json json = Json::parse(line, nullptr, false); json.is_object()) f(json);
}

}  // namespace

std::vector<ModelScore> read_scores(const std::string& path) {
  std::vector<ModelScore> scores;
  for_objects(path, [&](const Json& json) {
    if (json.contains("finished")) return;  // what the model is, which need not be of the last update
    ModelScore score;
    for (const auto& [name, value] : json.items()) {
      if ((name == "step" || name == "update") && value.is_number_integer()) score.step = value.get<int64_t>();
      if (is_score(name) && value.is_number()) score.values.emplace_back(name, value.get<double>());
    }
    if (!score.values.empty()) scores.push_back(std::move(score));
  });
  return scores;
}

RunDescription read_run(const std::string& path) {
  RunDescription run;
  std::vector<double> speeds;
  for_objects(path, [&](const Json& json) {
    const auto read = [&]<class T>(const char* name, T& to) {
      const auto at = json.find(name);
      if (at != json.end() && (std::is_integral_v<T> ? at->is_number_integer() : at->is_number())) at->get_to(to);
    };
    read("update", run.updates);
    read("epoch", run.epochs);
    read("seconds", run.seconds);
    read("loss", run.loss);
    read("learning_rate", run.learning_rate);
    read("skipped", run.skipped);
    double speed = 0, memory = 0;
    read("target_tokens_per_s", speed);
    read("memory_mb", memory);
    if (speed > 0) speeds.push_back(speed);
    run.memory_mb = std::max(run.memory_mb, memory);
    if (const auto why = json.find("rolled_back"); why != json.end() && why->is_string()) {
      ++run.rolled_back;
      run.trouble = why->get<std::string>();
    }
    run.state = json.contains("finished") ? RunDescription::State::finished : RunDescription::State::stopped;
  });
  if (speeds.empty()) return run;
  const auto middle = speeds.begin() + std::ssize(speeds) / 2;
  std::nth_element(speeds.begin(), middle, speeds.end());
  run.target_tokens_per_s = *middle;
  return run;
}

std::vector<BaselineScore> read_baselines(const std::string& path) {
  std::vector<BaselineScore> all;
  for_objects(path, [&](const Json& json) {
    const auto list = json.find("baselines");
    if (list == json.end() || !list->is_array()) return;
    all.clear();
    for (const Json& one : *list) {
      if (!one.is_object() || !one.contains("name") || !one["name"].is_string()) continue;
      BaselineScore& b = all.emplace_back();
      b.name = one["name"].get<std::string>();
      for (const auto& [name, value] : one.items())
        if (value.is_number()) b.scores.emplace_back(name, value.get<double>());
    }
  });
  return all;
}

std::vector<UpdateLine> read_update_lines(const std::string& path) {
  std::vector<UpdateLine> lines;
  for_objects(path, [&](const Json& json) {
    const auto number = [&](const char* name) {
      const auto at = json.find(name);
      return at != json.end() && at->is_number() ? at->get<double>() : 0;
    };
    if (!json.contains("target_tokens_per_s")) return;
    lines.push_back({static_cast<int64_t>(number("update")), number("seconds"), number("target_tokens_per_s"),
                     number("memory_mb")});
  });
  return lines;
}

int64_t best_score(const std::vector<ModelScore>& scores, const std::string& metric) {
  const bool less = less_is_better(metric);
  int64_t best = -1;
  double best_value = 0;
  for (size_t i = 0; i < scores.size(); ++i)
    for (const auto& [name, value] : scores[i].values) {
      if (name != metric && name != "valid_" + metric) continue;
      if (best >= 0 && (less ? value >= best_value : value <= best_value)) continue;
      best = static_cast<int64_t>(i);
      best_value = value;
    }
  return best;
}

}  // namespace attune
