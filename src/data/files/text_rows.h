// The texts of rows (tsv, csv, conll) as a recipe reads them, without the answers beside them: for those who ask a
// model about such files. Unlike PairReader it gives a text for every row, an empty one too.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "data/files/pairs.h"

namespace attune {

/// What of a row is wanted.
struct WantedTexts {
  Sides sides = Sides::answers;
  bool pairs = false;  // of two sides both, with a tab between them; else the source alone
  /// Whether a row's answer is one of those that can be given.
  std::function<bool(std::string_view answer)> knows = {};
};

class TextRows {
 public:
  /// ErrorKind::recipe or ErrorKind::data when there are not the columns that the recipe names; the answers may be
  /// missing where a header tells the others. `alone`: the columns are nothing but the texts.
  TextRows(const std::string& file, const DataSettings& options, const WantedTexts& wanted, bool alone = false);

  /// False after the last one. A text of two has a tab between them.
  bool next(std::string& text);
  int64_t line() const { return records_->line(); }
  /// Which columns are read: "column 2", "columns 1 and 2".
  std::string columns_text() const;
  /// Rows that have not the columns they should have: they are read as far as they go.
  const Tally& odd() const { return odd_; }

  /// What the first rows of a file look like.
  struct Look {
    int64_t rows = 0;
    int64_t fit = 0;    // have the columns of the recipe
    int64_t known = 0;  // and an answer that can be given
    int64_t alone = 0;  // have as many columns as there are texts, and no others
  };
  static Look look(const std::string& file, const DataSettings& options, const WantedTexts& wanted);

 private:
  bool next_row();
  bool fits() const;
  bool known() const;

  std::string file_;
  DataSettings options_;
  WantedTexts wanted_;
  std::unique_ptr<RecordReader> records_;
  Columns columns_;
  std::vector<size_t> texts_;  // those of columns_ that are read
  bool alone_;
  Record row_;
  Tally odd_;
};

/// Lines that may be rows, but can be read only once: they are taken as they are, and looked at on the way.
class RowSuspicion {
 public:
  RowSuspicion() = default;
  RowSuspicion(const DataSettings& data, WantedTexts wanted);
  void look_at(const std::string& line);
  /// All that was looked at has the recipe's columns, with answers that can be given, or its header.
  bool confirmed() const { return rows_ > 0 && alike_ == rows_; }

 private:
  bool names_columns(const std::string& line) const;
  bool has_answer(const std::string& line) const;

  DataSettings data_;
  WantedTexts wanted_;
  char between_ = 0;  // 0: nothing is suspected
  Columns columns_;
  int64_t rows_ = 0, alike_ = 0;
};

}  // namespace attune
