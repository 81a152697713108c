// GPU kernels of take, pick, batch_take, Embedding and the gradients of take, pick and Embedding.

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/index/sorted_rows.h"
#include "executor/kernels/launch/index_check.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/take_param.h"
#include "symbol/ops/nn/embedding_param.h"

namespace cooper {
namespace {

// Maps row i of (outer, indices) to the row of (outer, n) that its index selects.
struct TakeRow {
  DeviceIndices indices;
  int64_t count, n;
  IndexMode mode;

  __device__ RowMove operator()(int64_t i) const {
    const int64_t outer = i / count;
    return {outer * n + IndexInRange(indices[i - outer * count], n, mode), i};
  }
};

struct PlaceOfIndex {
  DeviceIndices indices;
  int64_t n;
  IndexMode mode;

  __device__ int64_t operator()(int64_t i) const { return IndexInRange(indices[i], n, mode); }
};

__global__ void CheckIndices(int64_t count, const DeviceIndices indices, int64_t n,
                             FirstBad* first_bad) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t index = indices[i];
    if (index < 0 || index >= n) ReportBad(first_bad, i);
  }
}

absl::Status TakeRows(const KernelContext& c, const ArrayView& data, int axis,
                      const ArrayView& indices, IndexMode mode) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const IndexedExtents e(data.shape, axis);
  const TakeRow map{DeviceIndices(indices), indices.size(), e.n, mode};
  return MoveRows(c, e.outer * indices.size(), e.inner, map, data.dtype, c.reqs[0], data.data,
                  c.outputs[0].data);
}

absl::Status AddTakenRows(const KernelContext& c, const ArrayView& ograd, const ArrayView& indices,
                          IndexMode mode, int axis) {
  const ArrayView& grad = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (ograd.size() == 0) return CudaMover::Zero(c, c.reqs[0], grad);
  const IndexedExtents e(grad.shape, axis);
  PairSort sort(c, indices.size(), /*offset=*/ChunkSumsBytes(ograd, indices.size()));
  COOPER_RETURN_IF_ERROR(
      SortRows(c, indices.size(), e.n, PlaceOfIndex{DeviceIndices(indices), e.n, mode}, &sort));
  return SumSortedRows(c, e, sort, indices.size(), c.reqs[0], ograd.data, grad, c.workspace);
}

absl::StatusOr<Prepared> PrepareTake(const PrepareContext& c) {
  const bool checks = c.param<TakeParam>().mode == IndexMode::kRaise;
  return Prepared{.workspace_bytes = checks ? kFirstBadBytes : 0};
}

// Runs take. With mode raise it waits for the device.
absl::Status TakeGpu(const KernelContext& c) {
  using enum TakeArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<TakeParam>();
  const ArrayView& data = c.inputs[kData];
  const ArrayView& indices = c.inputs[kIndex];
  if (param.mode == IndexMode::kRaise) {
    auto* first_bad = static_cast<FirstBad*>(c.workspace);
    COOPER_RETURN_IF_ERROR(ResetFirstBad(c, first_bad));
    COOPER_RETURN_IF_ERROR(LaunchElements(c, indices.size(), CheckIndices, indices.size(),
                                          DeviceIndices(indices),
                                          IndexedExtents(data.shape, param.axis).n, first_bad));
    COOPER_ASSIGN_OR_RETURN(const std::optional<int64_t> bad, ReadFirstBad(c, first_bad));
    if (bad.has_value()) {
      COOPER_ASSIGN_OR_RETURN(const int64_t index, ReadIndex(c, indices, *bad));
      return TakeIndexError(index, param.axis, data.shape);
    }
  }
  return TakeRows(c, data, param.axis, indices, param.mode);
}

absl::StatusOr<Prepared> PrepareTakeBackward(const PrepareContext& c) {
  static_assert(static_cast<int>(TakeGradientArrays::kIndex) ==
                static_cast<int>(EmbeddingGradientArrays::kData));
  static_assert(static_cast<int>(TakeGradientArrays::kOgrad) ==
                static_cast<int>(EmbeddingGradientArrays::kOgrad));
  if (c.reqs[0] == WriteReq::kNull) return Prepared{};
  const int64_t count = c.inputs[TakeGradientArrays::kIndex].size();
  COOPER_ASSIGN_OR_RETURN(const int64_t bytes, PairSort::WorkspaceBytes(c.context, count));
  return Prepared{.workspace_bytes =
                      ChunkSumsBytes(c.inputs[TakeGradientArrays::kOgrad], count) + bytes};
}

