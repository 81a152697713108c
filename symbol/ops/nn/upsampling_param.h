#ifndef COOPER_SYMBOL_OPS_NN_UPSAMPLING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_UPSAMPLING_PARAM_H_

// Arrays and parameters of UpSampling, which enlarges images by an integer factor. The schema is in
// upsampling.cc. _contrib_BilinearResize2D resizes to any size. MXNet:
// src/operator/nn/upsampling.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs with sample_type bilinear: data (batch_size, channels, height, width) and weight
// (channels, 1, kernel, kernel). nearest has any number of images arg0, arg1, ...
struct BilinearUpSamplingArrays {
  enum Input { kData, kWeight };
};
// Arrays of the gradients with sample_type bilinear; with nearest only ograd is an input, and each
// pixel gets the sum over its copies.
struct BilinearUpSamplingGradientArrays {
  enum Input { kOgrad, kData, kWeight };
  enum Output { kDataGrad, kWeightGrad };
};

// nearest: each pixel becomes scale x scale copies. Further images are enlarged to the first one's
// result by integer factors of their own, and concatenated along channels or added. bilinear: a
// depthwise Deconvolution with stride `scale`; it interpolates if the weight has the initializer
// Bilinear, which is the user's choice.
struct UpSamplingParam {
  enum SampleType : uint8_t { kNearest, kBilinear };
  enum Mode : uint8_t { kConcat, kSum };

  int64_t scale = 1;
  // No effect: the number of channels is data's.
  int64_t num_filter = 0;
  SampleType sample_type = kNearest;
  // The treatment of several images, with nearest; kSum needs equal numbers of channels.
  Mode multi_input_mode = kConcat;
  // Number of images, with nearest; 1 or 2 with bilinear, as MXNet writes it.
  int64_t num_args = 1;
  // No effect.
  int64_t workspace = 512;

  static void Declare(ParamDeclaration<UpSamplingParam>& d) {
    d.Field("scale", &UpSamplingParam::scale)
        .Required()
        .Min(1)
        .Max(1 << 30)
        .Doc("how many times larger");
    d.Field("num_filter", &UpSamplingParam::num_filter)
        .Doc("channels, for bilinear; taken from data");
    d.Enum("sample_type", &UpSamplingParam::sample_type,
           {{"nearest", kNearest}, {"bilinear", kBilinear}})
        .Required()
        .Doc("copies of elements, or a transposed convolution with the input weight");
    d.Enum("multi_input_mode", &UpSamplingParam::multi_input_mode,
           {{"concat", kConcat}, {"sum", kSum}})
        .Doc("what becomes of several inputs, each scaled to one size");
    d.Field("num_args", &UpSamplingParam::num_args).Min(1).Doc("number of inputs");
    d.Field("workspace", &UpSamplingParam::workspace).Doc("accepted; memory is planned");
  }

  // Returns the kernel size of bilinear's weight: (channels, 1, kernel, kernel).
  int64_t kernel() const { return 2 * scale - scale % 2; }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_UPSAMPLING_PARAM_H_
