#ifndef COOPER_SYMBOL_OPS_NN_DROPOUT_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_DROPOUT_PARAM_H_

// Arrays and parameters of Dropout (Srivastava et al., Dropout, 2014). The schema is in dropout.cc,
// the draws in executor/kernels/random/dropout_mask.h. MXNet: src/operator/nn/dropout.cc.

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The output has data's shape; the mask, a hidden output for the gradient, has data's shape with
// extents of 1 along `axes`, uint8: 1 for kept elements, 0 for dropped ones. MXNet's mask has
// data's dtype.
struct DropoutArrays {
  enum Input { kData };
  enum Output { kOutput, kMask };
};
// The gradient of data is ograd * mask / (1 - p), and ograd itself if p is 0.
struct DropoutGradientArrays {
  enum Input { kOgrad, kMask };
};

// In training each element becomes 0 with probability p, and the others are divided by 1 - p, which
// keeps the mean. In prediction the output is data. An element's draw depends on the node's random
// stream and its position alone, so results do not depend on the number of threads; they differ
// from MXNet's.
struct DropoutParam {
  enum Mode : uint8_t { kTraining, kAlways };

  // Probability of an element to become 0, in [0, 1].
  double p = 0.5;
  // kAlways drops elements in prediction too, for example for Monte Carlo estimates.
  Mode mode = kTraining;
  // Axes along which all elements share one draw: (0, 2) on data (batch, length, features) drops
  // whole features.
  std::vector<int64_t> axes;
  // No effect; None is accepted because MXNet writes it.
  std::optional<bool> cudnn_off = false;

  static void Declare(ParamDeclaration<DropoutParam>& d) {
    d.Field("p", &DropoutParam::p).Min(0).Max(1).Doc("probability of an element to become zero");
    d.Enum("mode", &DropoutParam::mode, {{"training", kTraining}, {"always", kAlways}})
        .Doc("whether elements are dropped in training only");
    d.Field("axes", &DropoutParam::axes).Doc("axes along which the mask is one");
    d.Field("cudnn_off", &DropoutParam::cudnn_off).Doc("accepted; no meaning on cpu");
  }

  // Returns whether a run drops elements; otherwise the output equals data.
  bool Drops(bool is_train) const { return p > 0 && (is_train || mode == kAlways); }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_DROPOUT_PARAM_H_
