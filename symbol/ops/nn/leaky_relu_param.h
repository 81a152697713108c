#ifndef COOPER_SYMBOL_OPS_NN_LEAKY_RELU_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_LEAKY_RELU_PARAM_H_

#include <algorithm>
#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs and outputs; gamma is an input of prelu, the mask an output of rrelu.
struct LeakyReLUArrays {
  enum Input { kData, kGamma };
  enum Output { kOutput, kMask };
};
struct LeakyReLUGradientArrays {
  // The value is the output or data (LeakyReluParam::gradient_takes_data).
  enum Input { kOgrad, kValue, kMaskOrGamma };
  enum Output { kDataGrad, kGammaGrad };
};

struct LeakyReluParam {
  enum Type : uint8_t { kLeaky, kPrelu, kRrelu, kElu, kSelu, kGelu };

  Type act_type = kLeaky;
  double slope = 0.25;
  double lower_bound = 0.125;
  double upper_bound = 0.334;

  // Most slopes follow from the output. Those of gelu and prelu do not, and if the slope of
  // negative elements is negative itself, all outputs are positive.
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
