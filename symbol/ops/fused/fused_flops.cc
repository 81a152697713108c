// FLOPs of convolutions in blocks of channels.

#include <cstdint>

#include "ndarray/base/shape.h"
#include "symbol/ops/fused/blocked_convolution_param.h"
#include "symbol/ops/fused/fused_convolution_param.h"
#include "symbol/schema/op_flops.h"

namespace cooper {
namespace {

double AsDouble(int64_t n) { return static_cast<double>(n); }

// Returns the FLOPs of a blocked convolution. Uses the parameters, since the shape of a packed
// weight differs.
double BlockedFlops(const BlockedConvolutionParam& param, const Shape& data, const Shape& output) {
  const int64_t channels = param.plain_data ? data[1] : data[1] * param.block;
  double flops = 2 * AsDouble(output.num_elements()) * AsDouble(channels / param.num_group);
  for (const int64_t extent : param.kernel) flops *= AsDouble(extent);
  return flops;
}
double FusedForward(const OpWork& work) {
  return BlockedFlops(work.param<FusedConvolutionParam>(), work.inputs[0], work.outputs[0]);
}

COOPER_OP_FLOPS(_fused_convolution, FusedForward);
COOPER_OP_FLOPS(_fused_convolution_sum, FusedForward);
COOPER_OP_FLOPS(_blocked_convolution, [](const OpWork& work) {
  return BlockedFlops(work.param<BlockedConvolutionParam>(), work.inputs[0], work.outputs[0]);
});
COOPER_OP_FLOPS(_backward_blocked_convolution, [](const OpWork& work) {
  return work.Wanted(0, 2) *
         BlockedFlops(work.param<BlockedConvolutionParam>(), work.inputs[1], work.inputs[0]);
});

}  // namespace
}  // namespace cooper
