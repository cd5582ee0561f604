// A program of somebody else: compiled against the installed library by run.sh.
#include <attune/attune.h>

#include <iostream>

int main() {
  const attune::Machine machine = attune::describe_machine();
  std::cout << "attune " << attune::version() << " uses " << machine.isa << "\n";
  int lines = 0;
  const auto tokenizer = attune::Tokenizer::train([&](std::string& line) { return line = "a bee", lines++ < 3; });
  if (tokenizer.decode(tokenizer.encode("a bee")) != "a bee") return 1;
  return attune::bench_gemm({.shapes = {{8, 8, 8}}, .seconds = 0.01}).size() == 3 ? 0 : 1;
}
