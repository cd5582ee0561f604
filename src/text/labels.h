// The labels a model can give, and the file they live in: FOLDER/labels.txt, UTF-8, one thing per line:
//
//   attune labels 1              what it is, and the version of this format
//   size = 4                     so many follow, the first one being number 0
//   World                        the labels, as the training data has them, the most frequent first
//   ...
//   hash = 0123456789abcdef      XXH3 of all lines above
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attune::text {

class Labels {
 public:
  static constexpr const char* kFile = "labels.txt";
  static constexpr int32_t kUnseen = -1;

  /// ErrorKind::model for labels that are empty, have line ends, or come twice.
  explicit Labels(std::vector<std::string> names);
  /// Counted: the most frequent first, of equals the first by their bytes.
  static Labels of_counts(const std::map<std::string, int64_t>& counts);
  /// ErrorKind::model, with the line, when the file is not as it should be.
  static Labels load(const std::string& folder);
  void save(const std::string& folder) const;

  int32_t size() const { return static_cast<int32_t>(names_.size()); }
  const std::string& name(int32_t number) const { return names_[static_cast<size_t>(number)]; }
  /// kUnseen for what is none.
  int32_t number(std::string_view name) const;
  uint64_t hash() const { return hash_; }

 private:
  std::string body() const;
  std::vector<std::string> names_;
  std::map<std::string, int32_t, std::less<>> numbers_;
  uint64_t hash_ = 0;
};

}  // namespace attune::text
