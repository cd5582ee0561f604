// translate MODEL: lines of the standard input, translated as they come.
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) return std::cerr << "translate MODEL < text\n", 2;
  const attune::Translator translator(argv[1]);
  for (std::string line; std::getline(std::cin, line);)
    std::cout << translator.translate(line, {.beam = 5}).text << std::endl;
} catch (const attune::Error& e) {
  std::cerr << e.what() << "\n";
  return attune::exit_code(e.kind());
}
