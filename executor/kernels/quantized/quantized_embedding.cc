// Kernel of _contrib_quantized_embedding.

#include "absl/status/status.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {
namespace {

absl::Status QuantizedEmbeddingCpu(const KernelContext& c) {
  using enum QuantizedEmbeddingArrays::Input;
  PutRange(c, *c.inputs[kMinWeight].as<float>(), *c.inputs[kMaxWeight].as<float>());
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  CopyIndexedRows(c.inputs[kWeight], 0, c.inputs[kData], IndexMode::kClip, c.reqs[0], c.outputs[0]);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_contrib_quantized_embedding, DeviceType::kCpu, kAnyDType,
                       QuantizedEmbeddingCpu);

}  // namespace
}  // namespace cooper
