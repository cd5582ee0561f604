// The seam where inputs plug in: what becomes of ids, or of vectors, before the first layer. One file per kind, one
// line in kinds.inc.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/encoder.h"
#include "model/family.h"
#include "model/position/scheme.h"
#include "tensor/grids.h"

namespace attune {

/// Where an input stands.
struct InputSetup {
  const SideSetup& side;
  bool decoder = false;
  /// Whether what comes out of its side becomes words, not answers about what was read.
  bool writes() const {
    return decoder && (side.options.shape != ModelShape::decoder || side.options.head.kind.empty());
  }
  int64_t vocabulary() const { return writes() ? side.sizes.target_vocabulary : side.sizes.source_vocabulary; }
};

class Input {
 public:
  /// `grid`: of the places of its rows, as ModelSizes has those of the data.
  Input(const InputSetup& setup, const Blueprint& b, const std::vector<int64_t>& grid = {});
  virtual ~Input() = default;
  /// Rows of d_model numbers. `offsets`: of each sequence, the position of its first row; none: 0.
  virtual Encoded operator()(const Pass& pass, const Rows& rows, std::span<const int32_t> offsets = {}) const = 0;
  /// The parameter of the vectors of words, [V, d_model]; -1 where there are none.
  virtual int embedding() const { return -1; }

  /// Rows that come out for each that is read, about.
  virtual double rows_per_row() const { return 1; }
  /// Weights that each row that is read is multiplied by.
  virtual double multiplied_weights() const { return 0; }

  /// How rows learn where they stand, and its name.
  const PositionScheme& position() const { return *position_; }
  const std::string& position_name() const { return position_name_; }

 protected:
  /// Positions are added, and some of it is dropped.
  Var placed(const Pass& pass, const Var& x, const Rows& rows, std::span<const int32_t> offsets) const;

  std::string position_name_;
  std::unique_ptr<PositionScheme> position_;
  float rate_, word_rate_;
  uint64_t site_;
};

/// The vectors that came with the data, [n, width], in the type that the pass computes in.
Var values_of(const Pass& pass, const Rows& rows);
/// The grids that places on two axes stand for. ErrorKind::usage where they are none.
Grids grids_of(const Rows& rows);
/// Rows of such grids, with their places; they live until the backward pass is over. `from`: what they were made of.
std::shared_ptr<const Rows> rows_of_grids(const Pass& pass, const Grids& grids, const Rows& from);

/// The sites of whole words that are dropped, beside those of single numbers.
constexpr uint64_t whole_words(uint64_t site) { return site ^ (uint64_t{1} << 62); }

struct InputKind {
  const char* name;
  const char* sentence;
  const char* formula;
  const char* cite;
  bool words = false;  // it reads ids, not vectors
  bool grids = false;  // it reads vectors with places on two axes alone
};
/// All there are, in the order of kinds.inc.
const std::vector<InputKind>& input_kinds();
/// The options of each of them, with their defaults.
const std::vector<Fields>& input_options();

/// Makes the one that the recipe chose for a side: model.input, or model.source_input and model.target_input.
/// ErrorKind::recipe for a kind or options there are not, and for one that can't read what the data has.
std::unique_ptr<Input> make_input(const InputSetup& setup, const Blueprint& b);

}  // namespace attune
