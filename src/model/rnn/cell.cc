#include "model/rnn/cell.h"

#include "model/kinds.h"
#include "model/rnn/gru.h"

namespace attune {

namespace {

using MakeCell = std::unique_ptr<Cell> (*)(const CellSetup&, const Blueprint&);

template <class T>
std::unique_ptr<Cell> make(const CellSetup& setup, const Blueprint& b) {
  return std::make_unique<T>(setup, b);
}

constexpr MakeCell kCellMakers[] = {
#define CELL(type) make<type>,
#include "model/rnn/cells.inc"
#undef CELL
};

}  // namespace

const std::vector<CellKind>& cell_kinds() {
  static const std::vector<CellKind> kinds{
#define CELL(type) type::kKind,
#include "model/rnn/cells.inc"
#undef CELL
  };
  return kinds;
}

std::unique_ptr<Cell> make_cell(const std::string& name, const CellSetup& setup, const Blueprint& b,
                                const std::string& key) {
  return kCellMakers[find_kind(cell_kinds(), {name}, key)](setup, b);
}

}  // namespace attune
