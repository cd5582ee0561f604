// The seam where recurrent cells plug in: a state and an input make the next state. One file per cell, one line in
// cells.inc; a recipe names it: model.kind = { kind = "rnn", cell = "gru" }.
//
// What an input says to a cell are its gates: one product for all rows, made before the first step, to which a decoder
// adds what it has read at each step.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/layers/linear.h"
#include "tensor/step_order.h"

namespace attune {

struct CellSetup {
  int64_t in = 0, width = 0;  // numbers of an input, and of what the cell puts out
};

/// A cell taken through steps, whose state is [rows, state_width].
class CellSteps {
 public:
  virtual ~CellSteps() = default;
  /// The states after a step: `gates` of the rows `index` of all; the first rows of `state` go on, which may have more.
  virtual Var operator()(Ctx& ctx, const Var& gates, const Var& state, std::span<const int32_t> index) const = 0;
};

class Cell {
 public:
  virtual ~Cell() = default;
  /// Of inputs [n, in]: [n, gate_columns].
  virtual Var gates(const Pass& pass, const Var& x) const = 0;
  virtual int64_t gate_columns() const = 0;
  virtual int64_t state_width() const = 0;
  /// What it puts out in such states, [rows, width].
  virtual Var output(const Pass& pass, const Var& state) const = 0;
  /// Whole packed sequences in one operation, from the states `first` (missing: zeros): what it puts out, [n, width].
  virtual Var run(const Pass& pass, const Var& gates, const Var& first,
                  const std::shared_ptr<const StepOrder>& order) const = 0;
  /// Steps of so many rows in all.
  virtual std::unique_ptr<CellSteps> steps(const Pass& pass, int64_t rows) const = 0;
  /// Numbers of weights that a row is multiplied by, those of the gates too.
  virtual double multiplied_weights() const = 0;
};

struct CellKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cite;
};
/// All there are, in the order of cells.inc.
const std::vector<CellKind>& cell_kinds();
/// ErrorKind::recipe, naming the key, for one that is not known.
std::unique_ptr<Cell> make_cell(const std::string& name, const CellSetup& setup, const Blueprint& b,
                                const std::string& key);

}  // namespace attune
