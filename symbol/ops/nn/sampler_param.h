#ifndef COOPER_SYMBOL_OPS_NN_SAMPLER_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_SAMPLER_PARAM_H_

// Parameters of GridGenerator, BilinearSampler and SpatialTransformer.

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

struct GridGeneratorParam {
  enum Transform : uint8_t { kAffine, kWarp };

  Transform transform_type = kAffine;
  std::vector<int64_t> target_shape = {0, 0};

  static void Declare(ParamDeclaration<GridGeneratorParam>& d) {
    d.Enum("transform_type", &GridGeneratorParam::transform_type,
           {{"affine", kAffine}, {"warp", kWarp}})
        .Required()
        .Doc("whether data is a matrix for each sample or a flow for each position");
    d.Field("target_shape", &GridGeneratorParam::target_shape)
        .Doc("(height, width) of the grid, for affine");
  }
};

// Inputs: data (batch_size, channels, ...), grid (batch_size, 2, height, width).
struct BilinearSamplerArrays {
  enum Input { kData, kGrid };
};
struct BilinearSamplerGradientArrays {
  enum Input { kOgrad, kData, kGrid };
  enum Output { kDataGrad, kGridGrad };
};

struct BilinearSamplerParam {
  std::optional<bool> cudnn_off;

  static void Declare(ParamDeclaration<BilinearSamplerParam>& d) {
    d.Field("cudnn_off", &BilinearSamplerParam::cudnn_off).Doc("accepted; no meaning on cpu");
  }
};

// Inputs: data (batch_size, channels, ...), loc (batch_size, 6), the affine transformations.
struct SpatialTransformerArrays {
  enum Input { kData, kLoc };
};
struct SpatialTransformerGradientArrays {
  enum Input { kOgrad, kData, kLoc };
  enum Output { kDataGrad, kLocGrad };
};

struct SpatialTransformerParam {
  enum Transform : uint8_t { kAffine };
  enum Sampler : uint8_t { kBilinear };

  std::vector<int64_t> target_shape = {0, 0};
  Transform transform_type = kAffine;
  Sampler sampler_type = kBilinear;
  std::optional<bool> cudnn_off;

  static void Declare(ParamDeclaration<SpatialTransformerParam>& d) {
    d.Field("target_shape", &SpatialTransformerParam::target_shape)
        .Doc("(height, width) of the output");
    d.Enum("transform_type", &SpatialTransformerParam::transform_type, {{"affine", kAffine}})
        .Required()
        .Doc("how loc moves positions");
    d.Enum("sampler_type", &SpatialTransformerParam::sampler_type, {{"bilinear", kBilinear}})
        .Required()
        .Doc("how values between elements are made");
    d.Field("cudnn_off", &SpatialTransformerParam::cudnn_off).Doc("accepted; no meaning on cpu");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_SAMPLER_PARAM_H_
