#include "inference/search_setup.h"

#include "base/error.h"

namespace attune {

void check_options(const TranslateOptions& o) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    if (value < least) fail(ErrorKind::usage, "{} = {}, wanted {} or more", name, value, least);
  };
  at_least("beam", o.beam, 1);
  at_least("n_best", o.n_best, 1);
  at_least("min_length", o.min_length, 0);
  at_least("max_length", o.max_length, 0);
  at_least("top_k", o.top_k, 0);
  at_least("no_repeat_ngram", o.no_repeat_ngram, 0);
  at_least("batch_tokens", o.batch_tokens, 1);
  const auto above_0 = [](const char* name, double value) {
    if (!(value > 0)) fail(ErrorKind::usage, "{} = {}, wanted more than 0", name, value);
  };
  if (!(o.coverage_penalty >= 0)) fail(ErrorKind::usage, "coverage_penalty = {}, wanted 0 or more", o.coverage_penalty);
  above_0("temperature", o.temperature);
  above_0("top_p", o.top_p);
  above_0("repetition_penalty", o.repetition_penalty);
  if (o.max_length > 0 && o.min_length >= o.max_length)
    fail(ErrorKind::usage, "min_length = {} leaves no room below max_length = {}\n  fix: lower min_length",
         o.min_length, o.max_length);
  if (!o.sample && o.n_best > o.beam)
    fail(ErrorKind::usage, "the {} best of a beam of {} were asked for\n  fix: make the beam at least {}", o.n_best,
         o.beam, o.n_best);
}

SearchOptions search_options(const TranslateOptions& o, const text::Tokenizer& tokenizer, int32_t end) {
  SearchOptions s;
  s.beam = o.beam;
  s.length_penalty = o.length_penalty;
  s.coverage_penalty = o.coverage_penalty;
  s.n_best = o.n_best;
  s.longest = o.max_length;
  s.begin = text::kBegin;
  s.end = end;
  s.hidden = {text::kPad, text::kBegin, text::kUnknown};
  s.processors = make_processors({.shortest = o.min_length,
                                  .end = end,
                                  .repetition_penalty = o.repetition_penalty,
                                  .no_repeat = o.no_repeat_ngram});
  s.sample = o.sample;
  s.sampling = {o.temperature, o.top_k, o.top_p, o.seed};
  for (const std::string& piece : o.suppressed) {
    const int32_t id = tokenizer.id(piece);
    if (id < text::kMarks)
      fail(ErrorKind::usage, "\"{}\" is no piece of this model's vocabulary\n  fix: see its tokenizer/vocabulary.txt",
           piece);
    s.hidden.push_back(id);
  }
  return s;
}

}  // namespace attune
