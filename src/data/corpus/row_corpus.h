// Examples that are rows of numbers (data/row_files.h) on their way into a corpus, as text is encoded on its own.
#pragma once
#include <functional>
#include <string>

#include "data/corpus/corpus.h"
#include "data/files/row_files.h"

namespace attune {

/// What was read.
struct RowsRead {
  PairReport report;
  std::string content_hash;
  Layout source, target;
};

/// Called with each example, in order, and those of its answers that count, blanks between them.
using OnRows = std::function<void(const RowExample& example, const std::string& answer)>;

/// ErrorKind::data when rows are not as encoders.rows says, or a label that counts is not known.
RowsRead encode_rows(const RowFiles& files, DataFormat format, const Encoders& encoders, const OnRows& on_rows,
                     CorpusSink& to);
/// As read_corpus.
LoadedCorpus read_row_corpus(const RowFiles& files, DataFormat format, const Encoders& encoders, const OnPair& on_pair);
/// ErrorKind::data where rows are not such as a model knows; `key` names their files.
void check_row_shape(const RowShape& rows, const RowShape& known, const std::string& key);
/// What the rows of these files are.
RowShape learn_row_shape(const DataSettings& data);

}  // namespace attune
