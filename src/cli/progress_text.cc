#include "cli/progress_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attune/text.h"

namespace attune::cli {

namespace {

constexpr int kShortestBar = 7, kLongestBar = 30;
constexpr int kIndent = 15;  // of what stands beside "reference"

/// 15432 -> "15.4k": three digits are what a glance takes in.
std::string short_number(double x) {
  const auto with = [](double v, const char* unit) {
    return fmt::format("{:.{}f}{}", v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0, unit);
  };
  if (x < 999.5) return fmt::format("{:.0f}", x);
  return x < 999.5e3 ? with(x / 1e3, "k") : with(x / 1e6, "M");
}

std::string time_left(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 36 * 3600.0) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

struct Figure {
  int importance;  // the least important goes first
  std::string text;
};

/// In the order of the line.
std::vector<Figure> figures(const TrainingStatus& s) {
  const bool end_known = s.share_done > 0 || s.last_update > 0;
  std::vector<Figure> all;
  if (end_known) all.push_back({9, fmt::format("{:2.0f} %", std::floor(100 * s.share_done))});
  const std::string last = s.last_update > 0 ? "/" + thousands(s.last_update) : "";
  const std::string now = thousands(s.update);
  all.push_back({7, "up " +
                        std::string(last.empty() ? 0 : last.size() - 1 - std::min(last.size() - 1, now.size()), ' ') +
                        now + last});
  all.push_back({2, fmt::format("ep {:.2f}", s.epoch)});
  all.push_back({8, std::isfinite(s.loss) ? fmt::format("loss {:.3f}", s.loss) : "loss ?"});
  all.push_back({5, fmt::format("{:>5} tok/s", short_number(s.target_tokens_per_s))});
  all.push_back({3, fmt::format("{:2.0f} % of peak", 100 * s.share_of_peak)});
  if (end_known) all.push_back({6, time_left(s.seconds_left) + " left"});
  all.push_back({4, human_bytes(s.memory)});
  return all;
}

std::string bar(double share, int columns) {
  const int full = std::clamp(static_cast<int>(share * columns), 0, columns);
  return "[" + std::string(static_cast<size_t>(full), '#') + std::string(static_cast<size_t>(columns - full), '-') +
         "]";
}

std::string labelled(const char* label, const std::string& text, int width, const Paint& paint) {
  return "  " + paint.faint(fmt::format("{:<{}}", label, kIndent - 2)) +
         fit_columns(text, std::max(1, width - 1 - kIndent)) + "\n";
}

/// A name as a shell wants it.
std::string in_quotes(const std::string& name) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("/._-+:,@%").find(c) != std::string_view::npos;
  };
  if (!name.empty() && std::all_of(name.begin(), name.end(), plain)) return name;
  std::string out = "'";
  for (char c : name) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string score_text(const std::string& name, double score) {
  if (name == "exact") return fmt::format("exact {:.1f} %", score);
  if (name == "bleu") return fmt::format("BLEU {:.2f}", score);
  return fmt::format("{} {:.4g}", name, score);
}

}  // namespace

std::string status_line(const TrainingStatus& s, int width) {
  const int room = width - 1;
  std::vector<Figure> shown = figures(s);
  const bool with_bar = s.share_done > 0 || s.last_update > 0;
  const auto taken = [&] {
    int columns = 0;
    for (const Figure& f : shown) columns += static_cast<int>(f.text.size()) + 2;
    return columns - 2;
  };
  const int least_bar = with_bar ? kShortestBar + 4 : 0;
  while (shown.size() > 1 && taken() + least_bar > room)
    shown.erase(std::min_element(shown.begin(), shown.end(),
                                 [](const Figure& a, const Figure& b) { return a.importance < b.importance; }));
  std::string line;
  for (const Figure& f : shown) line += (line.empty() ? "" : "  ") + f.text;
  const int columns = std::min(kLongestBar, room - taken() - 4);
  if (with_bar && columns >= kShortestBar) line = bar(s.share_done, columns) + "  " + line;
  return static_cast<int>(line.size()) <= room ? line : line.substr(0, static_cast<size_t>(std::max(room, 0)));
}

std::string lines_line(int64_t done, int64_t total, double seconds, int width) {
  const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
  std::string text = fmt::format("{:2.0f} %  {}/{} lines", std::floor(100 * share), thousands(done), thousands(total));
  const std::string left = "  " + time_left(share > 0 ? seconds * (1 - share) / share : 0) + " left";
  if (share > 0 && share < 1 && static_cast<int>(text.size() + left.size()) < width) text += left;
  const int room = width - 1 - static_cast<int>(text.size()) - 4;
  if (room >= kShortestBar) text = bar(share, std::min(room, kLongestBar)) + "  " + text;
  return fit_columns(text, std::max(1, width - 1));
}

std::string painted(const std::string& line, const Paint& paint) {
  const size_t begin = line.find('#'), end = line.find_last_of('#');
  if (line.empty() || line[0] != '[' || begin == std::string::npos) return line;
  return line.substr(0, begin) + paint.good(line.substr(begin, end + 1 - begin)) + line.substr(end + 1);
}

