#ifndef COOPER_SYMBOL_OPS_NN_SAMPLER_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_SAMPLER_PARAM_H_

// Arrays and parameters of GridGenerator, BilinearSampler and SpatialTransformer, which runs the
// two in one (Jaderberg et al., Spatial Transformer Networks, 2015). The schemas are in sampler.cc,
// the positions in executor/kernels/resample/grid_source.h. MXNet: src/operator/grid_generator.cc,
// bilinear_sampler.cc, spatial_transformer.cc.
//
// A grid is (batch_size, 2, height, width): x, then y, of the source of each output position, from
// -1, the center of the first pixel, to 1, that of the last.

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of GridGenerator, which makes a grid. affine: data (batch_size, 6) has the rows of a
// matrix (2, 3), which is applied to (x, y, 1) of each position. warp: data (batch_size, 2, height,
// width) is a flow in pixels, which is added to each position.
struct GridGeneratorParam {
  enum Transform : uint8_t { kAffine, kWarp };

  Transform transform_type = kAffine;
  // (height, width) of the grid, for affine; both must be above 0.
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

// Inputs: data (batch_size, channels, h, w), grid (batch_size, 2, height, width). The output is
// (batch_size, channels, height, width): data at the grid's positions, interpolated between the
// four neighbouring pixels; pixels outside of the image count as 0.
struct BilinearSamplerArrays {
  enum Input { kData, kGrid };
};
// Arrays of the gradients of data and of the grid. That of the grid is by the grid's own
// coordinates, from -1 to 1, not by pixels.
struct BilinearSamplerGradientArrays {
  enum Input { kOgrad, kData, kGrid };
  enum Output { kDataGrad, kGridGrad };
};

// cudnn_off has no effect.
struct BilinearSamplerParam {
  std::optional<bool> cudnn_off;

  static void Declare(ParamDeclaration<BilinearSamplerParam>& d) {
    d.Field("cudnn_off", &BilinearSamplerParam::cudnn_off).Doc("accepted; no meaning on cpu");
  }
};

// Inputs: data (batch_size, channels, h, w), loc (batch_size, 6), the affine matrices. The output
// is (batch_size, channels, target_shape...).
struct SpatialTransformerArrays {
  enum Input { kData, kLoc };
};
// Arrays of the gradients of data and of the matrices. That of a matrix is a sum over all positions
// of the output and all channels.
struct SpatialTransformerGradientArrays {
  enum Input { kOgrad, kData, kLoc };
  enum Output { kDataGrad, kLocGrad };
};

// Parameters of SpatialTransformer. affine and bilinear are the only values of their enumerations,
// in MXNet too.
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
