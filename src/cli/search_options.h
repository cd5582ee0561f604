// The options of a search, which several commands have.
#pragma once
#include "attune/translator.h"

namespace CLI {
class App;
}

namespace attune::cli {

/// --beam and what belongs to it, the rules about what may be said, --sample and what belongs to that.
void add_search_options(CLI::App* command, TranslateOptions& options);

}  // namespace attune::cli
