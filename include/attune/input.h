// What somebody hands to a model, line by line: a file of lines; a file of rows (csv, tsv, conll) as the model's recipe
// reads them, without the answers that stand beside the texts; or the text itself, where there is no such file.
//
//   attune::InputTexts texts("model-dir", "reviews.csv");
//   for (std::string text; texts.next(text);) ...
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace attune {

struct InputOptions {
  /// "lines", "tsv", "csv", "conll"; "auto": rows where the recipe has such, and the file is named so or its rows have
  /// the recipe's columns with answers that the model knows; else lines.
  std::string format = "auto";
  bool pairs = false;  // of models that translate: the source, a tab and the translation
  /// What else could be meant by a file that is not there; the last part of the message.
  std::string advice = {};
};

class InputTexts {
 public:
  /// `input` is the name of a file, plain or compressed by gzip; "-" is stdin; or a text. What is no file and looks
  /// like the name of one ("texts/a.txt") is ErrorKind::io. `model` may be several, separated by commas.
  InputTexts(const std::string& model, const std::string& input, const InputOptions& options = {});
  InputTexts(InputTexts&&) noexcept;
  ~InputTexts();

  /// False at the end. Throws as TextLines does.
  bool next(std::string& text);
  /// Whether next() returns without waiting for whoever writes to stdin.
  bool ready() const;
  /// Read so far.
  int64_t count() const;
  /// "FILE:LINE" of the text just read.
  std::string place() const;
  /// A sentence on what the input was taken for; "" for lines of a file.
  const std::string& how() const;
  /// A sentence for each thing worth telling about what was read: letters that are broken, rows that have other
  /// columns.
  std::vector<std::string> notes() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune
