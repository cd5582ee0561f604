// The options of a search, which several commands have.
#pragma once
#include "attune/translator.h"

namespace CLI {
class App;
}

namespace attune::cli {

/// --beam, --length-penalty, --max-length, --batch-tokens.
void add_search_options(CLI::App* command, TranslateOptions& options);

}  // namespace attune::cli
