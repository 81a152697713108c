#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PACKING_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PACKING_H_

// Converts oneDNN's weight layouts to the parameters of _packed_weight and _winograd_weight, the
// operators that pack a constant weight (executor/passes/graph/pack_weights.cc), so that products
// need not convert it in each run. The products' packing() calls it.

#include <optional>

#include "oneapi/dnnl/dnnl.hpp"
#include "symbol/ops/fused/packed_weight_param.h"
#include "symbol/ops/fused/winograd_weight_param.h"

namespace cooper {

// Returns the layout `desc` as a weight of one slice; nullopt if PackedWeightParam cannot express
// it: if it has gaps, or more than the array's own elements, or is not a blocked float32 layout.
// Axes that are padded to whole blocks can be expressed.
std::optional<PackedWeightParam> PackingOf(const dnnl::memory::desc& desc);

// Returns a Winograd layout whose tiles cover exactly the weight; otherwise nullopt, and always
// with oneDNN 3, which does not expose the layout. Windows are 3 x 3.
std::optional<WinogradWeightParam> WinogradPackingOf(const dnnl::memory::desc& desc);
// Returns the description of a slice; the inverse of WinogradPackingOf. Throws dnnl::error with
// oneDNN 3.
dnnl::memory::desc WinogradSlice(const WinogradWeightParam& packing);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PACKING_H_
