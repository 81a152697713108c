#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_FUSED_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_FUSED_PRODUCT_H_

// The product of a _fused_convolution, for its kernel and for the graph pass that packs its weight:
// both must compile the same product, because the packing is that of the product. The operator is a
// Convolution with the operations after it: BatchNorm in prediction, an addition, relu, clip.

#include <memory>

#include "absl/status/statusor.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/convolution_product.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/fused/fused_convolution_param.h"

namespace cooper {

// Returns whether the product itself clips its results. Neither Winograd product supports that;
// the kernel then clips the output in a loop of its own.
inline bool ClipsInProduct(const FusedConvolutionParam& param, ConvolutionAlgorithm algorithm) {
  return param.clip && algorithm == ConvolutionAlgorithm::kDirect;
}

// Returns the product for arrays in the operator's layouts. `data` is plain if param.plain_data,
// otherwise blocked; `output` is blocked.
inline ConvolutionProduct FusedProductShape(const FusedConvolutionParam& param, const Shape& data,
                                            const Shape& output) {
  return ProductOf(param, param.plain_data ? data : PlainImage(data), PlainImage(output));
}

// Compiles the product for prediction. With param.batch_norm its scales and bias are those of the
// normalisation, which the kernel computes from the moving statistics. The summand of param.sum is
// the previous contents of the output.
//
// Errors: those of BlockedProduct::Make.
inline absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeFusedProduct(
    const FusedConvolutionParam& param, ConvolutionAlgorithm algorithm, const Shape& data,
    const Shape& output) {
  return BlockedProduct::Make(FusedProductShape(param, data, output),
                              {.plain_image = param.plain_data,
                               .bias = !param.no_bias || param.batch_norm,
                               .scales = param.batch_norm,
                               .relu = param.relu,
                               .clip = ClipsInProduct(param, algorithm),
                               .a_min = param.a_min,
                               .a_max = param.a_max,
                               .add = param.sum,
                               .packed_weight = !param.weight_packing.empty(),
                               .algorithm = algorithm});
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_FUSED_PRODUCT_H_
