#ifndef COOPER_SYMBOL_OPS_NN_UPSAMPLING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_UPSAMPLING_PARAM_H_

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs with sample_type bilinear; nearest has any number of images, and ograd in the gradient.
struct BilinearUpSamplingArrays {
  enum Input { kData, kWeight };
};
struct BilinearUpSamplingGradientArrays {
  enum Input { kOgrad, kData, kWeight };
  enum Output { kDataGrad, kWeightGrad };
};

struct UpSamplingParam {
  enum SampleType : uint8_t { kNearest, kBilinear };
  enum Mode : uint8_t { kConcat, kSum };

  int64_t scale = 1;
  int64_t num_filter = 0;
  SampleType sample_type = kNearest;
  Mode multi_input_mode = kConcat;
  int64_t num_args = 1;
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
