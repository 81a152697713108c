// Kernels of Embedding and its gradient. Indices are clipped; a float is truncated, and NaN selects
// row 0.

#include "absl/status/status.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/embedding_param.h"

namespace cooper {
namespace {

absl::Status EmbeddingCpu(const KernelContext& c) {
  using enum EmbeddingArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  CopyIndexedRows(c.inputs[kWeight], 0, c.inputs[kData], IndexMode::kClip, c.reqs[0], c.outputs[0]);
  return absl::OkStatus();
}

absl::Status EmbeddingBackwardCpu(const KernelContext& c) {
  using enum EmbeddingGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  AddIndexedRows(c.inputs[kOgrad], c.inputs[kData], IndexMode::kClip, c.reqs[0], 0, c.outputs[0]);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(Embedding, DeviceType::kCpu, kAnyDType, EmbeddingCpu);
COOPER_REGISTER_KERNEL(_contrib_SparseEmbedding, DeviceType::kCpu, kAnyDType, EmbeddingCpu);
COOPER_REGISTER_KERNEL(_backward_Embedding, DeviceType::kCpu, kFloats, EmbeddingBackwardCpu);

}  // namespace
}  // namespace cooper
