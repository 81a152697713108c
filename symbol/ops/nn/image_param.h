#ifndef COOPER_SYMBOL_OPS_NN_IMAGE_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_IMAGE_PARAM_H_

// Arrays and parameters of _image_to_tensor and _image_normalize, the first operators of image
// networks that Gluon exports. The schemas are in image.cc. MXNet:
// src/operator/image/image_random.cc.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// _image_to_tensor: data (height, width, channels), or with batch_size in front, of any dtype with
// values from 0 to 255; the output is (channels, height, width), float32, data / 255. It has no
// parameters. _image_normalize: data and output (channels, height, width), or with batch_size in
// front, with 1 or 3 channels.
struct ImageArrays {
  enum Input { kData };
};
// The gradient of _image_to_tensor is ograd / 255 with its axes permuted back; MXNet declares the
// gradient of a copy, which is wrong. That of _image_normalize is ograd / std.
struct ImageGradientArrays {
  enum Input { kOgrad };
};

// Parameters of _image_normalize: (data - mean) / std for each channel. Each tuple has one number
// for all channels or one for each; other lengths fail with kInvalidArgument in shape inference.
struct ImageNormalizeParam {
  std::vector<float> mean = {0};
  std::vector<float> std = {1};

  // Return the mean and the standard deviation of a channel.
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
