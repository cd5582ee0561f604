// classify MODEL: a label and its probability for each line of the standard input.
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) return std::cerr << "classify MODEL < text\n", 2;
  const attune::Classifier classifier(argv[1]);
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  for (const attune::Classification& c : classifier.classify(lines)) std::cout << c.label << "\t" << c.score << "\n";
} catch (const attune::Error& e) {
  std::cerr << e.what() << "\n";
  return attune::exit_code(e.kind());
}
