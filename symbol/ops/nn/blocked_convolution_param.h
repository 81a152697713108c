#ifndef COOPER_SYMBOL_OPS_NN_BLOCKED_CONVOLUTION_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_BLOCKED_CONVOLUTION_PARAM_H_

#include <cstdint>

#include "symbol/ops/nn/convolution_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _blocked_convolution: those of a Convolution, and the layout of its arrays.
struct BlockedConvolutionParam : ConvolutionParam {
  int64_t block = 8;
  bool plain_data = false;

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

#endif  // COOPER_SYMBOL_OPS_NN_BLOCKED_CONVOLUTION_PARAM_H_
