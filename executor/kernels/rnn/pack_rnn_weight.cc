// The kernel of _pack_rnn_weight, which packs the weights for _prepared_rnn.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/rnn/packed_step.h"
#include "executor/program/kernel.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/rnn/pack_rnn_weight_param.h"

namespace cooper {
namespace {

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  return Prepared{.workspace_bytes = c.reqs[0] == WriteReq::kAdd ? c.outputs[0].size_bytes() : 0};
}

absl::Status Run(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const Shape& weight = c.inputs[0].shape;
  const int gates = c.param<PackRNNWeightParam>().num_gates;
  auto* const output = c.outputs[0].as<float>();
  auto* const packed = add ? static_cast<float*>(c.workspace) : output;
  PackRNNWeight(c.inputs[0].as<float>(), gates, weight[0] / gates, weight[1], packed);
  for (int64_t i = 0; add && i < c.outputs[0].size(); ++i) output[i] += packed[i];
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_pack_rnn_weight, DeviceType::kCpu, kFloat32Only, Run, Prepare);

}  // namespace
}  // namespace cooper
