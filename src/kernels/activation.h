// Activation functions, by name. The vector forms are in kernels/activation_math.h.
#pragma once
#include <cstdint>

namespace attune {

/// gelu is the exact one (erf), gelu_tanh its approximation, swish is x sigmoid(x).
enum class Activation : uint8_t { none, relu, gelu, gelu_tanh, swish, tanh, sigmoid };

}  // namespace attune
