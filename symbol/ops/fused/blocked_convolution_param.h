#ifndef COOPER_SYMBOL_OPS_FUSED_BLOCKED_CONVOLUTION_PARAM_H_
#define COOPER_SYMBOL_OPS_FUSED_BLOCKED_CONVOLUTION_PARAM_H_

// Parameters of _blocked_convolution: Convolution of images with blocked channels
// (blocked_shape.h), which the vector instructions of CPUs process a block at a time. Symbol files
// do not contain it: the graph pass blocked_channels of the executor builds it from a Convolution.
// The schema is in blocked_convolution.cc, the shape rule in blocked_convolution_shape.h.

#include <cstdint>

#include "symbol/ops/nn/convolution_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _blocked_convolution: those of a Convolution, and the layout of its arrays. The
// weight and the bias have the shapes and the order that they have in Convolution, so parameters
// need no conversion.
struct BlockedConvolutionParam : ConvolutionParam {
  int64_t block = 8;
  // Whether data has the plain shape: the first convolution of a network reads images with 3
  // channels, which no block divides.
  bool plain_data = false;

  // Declares the fields for a derived struct P.
  template <typename P>
  static void DeclareBlocks(ParamDeclaration<P>& d) {
    DeclareFields(d);
    d.template Field<int64_t>("block", &P::block)
        .Min(1)
        .Doc("channels that lie side by side; it divides num_filter and the channels of data");
    d.template Field<bool>("plain_data", &P::plain_data)
        .Doc("whether data is (batch_size, channels, spatial...), for a few channels");
  }

  static void Declare(ParamDeclaration<BlockedConvolutionParam>& d) { DeclareBlocks(d); }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_FUSED_BLOCKED_CONVOLUTION_PARAM_H_
