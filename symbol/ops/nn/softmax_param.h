#ifndef COOPER_SYMBOL_OPS_NN_SOFTMAX_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_SOFTMAX_PARAM_H_

// Arrays and parameters of softmax, softmin, log_softmax and the deprecated SoftmaxActivation. The
// schemas are in softmax.cc; executor/kernels/softmax/softmax_row.h has the vectorised row.
// SoftmaxOutput (symbol/ops/loss) is a softmax with a loss. MXNet: src/operator/nn/softmax.cc.

#include <cstdint>
#include <optional>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of softmax, softmin and log_softmax. length has data's shape without the axis, (1,) for a
// vector, and any dtype; only with use_length.
struct SoftmaxArrays {
  enum Input { kData, kLength };
};
// Inputs of the gradients, which need the output y but not data: softmax's is (g - sum(g * y)) * y
// / temperature, log_softmax's (g - exp(y) * sum(g)) / temperature, softmin's the negative of
// softmax's, each with the sum along the axis.
struct SoftmaxGradientArrays {
  enum Input { kOgrad, kOutput, kLength };
};

// softmax is exp(x) / sum of exp(x) along the axis, with x = data / temperature; the greatest
// element is subtracted first, so exp does not overflow. softmin takes -data, log_softmax is the
// logarithm of softmax, computed without the quotient.
struct SoftmaxParam {
  int64_t axis = -1;
  // The divisor of data; None means 1.
  std::optional<double> temperature;
  // Dtype of the output, so that float16 data can give a float32 output; None is data's.
  std::optional<DType> dtype;
  // Whether elements of the axis from length on are left out of the sum. Their outputs and
  // gradients are 0.
  std::optional<bool> use_length = false;

  static void Declare(ParamDeclaration<SoftmaxParam>& d) {
    d.Field("axis", &SoftmaxParam::axis).Doc("the axis that sums to 1");
    d.Field("temperature", &SoftmaxParam::temperature).Doc("what data is divided by first");
    d.Field("dtype", &SoftmaxParam::dtype).Doc("of the output; data's if None");
    d.Field("use_length", &SoftmaxParam::use_length)
        .Doc("whether elements from the input length on are left out");
  }

  bool has_length() const { return use_length.value_or(false); }
};

// Parameters of SoftmaxActivation: softmax over the last axis (instance) or over axis 1 (channel).
// As in MXNet 1.9.1 the gradient is always that over axis 1, which is wrong in mode instance for
// more than two axes; softmax has the correct one.
struct SoftmaxActivationParam {
  enum Mode : uint8_t { kInstance, kChannel };

  Mode mode = kInstance;

  static void Declare(ParamDeclaration<SoftmaxActivationParam>& d) {
    d.Enum("mode", &SoftmaxActivationParam::mode, {{"instance", kInstance}, {"channel", kChannel}})
        .Doc("whether classes are the last axis or axis 1");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_SOFTMAX_PARAM_H_
