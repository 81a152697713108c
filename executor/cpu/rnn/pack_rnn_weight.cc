// The kernel of _pack_rnn_weight, which makes the weights of _prepared_rnn_layer.

#include "absl/status/status.h"
#include "executor/cpu/rnn/packed_step.h"
#include "executor/kernel.h"
#include "ndarray/shape.h"
#include "symbol/ops/rnn/packed_rnn_weight.h"

namespace cooper {
namespace {

absl::Status PackWeightCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const Shape& weight = c.inputs[0].shape;
  const int gates = c.param<PackRNNWeightParam>().num_gates;
  PackRNNWeight(c.inputs[0].as<float>(), gates, weight[0] / gates, weight[1],
                c.outputs[0].as<float>());
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_pack_rnn_weight, DeviceType::kCpu, kFloat32Only, PackWeightCpu);

}  // namespace
}  // namespace cooper
