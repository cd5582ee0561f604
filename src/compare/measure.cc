#include "compare/measure.h"

#include <algorithm>
#include <cmath>

#include "attune/test.h"
#include "attune/translator.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "compare/files.h"
#include "inference/look.h"
#include "inference/predictor.h"
#include "inference/word_alignment.h"
#include "model/cost.h"
#include "run/metrics_file.h"
#include "run/run_folder.h"
#include "run/validator.h"

namespace attune {

namespace {

constexpr size_t kDecodeLines = 100;  // of the validation set
constexpr int64_t kDecodeTexts = 16;  // that a language model says side by side
constexpr size_t kMostCells = 64;     // of a picture, on a side

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void read_log(const std::string& folder, VariantFigures& f) {
  const std::vector<UpdateLine> lines = read_update_lines(folder + "/metrics.jsonl");
  std::vector<double> speeds, times;
  for (size_t i = 0; i < lines.size(); ++i) {
    f.resident = std::max(f.resident, static_cast<int64_t>(lines[i].memory_mb) << 20);
    if (lines.size() == 1 || lines[i].update > 1) speeds.push_back(lines[i].target_tokens_per_s);  // 1: all is cold
    const int64_t since = lines[i].update - (i ? lines[i - 1].update : 0);
    if (since > 0)
      times.push_back(1000 * (lines[i].seconds - (i ? lines[i - 1].seconds : 0)) / static_cast<double>(since));
  }
  if (times.size() > 1) times.erase(times.begin());
  f.train_tokens_per_s = median(speeds);
  f.ms_per_update = median(times);
}

// --- work ------------------------------------------------------------------------------------------------------------

/// Two products forward, five back.
constexpr double kMixingPasses = 3.5;

double growth_of(const std::vector<WorkAtLength>& work) {
  const WorkAtLength &a = work[work.size() - 2], &b = work.back();
  if (a.self_attention <= 0 || b.self_attention <= 0) return 0;
  return std::log(b.self_attention / a.self_attention) /
         std::log(static_cast<double>(b.length) / static_cast<double>(a.length));
}

// --- pictures --------------------------------------------------------------------------------------------------------

/// A sentence that fits a picture; whatever the tokenizer, the same one.
size_t telling_sentence(const TrainingData& data) {
  const auto words = [](const std::string& text) { return 1 + std::count(text.begin(), text.end(), ' '); };
  size_t best = 0;
  for (size_t i = 0; i < std::min(kDecodeLines, data.valid_source.size()); ++i) {
    const auto n = words(data.valid_source[i]);
    if (n >= 5 && n <= 14) return i;
    if (n < words(data.valid_source[best])) best = i;
  }
  return best;
}

/// How sure the rows are of their column: the mean of their largest weights.
double sharpness(const float* weights, size_t rows, size_t columns) {
  double sum = 0;
  for (size_t r = 0; r < rows; ++r)
    sum += static_cast<double>(*std::max_element(weights + r * columns, weights + (r + 1) * columns));
  return sum;
}

/// Both sides of a pair to look at: a sentence of the validation set, or where there is no source, how it begins.
SentencePair telling_pair(const OpenedModel& m, const TrainingData& data) {
  SentencePair pair;
  if (!m.model->decoder()) {
    if (data.valid_source.empty()) return pair;
    pair.source = read_alone(m, data.valid_source[telling_sentence(data)]);
    return pair;
  }
  if (data.valid.one_sided()) {
    const auto ids = data.valid.target[0];
    const int64_t most = std::min<int64_t>(kMostCells, data.train.longest()) - 1;
    pair.target.assign(ids.begin(), ids.begin() + std::min<int64_t>(std::ssize(ids), most));
  } else {
    const size_t chosen = telling_sentence(data);
    pair.source = m.tokenizers.source->encode(data.valid_source[chosen]);
    pair.target = m.tokenizers.target->encode(data.valid_target[chosen]);
    pair.source.resize(std::min(pair.source.size(), static_cast<size_t>(m.model->longest_source() - 1)));
    pair.source.push_back(text::kEnd);
  }
  pair.target.resize(std::min(pair.target.size(), static_cast<size_t>(m.model->longest_target() - 1)));
  pair.target.push_back(text::kEnd);
  return pair;
}

std::vector<VariantPicture> pictures_of(const OpenedModel& m, const TrainingData& data) {
  std::vector<VariantPicture> pictures;
  if (data.valid.target.count() == 0 || !can_be_looked_at(*m.model) || m.tokenizers.rows) return pictures;
  const SentencePair pair = telling_pair(m, data);
  struct Tap {
    std::string place, words;
    std::vector<std::string> rows, columns;
  };
  std::vector<Tap> taps;
  const bool reads = !pair.source.empty(), says = !pair.target.empty();
  const auto source = reads ? pieces_of(*m.tokenizers.source, pair.source) : std::vector<std::string>();
  const auto target = says ? pieces_of(*m.tokenizers.target, pair.target) : std::vector<std::string>();
  const Encoder* encoder = m.model->encoder();
  const Decoder* decoder = m.model->decoder();
  const int64_t read = encoder ? encoder->attention_layers() : 0, said = decoder ? decoder->attention_layers() : 0,
                cross = decoder ? decoder->cross_layers() : 0;
  if (reads && read > 0)
    taps.push_back({fmt::format("{}.{}.self", encoder->stack(), read - 1),
                    fmt::format("{} to itself", encoder->stack()), source, source});
  if (reads && says && cross > 0)
    taps.push_back({fmt::format("decoder.{}.cross", cross - 1), "decoder to encoder", target, source});
  if (!reads && says && said > 0) {
    auto before = target;  // what the decoder reads while it says the target
    std::rotate(before.rbegin(), before.rbegin() + 1, before.rend());
    before[0] = m.tokenizers.target->piece(text::kBegin);
    taps.push_back({fmt::format("decoder.{}.self", said - 1), "decoder to itself", before, before});
  }
  Arena arena;
  for (const auto& [place, words, rows, columns] : taps) {
    const std::vector<float> weights = attention_weights(*m.model, pair, place, arena);
    const size_t each = rows.size() * columns.size(), heads = weights.size() / each;
    if (heads == 0) continue;
    size_t best = 0;
    for (size_t h = 1; h < heads; ++h)
      if (sharpness(&weights[h * each], rows.size(), columns.size()) >
          sharpness(&weights[best * each], rows.size(), columns.size()))
        best = h;
    const float* head = &weights[best * each];
    pictures.push_back({fmt::format("{}, last layer, head {} of {}", words, best + 1, heads),
                        pooled({rows, columns, {head, head + each}}, kMostCells)});
  }
  return pictures;
}

// --- the parts -------------------------------------------------------------------------------------------------------

/// Calls f until it was timed five times or two seconds are over: the median of its seconds.
template <class F>
double median_seconds(F f) {
  std::vector<double> times;
  const Stopwatch all;
  do {
    const Stopwatch watch;
    f();
    times.push_back(watch.seconds());
  } while (times.size() < 5 && all.seconds() < 2);
  return median(times);
}

/// A language model says what it finds likeliest, texts side by side from their beginning to its longest window.
void time_language(const OpenedModel& m, const TrainingData& data, ThreadPool& pool, VariantFigures& f) {
  const int64_t steps = std::min(data.train.longest(), m.model->longest_target());
  const Rows none = rows_of({}, Segments::of_lengths(std::vector<int32_t>(kDecodeTexts, 0)));
  Arena arena;
  const auto say = [&] {
    Ctx ctx(arena);
    ctx.pool = &pool;
    Pass pass{ctx, m.model->parameters()};
    std::vector<int32_t> words(kDecodeTexts, text::kBegin);
    const std::unique_ptr<DecoderState> state = m.model->start(pass, none, steps);
    for (int64_t i = 0; i < steps; ++i) {
      const Var scores = m.model->logits(pass, m.model->step(pass, *state, words));
      for (int64_t r = 0; r < kDecodeTexts; ++r) {
        const float* row = scores.value().row<float>(r);
        words[static_cast<size_t>(r)] = static_cast<int32_t>(std::max_element(row, row + scores.cols()) - row);
      }
    }
  };
  say();
  f.decode_lines = kDecodeTexts;
  f.decode_tokens_per_s = static_cast<double>(kDecodeTexts * steps) / median_seconds(say);
}

/// How fast it answers to the texts of the validation set, in tokens of theirs.
void time_answers(const OpenedModel& m, const TrainingData& data, ThreadPool& pool, VariantFigures& f) {
  Predictor answer(*m.model, m.tokenizers, m.recipe, pool);
  f.decode_lines = data.valid.size();
  f.decode_tokens_per_s =
      static_cast<double>(data.valid.sizes().source_tokens) / median_seconds([&] { answer(data.valid); });
}

/// Quality, sizes, work and pictures: what the model itself tells. Gives back the lines to time decoding with.
std::vector<std::string> test_variant(const std::string& folder, int threads, VariantFigures& f, bool& tested) {
  const FolderLock lock(folder);  // the corpus may have to be written there
  ThreadPool pool(threads);
  const OpenedModel m = open_model_files(folder, &pool);
  const CorpusPlace place = corpus_place(folder, m.tokenizers, says_numbers(m.recipe));
  const TrainingData data =
      read_training_data(m.recipe.data, encoders_of(m.recipe, m.tokenizers), m.recipe.train.seed, &pool, &place);
  Learner learner(*m.model, m.recipe.train, largest_of(data.train), pool);
  f.parameters = m.model->parameters().numbers();
  f.memory = learner.memory().total();
  Validator validator(*m.model, data, m.tokenizers, m.recipe, pool);
  if (validator.possible()) {
    double score = 0;
    const ValidationResult v = validator({}, &score);
    f.loss = v.loss;
    f.valid = v.scores;
  }
  f.work = count_work(*m.model);
  f.growth = growth_of(f.work);
  f.pictures = pictures_of(m, data);
  tested = !m.recipe.data.test.empty();
  if (gives_answers(m.recipe.task) && validator.possible()) time_answers(m, data, pool, f);
  if (data.train.one_sided() && m.model->decoder()) time_language(m, data, pool, f);
  if (!m.model->decoder()) return {};
  std::vector<std::string> lines = data.valid_source;
  lines.resize(std::min(lines.size(), kDecodeLines));
  return lines;
}

void time_decoding(const std::string& folder, int threads, const std::vector<std::string>& lines, VariantFigures& f) {
  if (lines.empty()) return;
  const Translator translator(folder, threads);
  const TranslateOptions greedy{.beam = 1};
  int64_t tokens = 0;
  for (const Translation& t : translator.translate(lines, greedy)) tokens += std::ssize(t.tokens) + 1;  // the end mark
  f.decode_lines = std::ssize(lines);
  f.decode_tokens_per_s = static_cast<double>(tokens) / median_seconds([&] { translator.translate(lines, greedy); });
}

}  // namespace

std::vector<WorkAtLength> count_work(const Model& model) {
  std::vector<WorkAtLength> work;
  const Segments none = Segments::single(0);
  for (int64_t length = 64; length <= 16384; length *= 2) {
    const Segments one = Segments::single(length);
    const double alone = model.mixing_operations({&one, none}) + model.mixing_operations({&none, one});
    work.push_back({length, kMixingPasses * alone, kMixingPasses * model.mixing_operations({&one, one}),
                    training_flops(model, {&one, one})});
  }
  return work;
}

AttentionPicture pooled(const AttentionPicture& p, size_t most) {
  const auto cells = [&](size_t n) { return std::min(n, most); };
  const size_t rows = cells(p.rows.size()), columns = cells(p.columns.size());
  if (rows == p.rows.size() && columns == p.columns.size()) return p;
  AttentionPicture out;
  const auto labels = [](const std::vector<std::string>& all, size_t count) {
    std::vector<std::string> kept;
    for (size_t i = 0; i < count; ++i) kept.push_back(all[i * all.size() / count] + (count < all.size() ? " …" : ""));
    return kept;
  };
  out.rows = labels(p.rows, rows);
  out.columns = labels(p.columns, columns);
  out.weights.assign(rows * columns, 0);
  // The same cut as the labels': cell i holds what i * n / count begins.
  std::vector<size_t> row_of(p.rows.size()), column_of(p.columns.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = i * p.rows.size() / rows; j < (i + 1) * p.rows.size() / rows; ++j) row_of[j] = i;
  for (size_t i = 0; i < columns; ++i)
    for (size_t j = i * p.columns.size() / columns; j < (i + 1) * p.columns.size() / columns; ++j) column_of[j] = i;
  for (size_t r = 0; r < p.rows.size(); ++r)
    for (size_t c = 0; c < p.columns.size(); ++c) {
      float& cell = out.weights[row_of[r] * columns + column_of[c]];
      cell = std::max(cell, p.weights[r * p.columns.size() + c]);
    }
  return out;
}

std::vector<CurvePoint> learning_curve(const std::string& folder) {
  std::vector<CurvePoint> curve;
  for (const ModelScore& s : read_scores(folder + "/metrics.jsonl"))
    for (const auto& [name, value] : s.values)
      if (name == "valid_loss") curve.push_back({s.step, value});
  return curve;
}

std::optional<VariantFigures> measure_run(const std::string& folder, int threads, const MeasureTalk& talk) {
  if (auto kept = read_figures(folder)) return kept;
  VariantFigures f;
  const auto next = [&](const char* what) {
    if (talk.stop_asked && talk.stop_asked()) return false;
    if (talk.phase) talk.phase(what);
    return true;
  };
  read_log(folder, f);
  if (!next("judging the model")) return std::nullopt;
  bool tested = false;
  const std::vector<std::string> lines = test_variant(folder, threads, f, tested);
  if (!lines.empty() && !next("timing its decoder")) return std::nullopt;
  time_decoding(folder, threads, lines, f);
  f.load = talk.meter.load();
  if (tested) {
    if (!next("asking it about the test set")) return std::nullopt;
    for (const MetricResult& r : test_model(folder, {}, {}, threads).scores) f.test.emplace_back(r.name, r.score);
  }
  return f;
}

}  // namespace attune
