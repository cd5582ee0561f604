// train RECIPE MODEL: trains, and tells how it goes; the same command goes on after a stop.
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 3) return std::cerr << "train RECIPE MODEL\n", 2;
  attune::Trainer trainer({.recipe = argv[1], .out = argv[2], .sets = {}});
  attune::TrainingEvents events;
  events.on_validation = [](const attune::ValidationResult& v) {
    std::cout << "update " << v.update << ": " << v.metric << " " << v.score << std::endl;
  };
  const attune::TrainingOutcome o = trainer.run(events);
  std::cout << o.metric << " " << o.final_score << " after " << o.updates << " updates\n";
} catch (const attune::Error& e) {
  std::cerr << e.what() << "\n";
  return attune::exit_code(e.kind());
}
