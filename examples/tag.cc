// tag MODEL: the spans that a model finds in sentences of the standard input; of one that has none, its labels.
#include <attune/attune.h>

#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) return std::cerr << "tag MODEL < sentences\n", 2;
  const attune::Tagger tagger(argv[1]);
  for (std::string line; std::getline(std::cin, line);) {
    const attune::TaggedText t = tagger.tag(line);
    for (const attune::TaggedSpan& s : t.spans) {
      for (int64_t i = s.first; i <= s.last; ++i) std::cout << t.words[static_cast<size_t>(i)].word << " ";
      std::cout << "= " << s.label << "\n";
    }
    for (const attune::TaggedWord& w : t.words)
      if (t.spans.empty()) std::cout << w.word << "/" << w.label << " ";
    std::cout << std::endl;
  }
} catch (const attune::Error& e) {
  std::cerr << e.what() << "\n";
  return attune::exit_code(e.kind());
}
