#include "cli/search_options.h"

#include <CLI/CLI.hpp>
#include <type_traits>

namespace attune::cli {

template <class Options>
void add_search_options(CLI::App* command, Options& options) {
  constexpr bool kTranslates = std::is_same_v<Options, TranslateOptions>;
  command
      ->add_option("--beam", options.beam,
                   kTranslates ? "hypotheses kept at each step; 1 is greedy (default: 5)"
                               : "the most probable text instead of a random one: hypotheses kept at each step; 1 is "
                                 "greedy")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--length-penalty", options.length_penalty, "score = log p / ((5 + length) / 6)^this (default: 0.6)")
      ->type_name("A")
      ->check(CLI::Range(-10.0, 10.0));
  if constexpr (kTranslates)
    command
        ->add_option("--coverage-penalty", options.coverage_penalty,
                     "how much it costs to leave parts of the line without attention (default: 0)")
        ->type_name("B")
        ->check(CLI::Range(0.0, 100.0));
  command
      ->add_option("--min-length", options.min_length,
                   kTranslates ? "tokens of a translation at least (default: 0)"
                               : "tokens after the prompt at least (default: 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20));
  command
      ->add_option(
          "--max-length", options.max_length,
          kTranslates ? "tokens of a translation (default: as the recipe says, mostly twice those of the line, plus 10)"
                      : "tokens after the prompt (default: 256)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--batch-tokens", options.batch_tokens,
                   kTranslates ? "tokens translated at the same time, times the beam (default: 4096)"
                               : "tokens of texts said at the same time, times the beam (default: 4096)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24));
  command
      ->add_option("--repetition-penalty", options.repetition_penalty,
                   "what was said becomes less probable by this factor of its logit (default: 1, not at all)")
      ->type_name("X")
      ->check(CLI::Range(0.01, 100.0));
  command
      ->add_option("--no-repeat-ngram", options.no_repeat_ngram,
                   "so many tokens in a row are not said twice (default: 0, they may be)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000));
  command->add_option("--suppress", options.suppressed, "a piece that is never said; once more for each")
      ->type_name("PIECE")
      ->allow_extra_args(false);  // what follows may be the file
  CLI::Option* sample = command->add_flag(
      "--sample", options.sample,
      kTranslates ? "draw tokens at random, instead of a beam" : "draw tokens at random: the default without --beam");
  const auto drawing = [&](const char* name, auto& value, const char* sentence, const char* type, auto least,
                           auto most) {
    CLI::Option* o = command->add_option(name, value, sentence)->type_name(type)->check(CLI::Range(least, most));
    if (kTranslates) o->needs(sample);
  };
  drawing("--temperature", options.temperature, "of the draws: below 1 surer, above 1 bolder (default: 1)", "T", 0.001,
          1000.0);
  drawing("--top-k", options.top_k, "draw from so many most probable tokens (default: 0, all)", "N", 0, 1 << 24);
  drawing("--top-p", options.top_p, "draw from the fewest tokens that have this share together (default: 1)", "P",
          0.0001, 1.0);
  drawing("--seed", options.seed, "of the draws (default: 1)", "N", 0, 1 << 30);
}

template void add_search_options(CLI::App* command, TranslateOptions& options);
template void add_search_options(CLI::App* command, GenerateOptions& options);

}  // namespace attune::cli
