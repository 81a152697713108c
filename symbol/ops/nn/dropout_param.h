#ifndef COOPER_SYMBOL_OPS_NN_DROPOUT_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_DROPOUT_PARAM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The output has data's shape; the mask has data's shape with extents of 1 along `axes`, one byte
// per element.
struct DropoutArrays {
  enum Input { kData };
  enum Output { kOutput, kMask };
};
struct DropoutGradientArrays {
  enum Input { kOgrad, kMask };
};

struct DropoutParam {
  enum Mode : uint8_t { kTraining, kAlways };

  double p = 0.5;
  Mode mode = kTraining;
  std::vector<int64_t> axes;
  std::optional<bool> cudnn_off = false;

  static void Declare(ParamDeclaration<DropoutParam>& d) {
    d.Field("p", &DropoutParam::p).Min(0).Max(1).Doc("probability of an element to become zero");
    d.Enum("mode", &DropoutParam::mode, {{"training", kTraining}, {"always", kAlways}})
        .Doc("whether elements are dropped in training only");
    d.Field("axes", &DropoutParam::axes).Doc("axes along which the mask is one");
    d.Field("cudnn_off", &DropoutParam::cudnn_off).Doc("accepted; no meaning on cpu");
  }

  // Whether a run drops elements; otherwise output equals data.
  bool Drops(bool is_train) const { return p > 0 && (is_train || mode == kAlways); }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_DROPOUT_PARAM_H_
