// generate MODEL PROMPT: a language model goes on, shown as it comes.
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 3) return std::cerr << "generate MODEL PROMPT\n", 2;
  const attune::Generator generator(argv[1]);
  attune::GenerateOptions options;
  options.temperature = 0.8;
  options.max_length = 200;
  options.on_token = [](const attune::StreamedToken& t) {
    std::cout << t.text << std::flush;
    return true;
  };
  std::cout << argv[2];
  generator.generate(argv[2], options);
  std::cout << std::endl;
} catch (const attune::Error& e) {
  std::cerr << e.what() << "\n";
  return attune::exit_code(e.kind());
}
