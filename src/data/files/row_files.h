// Files whose examples are no texts but rows of numbers: pictures (data.format = "idx") and graphs ("graph"). Each kind
// is a reader in a file of its own.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/files/layout.h"
#include "data/files/row_shape.h"
#include "recipe/settings.h"

namespace attune {

/// One example.
struct RowExample {
  Rows source;                              // one sequence
  std::vector<std::string> answers = {};    // labels: one, or one for each row; none where they are not asked for
  std::vector<float> weights = {};          // of the answers; none: 1 each. What counts 0 need not be known
  std::string name;                         // "t10k-images.gz:17"
  std::vector<std::string> row_names = {};  // of rows that have an answer each
  std::string content;                      // what makes it this example: equal ones are copies
};

class RowReader {
 public:
  virtual ~RowReader() = default;
  /// False after the last one. ErrorKind::data, with the file, for what can't be read.
  virtual bool next(RowExample& example) = 0;
  /// Of all examples, known before the first is read.
  virtual RowShape shape() const = 0;
  /// How sources lie in a corpus, and answers where they are more than a label.
  virtual Layout source_layout() const = 0;
  virtual Layout target_layout() const { return {}; }
  /// Rows get so many numbers at least, where missing ones are zeros: as a model was trained with.
  virtual void widen(int64_t /*width*/) {}
};

/// The files of `key` ("data.train"), with their answers or without. ErrorKind::recipe when one is missing.
struct RowFiles {
  std::vector<std::string> files;
  std::string key;
  bool answers = true;
  bool of_train = false;  // graphs: they are those of data.train, of which other nodes are meant
};
std::unique_ptr<RowReader> open_rows(const RowFiles& files, DataFormat format);
/// data/pictures.cc: IDX files, pictures and labels in turn.
std::unique_ptr<RowReader> open_pictures(const RowFiles& files);
/// data/graphs.cc: tables of nodes and edges in turn.
std::unique_ptr<RowReader> open_graphs(const RowFiles& files);

}  // namespace attune