absl::Status TakeBackwardGpu(const KernelContext& c) {
  using enum TakeGradientArrays::Input;
  const auto& param = c.param<TakeParam>();
  return AddTakenRows(c, c.inputs[kOgrad], c.inputs[kIndex], param.mode, param.axis);
}

absl::Status EmbeddingGpu(const KernelContext& c) {
  using enum EmbeddingArrays::Input;
  return TakeRows(c, c.inputs[kWeight], 0, c.inputs[kData], IndexMode::kClip);
}

absl::Status EmbeddingBackwardGpu(const KernelContext& c) {
  using enum EmbeddingGradientArrays::Input;
  return AddTakenRows(c, c.inputs[kOgrad], c.inputs[kData], IndexMode::kClip, 0);
}

struct PickElement {
  DeviceIndices indices;
  int64_t n, inner;
  IndexMode mode;

  __device__ int64_t Of(int64_t i) const {
    const int64_t outer = i / inner, column = i - outer * inner;
    return (outer * n + IndexInRange(indices[i], n, mode)) * inner + column;
  }
};
struct Picked : PickElement {
  __device__ RowMove operator()(int64_t i) const { return {Of(i), i}; }
};
struct PutBack : PickElement {
  __device__ RowMove operator()(int64_t i) const { return {i, Of(i)}; }
};

absl::Status Pick(const KernelContext& c, int axis, IndexMode mode) {
  using enum TakeArrays::Input;
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& data = c.inputs[kData];
  const IndexedExtents e(data.shape, axis);
  const Picked map{{DeviceIndices(c.inputs[kIndex]), e.n, e.inner, mode}};
  return MoveRows(c, e.rows(), 1, map, data.dtype, c.reqs[0], data.data, c.outputs[0].data);
}

absl::Status PickGpu(const KernelContext& c) {
  const auto& param = c.param<PickParam>();
  return Pick(c, param.axis.value_or(-1), param.mode);
}

absl::Status BatchTakeGpu(const KernelContext& c) { return Pick(c, -1, IndexMode::kClip); }

absl::Status PickBackwardGpu(const KernelContext& c) {
  using enum TakeGradientArrays::Input;
  COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, c.reqs[0], c.outputs[0]));
  if (c.inputs[kOgrad].size() == 0) return absl::OkStatus();
  const auto& param = c.param<PickParam>();
  const IndexedExtents e(c.outputs[0].shape, param.axis.value_or(-1));
  const PutBack map{{DeviceIndices(c.inputs[kIndex]), e.n, e.inner, param.mode}};
  return MoveRows(c, e.rows(), 1, map, c.outputs[0].dtype, c.reqs[0], c.inputs[kOgrad].data,
                  c.outputs[0].data);
}

constexpr DTypeSet kAnyFloat = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                DType::kBfloat16};

COOPER_REGISTER_KERNEL(take, DeviceType::kGpu, kAnyDType, TakeGpu, PrepareTake);
COOPER_REGISTER_KERNEL(_backward_take, DeviceType::kGpu, kAnyDType, TakeBackwardGpu,
                       PrepareTakeBackward);
COOPER_REGISTER_KERNEL(pick, DeviceType::kGpu, kAnyDType, PickGpu);
COOPER_REGISTER_KERNEL(_backward_pick, DeviceType::kGpu, kAnyDType, PickBackwardGpu);
COOPER_REGISTER_KERNEL(batch_take, DeviceType::kGpu, kAnyDType, BatchTakeGpu);
COOPER_REGISTER_KERNEL(_contrib_SparseEmbedding, DeviceType::kGpu, kAnyDType, EmbeddingGpu);
COOPER_REGISTER_KERNEL(Embedding, DeviceType::kGpu, kAnyDType, EmbeddingGpu);
COOPER_REGISTER_KERNEL(_backward_Embedding, DeviceType::kGpu, kAnyFloat, EmbeddingBackwardGpu,
                       PrepareTakeBackward);

}  // namespace
}  // namespace cooper
