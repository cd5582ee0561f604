#include "advise/recipe_layout.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace attune {

namespace {

constexpr size_t kComments = 32;  // the column where comments begin, as in recipe/writer.cc

}  // namespace

RecipeLayout::RecipeLayout(SizedRecipe& sized, NewRecipe& result)
    : sized_(sized), result_(result), fields_(fields_of(sized.recipe)) {}

void RecipeLayout::key(const std::string& name, std::string reason) {
  const std::string full = section_.empty() ? name : section_ + "." + name;
  const Field& field = find_field(fields_, full);
  if (reason.empty()) reason = sized_.reasons.contains(full) ? sized_.reasons[full] : field.sentence;
  const std::string value = literal_of(field.get());
  result_.settings.emplace_back(full, value);
  line(name + " = " + value, "# " + reason);
}

void RecipeLayout::line(const std::string& setting, const std::string& comment) {
  const bool above = setting.size() + 1 > kComments || kComments + comment.size() > 120;
  result_.text += above ? comment + "\n" + setting + "\n" : fmt::format("{:<{}}{}\n", setting, kComments, comment);
}

namespace {

/// 5400 -> "90 minutes".
std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} seconds", std::max(1.0, seconds));
  if (seconds < 90 * 60) return fmt::format("{:.0f} minutes", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} hours", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

}  // namespace

std::string training_note(const Recipe& r, double seconds, int threads) {
  std::string note = fmt::format("training: {} updates", thousands(static_cast<int64_t>(r.train.stop.count)));
  if (!reads_rows(r.task)) note += fmt::format(" of {} tokens", thousands(r.train.batch_tokens.tokens));
  if (seconds > 0)
    note += fmt::format(", about {} on {} thread{}", time_text(seconds), threads, threads == 1 ? "" : "s");
  return note;
}

}  // namespace attune
