#ifndef COOPER_SYMBOL_OPS_NN_IMAGE_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_IMAGE_PARAM_H_

// Parameters of _image_to_tensor and _image_normalize, the first operators of image networks that
// Gluon exports.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

struct ImageArrays {
  enum Input { kData };
};
struct ImageGradientArrays {
  enum Input { kOgrad };
};

struct ImageNormalizeParam {
  std::vector<float> mean = {0};
  std::vector<float> std = {1};

  // The mean and the standard deviation of a channel.
  float mean_of(int64_t channel) const { return Of(mean, channel); }
  float std_of(int64_t channel) const { return Of(std, channel); }

  static void Declare(ParamDeclaration<ImageNormalizeParam>& d) {
    d.Field("mean", &ImageNormalizeParam::mean)
        .Doc("what is subtracted: a number for each channel, or one for all");
    d.Field("std", &ImageNormalizeParam::std)
        .Doc("what the difference is divided by: a number for each channel, or one for all");
  }

 private:
  static float Of(const std::vector<float>& values, int64_t channel) {
    return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_IMAGE_PARAM_H_
