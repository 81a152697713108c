#ifndef COOPER_SYMBOL_OPS_NN_LEAKY_RELU_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_LEAKY_RELU_PARAM_H_

// Arrays and parameters of LeakyReLU, rectifiers with a slope for negative elements and their
// relatives. The schema is in leaky_relu.cc; Activation (symbol/ops/elemwise) has the functions
// without parameters. MXNet: src/operator/leaky_relu.cc.

#include <algorithm>
#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs and outputs; gamma is an input of prelu, the mask an output of rrelu. gamma broadcasts
// against the first two axes of data; an unknown gamma becomes (channels,), with the initial value
// 0.25. Output and mask have data's shape.
struct LeakyReLUArrays {
  enum Input { kData, kGamma };
  enum Output { kOutput, kMask };
};
// Arrays of the gradients; kGammaGrad is an output for prelu only.
struct LeakyReLUGradientArrays {
  // The value is the output or data (LeakyReluParam::gradient_takes_data).
  enum Input { kOgrad, kValue, kMaskOrGamma };
  enum Output { kDataGrad, kGammaGrad };
};

// Each function is x for x > 0, except gelu and the factor of selu; for other x it is
//
//   leaky  slope * x
//   prelu  gamma * x, with a trained gamma (He et al., Delving Deep into Rectifiers, 2015)
//   rrelu  s * x, s uniform in [lower_bound, upper_bound) in training, else their mean
//   elu    slope * (exp(x) - 1)
//   selu   1.0507... * (1.6733... * (exp(x) - 1)); 1.0507... * x for x > 0 (Klambauer et al., 2017)
//   gelu   x * (1 + erf(x / sqrt(2))) / 2, for all x
struct LeakyReluParam {
  enum Type : uint8_t { kLeaky, kPrelu, kRrelu, kElu, kSelu, kGelu };

  Type act_type = kLeaky;
  // Slope of leaky, and factor of elu.
  double slope = 0.25;
  // Range of rrelu's slopes; each element draws its own, and the mask keeps them for the gradient.
  double lower_bound = 0.125;
  double upper_bound = 0.334;

  // Returns whether the gradient needs data; otherwise it needs the output, and data need not be
  // kept. Mostly the sign of the output tells which slope applied. It does not for gelu and prelu,
  // nor if the slope of negative elements is negative itself, since all outputs are then positive.
  bool gradient_takes_data() const {
    switch (act_type) {
      case kLeaky:
      case kElu:
        return slope < 0;
      case kRrelu:
        return std::min(lower_bound, upper_bound) < 0;
      case kSelu:
        return false;
      case kPrelu:
      case kGelu:
        return true;
    }
    return true;
  }

  static void Declare(ParamDeclaration<LeakyReluParam>& d) {
    d.Enum("act_type", &LeakyReluParam::act_type,
           {{"leaky", kLeaky},
            {"prelu", kPrelu},
            {"rrelu", kRrelu},
            {"elu", kElu},
            {"selu", kSelu},
            {"gelu", kGelu}})
        .Doc("the function");
    d.Field("slope", &LeakyReluParam::slope).Doc("of negative elements, for leaky and elu");
    d.Field("lower_bound", &LeakyReluParam::lower_bound).Doc("least random slope, for rrelu");
    d.Field("upper_bound", &LeakyReluParam::upper_bound).Doc("greatest random slope, for rrelu");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_LEAKY_RELU_PARAM_H_
