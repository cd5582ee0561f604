// Tokens of one text that come one by one, told as text: what is complete and will not change any more.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace attune {

/// Ids as text; line ends (kEnd) of one that has several lines are told.
std::string text_of(const text::Tokenizer& tokenizer, std::span<const int32_t> ids);

class TextStream {
 public:
  /// `given` is what was there before, of which nothing is told. The text ends before `stop`, unless that is empty.
  TextStream(const text::Tokenizer& tokenizer, std::vector<int32_t> given, std::string stop = {});

  /// What the text becomes longer by.
  std::string add(int32_t id);
  /// It came to the stop.
  bool stopped() const { return stopped_; }

 private:
  const text::Tokenizer* tokenizer_;
  std::vector<int32_t> ids_;
  std::string stop_;
  size_t given_ = 0;  // bytes of text
  size_t told_ = 0;   // bytes of text, with those given
  bool stopped_ = false;
};

}  // namespace attune
