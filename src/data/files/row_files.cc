#include "data/files/row_files.h"

#include "base/error.h"

namespace attune {

std::unique_ptr<RowReader> open_rows(const RowFiles& files, DataFormat format) {
  switch (format) {
    case DataFormat::idx:
      return open_pictures(files);
    case DataFormat::graph:
      return open_graphs(files);
    default:
      fail(ErrorKind::internal, "rows: this format holds texts");
  }
}

}  // namespace attune
