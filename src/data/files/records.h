// Rows of fields: files with columns, row by row. Tab-separated lines, comma-separated values as RFC 4180 has them, and
// sentences of CoNLL files. PairReader makes pairs of them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/data_files.h"
#include "data/files/line_reader.h"

namespace attune {

using Record = std::vector<std::string_view>;

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  /// The next row, valid until the next call; false after the last one. A line without anything on it is a row of one
  /// empty field. ErrorKind::data with file and line for what can't be read.
  virtual bool next(Record& row) = 0;
  /// The line where the last row begins, from 1.
  virtual int64_t line() const = 0;
};

/// A file of data.format tsv, csv or conll. A line end within quotes becomes a space, so that a field is a line. A
/// sentence of conll is a row: column by column, its words' entries joined by spaces ("_" where an entry has spaces);
/// comments, empty nodes, the spans of several words and the marks of documents (-DOCSTART-) are passed over.
std::unique_ptr<RecordReader> open_records(const std::string& file, const DataSettings& options);

/// What separates the fields of tsv and csv files: data.delimiter, or the format's own.
char delimiter_of(const DataSettings& options);

/// Which columns of a file are what.
struct Columns {
  std::vector<size_t> text;  // source and target, or one text; a text or two, and the answer
  bool open = false;         // the next column may be the second of two texts
  int weight = -1;           // -1: none
  size_t count = 0;          // how many a row must have; 0: as many as it takes
  size_t needed() const;     // the least that has all of these
};
/// As data.columns and, where the file has one, its `header` say. ErrorKind::recipe or ErrorKind::data (with `place`,
/// of the header) when that does not tell.
Columns find_columns(const DataSettings& options, Sides sides, const Record* header, const std::string& place);

}  // namespace attune