std::string plan_text(const TrainingPlan& p, int width, const Paint& paint) {
  std::string out;
  const std::string vocabulary = p.target_vocabulary == 0 ? thousands(p.labels) + " labels"
                                 : p.source_vocabulary == p.target_vocabulary
                                     ? "vocabulary " + thousands(p.target_vocabulary)
                                     : fmt::format("vocabulary {} (source) and {} (target)",
                                                   thousands(p.source_vocabulary), thousands(p.target_vocabulary));
  out += labelled("model", fmt::format("{} parameters, {}", thousands(p.parameters), vocabulary), width, paint);
  out += labelled("data",
                  fmt::format("{} {}, {} target tokens an epoch; {} {} to validate on", thousands(p.training_pairs),
                              p.unit, thousands(p.tokens_per_epoch), thousands(p.validation_pairs), p.unit),
                  width, paint);
  out += labelled(
      "cost",
      fmt::format("{}up to {} of memory, {} thread{}", p.seconds > 0 ? "about " + duration_text(p.seconds) + ", " : "",
                  human_bytes(p.memory), p.threads, p.threads == 1 ? "" : "s"),
      width, paint);
  out += labelled("folder", p.out, width, paint);
  // Not cut: a note may be a warning.
  for (const std::string& note : p.notes) out += "  " + paint.notice("note         ") + fit_columns(note, 0) + "\n";
  if (p.resumed_at > 0) out += labelled("resumed", "at update " + thousands(p.resumed_at), width, paint);
  return out + "\n";
}

std::string baselines_text(const std::vector<BaselineScore>& all, int width, const Paint& paint) {
  std::string out;
  for (const BaselineScore& b : all) {
    std::string scores;
    for (const auto& [name, value] : b.scores) scores += (scores.empty() ? "" : ", ") + score_text(name, value);
    out += labelled("baseline", b.name + ": " + scores, width, paint);
  }
  return out + "\n";
}

std::string validation_text(const ValidationResult& v, int width, const Paint& paint) {
  const std::string update = "update " + thousands(v.update);
  std::string scores;
  for (const auto& [name, value] : v.scores) scores += "  " + score_text(name, value);
  const std::string best =
      v.best ? "best so far" : fmt::format("best {:.4g} at {}", v.best_score, thousands(v.best_update));
  const std::string rest = fmt::format("loss {:.4f}  perplexity {:.2f}", v.loss, v.perplexity);
  const std::string plain = update + scores + "  " + best + "  " + rest;
  const std::string cut = fit_columns(plain, std::max(1, width - 1));
  // Painted where all of it fits: what is cut has other columns.
  std::string out =
      cut != plain ? cut : paint.strong(update) + scores + "  " + (v.best ? paint.good(best) : best) + "  " + rest;
  out += "\n";
  for (const SampleTranslation& s : v.samples) {
    out += labelled("source", s.source, width, paint);
    out += labelled("reference", s.reference, width, paint);
    out += labelled("output", s.translation, width, paint);
    out += &s == &v.samples.back() ? "" : "\n";
  }
  return out + "\n";
}

std::string outcome_text(const TrainingOutcome& o, const Paint& paint) {
  using Reason = TrainingOutcome::Reason;
  if (o.reason == Reason::interrupted) return "";
  if (o.was_over)
    return paint.strong("nothing to do") +
           fmt::format(": this run was over after {} updates. To go on, {}; to start anew, use --fresh\n",
                       thousands(o.updates), o.to_go_on);
  std::string out = paint.strong(o.reason == Reason::finished ? "finished" : "finished early") +
                    fmt::format(": {} updates, {} of training", thousands(o.updates), duration_text(o.seconds));
  if (o.reason == Reason::out_of_patience) out += fmt::format(", no better since update {}", thousands(o.best_update));
  out += "\n";
  if (o.has_score) out += fmt::format("on the validation set: {}\n", paint.strong(score_text(o.metric, o.final_score)));
  if (!o.judged.empty()) out += "the model is " + o.model_text() + "\n";
  if (!o.baseline_warning.empty()) out += paint.notice("warning") + ": " + o.baseline_warning + "\n";
  return out;
}

std::string next_text(const TrainingOutcome& o) {
  if (o.reason == TrainingOutcome::Reason::interrupted)
    return fmt::format("saved at update {}; the same command goes on\n", thousands(o.updates));
  if (o.task == "missing words")
    return fmt::format(
        "the model is in {}; to begin another training with what it knows of texts:\n"
        "  attune train RECIPE --set train.start={} --set 'train.start_parts=[\"encoder\"]'\n",
        o.model, in_quotes(o.model));
  if (o.task == "image" || o.task == "graph")
    return fmt::format("the model is in {}; to give labels with it:\n  attune classify {} {}\n", o.model,
                       in_quotes(o.model), o.task == "image" ? "PICTURES" : "NODES EDGES");
  if (o.task == "classify" || o.task == "tag")
    return fmt::format("the model is in {}; to {} texts with it:\n  attune {} {} FILE\n", o.model, o.task, o.task,
                       in_quotes(o.model));
  if (o.task == "language")
    return fmt::format(
        "the model is in {}; to let it go on with a text, and to see how well it knows one:\n"
        "  attune generate {} --prompt TEXT\n  attune test {} --set 'data.test=[\"FILE\"]'\n",
        o.model, in_quotes(o.model), in_quotes(o.model));
  return fmt::format("the model is in {}; to translate with it:\n  attune translate {} FILE\n", o.model,
                     in_quotes(o.model));
}

}  // namespace attune::cli
