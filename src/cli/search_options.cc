#include "cli/search_options.h"

#include <CLI/CLI.hpp>

namespace attune::cli {

void add_search_options(CLI::App* command, TranslateOptions& options) {
  command->add_option("--beam", options.beam, "hypotheses kept at each step; 1 is greedy (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--length-penalty", options.length_penalty, "score = log p / ((5 + length) / 6)^this (default: 0.6)")
      ->type_name("A")
      ->check(CLI::Range(-10.0, 10.0));
  command
      ->add_option("--max-length", options.max_length,
                   "tokens of a translation (default: twice those of the line, plus 10)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--batch-tokens", options.batch_tokens,
                   "tokens translated at the same time, times the beam (default: 4096)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24));
}

}  // namespace attune::cli
