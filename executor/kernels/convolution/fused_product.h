#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_FUSED_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_FUSED_PRODUCT_H_

// The product of a _fused_convolution, for its kernel and for the graph pass that packs its weight.

#include <memory>

#include "absl/status/statusor.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/convolution_product.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/nn/fused_convolution_param.h"

namespace cooper {

// Returns whether the product itself clips its results. oneDNN's Winograd does not support that.
inline bool ClipsInProduct(const FusedConvolutionParam& param, ConvolutionAlgorithm algorithm) {
  return param.clip && algorithm == ConvolutionAlgorithm::kDirect;
}

// Returns the product for arrays in the operator's layouts.
inline ConvolutionProduct FusedProductShape(const FusedConvolutionParam& param, const Shape& data,
                                            const Shape& output) {
  return ProductOf(param, param.plain_data ? data : PlainImage(data), PlainImage(output));
}

// Compiles the product. Errors: those of BlockedProduct::Make.
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
