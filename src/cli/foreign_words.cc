#include "cli/foreign_words.h"

#include <fmt/core.h>

namespace attune::cli {

namespace {

struct Foreign {
  const char *option, *here;
};
/// Of training: the recipe says it.
constexpr Foreign kOfRecipes[] = {
    {"--epochs", "train.stop=10e"},
    {"--num-epochs", "train.stop=10e"},
    {"--max-epochs", "train.stop=10e"},
    {"--steps", "train.stop=5000u"},
    {"--max-steps", "train.stop=5000u"},
    {"--max-update", "train.stop=5000u"},
    {"--lr", "train.learning_rate=1e-3"},
    {"--learning-rate", "train.learning_rate=1e-3"},
    {"--batch-size", "train.batch_tokens=4096"},
    {"--max-tokens", "train.batch_tokens=4096"},
    {"--warmup", "train.warmup=1000"},
    {"--warmup-steps", "train.warmup=1000"},
    {"--dropout", "model.dropout=0.3"},
    {"--layers", "model.encoder_layers=4"},
    {"--dim", "model.d_model=256"},
    {"--seed", "train.seed=2"},
    {"--optimizer", "train.optimizer=adam"},
    {"--patience", "train.patience=10"},
};
/// Of any command.
constexpr Foreign kOfPrograms[] = {
    {"--gpu", "this runs on CPUs; --threads says how many cores"},
    {"--gpus", "this runs on CPUs; --threads says how many cores"},
    {"--cuda", "this runs on CPUs; --threads says how many cores"},
    {"--device", "this runs on CPUs; --threads says how many cores"},
    {"--fp16", "int8 is there instead: see `attune quantize`"},
    {"--half", "int8 is there instead: see `attune quantize`"},
    {"--int8", "see `attune quantize`"},
    {"-j", "--threads says how many cores"},
    {"--jobs", "--threads says how many cores"},
    {"--num-threads", "--threads says how many cores"},
    {"-m", "the model is the first word behind the command"},
    {"--model", "the model is the first word behind the command"},
    {"-i", "the file stands behind the model; - is the standard input"},
    {"--input", "the file stands behind the model; - is the standard input"},
    {"-o", "what comes out goes to the standard output: > FILE"},
    {"--output", "what comes out goes to the standard output: > FILE"},
    {"-v", "it says what it does on stderr, unless --quiet"},
    {"--verbose", "it says what it does on stderr, unless --quiet"},
};

}  // namespace

std::string foreign_option(std::string_view command, std::string_view option) {
  if (command == "train" || command == "compare")
    for (const auto& [name, here] : kOfRecipes)
      if (option == name) return fmt::format("the recipe says that: --set {}", here);
  for (const auto& [name, here] : kOfPrograms)
    if (option == name) return here;
  return "";
}

}  // namespace attune::cli
