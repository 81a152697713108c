#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PACKING_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PACKING_H_

// oneDNN's layouts of weights in the words of _packed_weight and _winograd_weight.

#include <optional>

#include "oneapi/dnnl/dnnl.hpp"
#include "symbol/ops/nn/packed_weight_param.h"
#include "symbol/ops/nn/winograd_weight_param.h"

namespace cooper {

// How an array of this description lies, as one slice; nullopt where PackedWeightParam has no words
// for it: where there are gaps, or more than the array's own elements.
std::optional<PackedWeightParam> PackingOf(const dnnl::memory::desc& desc);

// The same for Winograd's layouts, where all tiles are the weight's own. Nullopt with oneDNN 3.
std::optional<WinogradWeightParam> WinogradPackingOf(const dnnl::memory::desc& desc);
// The description of a slice, of which WinogradPackingOf is the reverse. Throws dnnl::error with
// oneDNN 3.
dnnl::memory::desc WinogradSlice(const WinogradWeightParam& packing);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_PACKING_H_
