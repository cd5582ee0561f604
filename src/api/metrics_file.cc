#include "api/metrics_file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/line_reader.h"

namespace attune {

namespace {

using Json = nlohmann::json;

bool is_score(const std::string& name) {
  for (const char* metric : {"bleu", "chrf", "accuracy", "perplexity", "exact"})
    if (name == metric) return true;
  return name.starts_with("valid_");
}

}  // namespace

std::vector<ModelScore> read_scores(const std::string& path) {
  std::vector<ModelScore> scores;
  if (!std::filesystem::is_regular_file(path)) return scores;
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    ModelScore score;
    for (const auto& [name, value] : json.items()) {
      if ((name == "step" || name == "update") && value.is_number_integer()) score.step = value.get<int64_t>();
      if (is_score(name) && value.is_number()) score.values.emplace_back(name, value.get<double>());
    }
    if (!score.values.empty()) scores.push_back(std::move(score));
  }
  return scores;
}

int64_t best_score(const std::vector<ModelScore>& scores, const std::string& metric) {
  const bool less = metric == "loss" || metric == "perplexity";
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
