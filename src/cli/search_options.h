// The options of a search, which several commands have.
#pragma once
#include "attune/generator.h"
#include "attune/translator.h"

namespace CLI {
class App;
}

namespace attune::cli {

/// --beam and what belongs to it, the rules about what may be said, --sample and what belongs to that: of
/// TranslateOptions or GenerateOptions.
template <class Options>
void add_search_options(CLI::App* command, Options& options);

}  // namespace attune::cli
