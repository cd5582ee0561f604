#include "model/heads/vectors.h"

#include <bit>

#include "base/error.h"

namespace attune {

Var VectorsHead::loss(const Pass& pass, const HeadInput& in, const LossOptions& options) const {
  const Rows& right = in.wanted->right;
  check(right.rows() == in.x.rows(), "vectors", "{} vectors are wanted of {} rows", right.rows(), in.x.rows());
  VectorLoss l{scores(pass, in)};
  l.targets = right.value_tensor();
  l.distance = distance_;
  l.scale = options.scale;
  l.weights = in.wanted->weight_tensor();
  return vector_loss(pass.ctx, l);
}

std::vector<int32_t> VectorsHead::answers(const Pass&, const Tensor& scores, const Tensor&) const {
  std::vector<int32_t> all;
  for (int64_t i = 0; i < scores.rows(); ++i)
    for (int64_t j = 0; j < scores.cols(); ++j) all.push_back(std::bit_cast<int32_t>(scores.row<float>(i)[j]));
  return all;
}

}  // namespace attune
