#ifndef COOPER_SYMBOL_OPS_NN_SOFTMAX_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_SOFTMAX_PARAM_H_

#include <cstdint>
#include <optional>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of softmax, softmin and log_softmax.
struct SoftmaxArrays {
  enum Input { kData, kLength };
};
struct SoftmaxGradientArrays {
  enum Input { kOgrad, kOutput, kLength };
};

struct SoftmaxParam {
  int64_t axis = -1;
  std::optional<double> temperature;
  std::optional<DType> dtype;
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
