// GPU kernels of gather_nd, its gradient, scatter_nd, _scatter_set_nd, ravel_multi_index and
// unravel_index. Forward kernels wait for the device to report indices out of range.

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/index/sorted_rows.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/index_check.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/gather_nd_param.h"

namespace cooper {
namespace {

constexpr int kMaxCoordinates = 32;

absl::Status CheckCoordinates(int64_t count) {
  if (count <= kMaxCoordinates) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(count, " coordinates, at most ", kMaxCoordinates));
}

// Maps pick i to its place in an array viewed as (places, size). Negative coordinates count from
// the end.
struct Places {
  DeviceIndices indices;
  int64_t count;  // number of picks
  int coordinates;
  int64_t extents[kMaxCoordinates];
  FirstBad* first_bad;  // gets the pick's index * coordinates + the coordinate's number

  // Returns -1 for a pick that is out of range.
  __device__ int64_t operator()(int64_t i) const {
    int64_t at = 0;
    for (int j = 0; j < coordinates; ++j) {
      const int64_t given = indices[j * count + i];
      const int64_t index = given < 0 ? given + extents[j] : given;
      if (index < 0 || index >= extents[j]) {
        ReportBad(first_bad, i * coordinates + j);
        return -1;
      }
      at = at * extents[j] + index;
    }
    return at;
  }
};

struct Gather {
  Places places;
  __device__ RowMove operator()(int64_t i) const { return {places(i), i}; }
};

int64_t PickCount(const ArrayView& indices) {
  return indices.shape.Product(1, indices.shape.rank());
}

Places PlacesOf(const ArrayView& indices, const Shape& whole, FirstBad* first_bad) {
  Places places = {DeviceIndices(indices),
                   PickCount(indices),
                   static_cast<int>(indices.shape[0]),
                   {},
                   first_bad};
  for (int j = 0; j < places.coordinates; ++j) places.extents[j] = whole[j];
  return places;
}

// Returns the extents of `whole` viewed as (1, places, elements of a pick).
IndexedExtents ExtentsOf(const ArrayView& indices, const Shape& whole) {
  const int coordinates = static_cast<int>(indices.shape[0]);
  return IndexedExtents(
      Shape({whole.Product(0, coordinates), whole.Product(coordinates, whole.rank())}), 0);
}

absl::Status CheckFirstBad(const KernelContext& c, const ArrayView& indices, const Shape& whole,
                           const FirstBad* first_bad) {
  COOPER_ASSIGN_OR_RETURN(const std::optional<int64_t> bad, ReadFirstBad(c, first_bad));
  if (!bad.has_value()) return absl::OkStatus();
  const int64_t pick = *bad / indices.shape[0], axis = *bad % indices.shape[0];
  COOPER_ASSIGN_OR_RETURN(const int64_t index,
                          ReadIndex(c, indices, axis * PickCount(indices) + pick));
  return CoordinateOutOfRange(index, axis, whole);
}

absl::StatusOr<Prepared> PrepareGather(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckCoordinates(c.inputs[GatherNdArrays::kIndices].shape[0]));
  return Prepared{.workspace_bytes = kFirstBadBytes};
}

absl::Status GatherNdGpu(const KernelContext& c) {
  using enum GatherNdArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& data = c.inputs[kData];
  const ArrayView& indices = c.inputs[kIndices];
  auto* first_bad = static_cast<FirstBad*>(c.workspace);
  COOPER_RETURN_IF_ERROR(ResetFirstBad(c, first_bad));
  const IndexedExtents e = ExtentsOf(indices, data.shape);
  const Gather map{PlacesOf(indices, data.shape, first_bad)};
  COOPER_RETURN_IF_ERROR(MoveRows(c, map.places.count, e.inner, map, data.dtype, c.reqs[0],
                                  data.data, c.outputs[0].data));
  return CheckFirstBad(c, indices, data.shape, first_bad);
}

// Offsets in the workspace, which begins with the sums of chunks, followed by the sort's workspace,
// the word for bad indices and, if needed, a copy of the output.
struct ScatterWorkspace {
  int64_t chunks, first_bad, copy, end;
};

// Returns the offsets for `values`; `sums` says whether values of one place are summed.
absl::StatusOr<ScatterWorkspace> WorkspaceOf(const Context& context, const ArrayView& values,
                                             const ArrayView& indices, bool sums,
                                             int64_t copy_bytes) {
  const int64_t chunks = sums ? ChunkSumsBytes(values, PickCount(indices)) : 0;
  COOPER_ASSIGN_OR_RETURN(const int64_t sort,
                          PairSort::WorkspaceBytes(context, PickCount(indices)));
  const int64_t first_bad = chunks + (sort + 255) / 256 * 256;
  return ScatterWorkspace{chunks, first_bad, first_bad + 256, first_bad + 256 + copy_bytes};
}

enum class Sums { kNever, kAlways, kUnderAdd };

bool SumsUnder(Sums sums, WriteReq req) {
  return sums == Sums::kAlways || (sums == Sums::kUnderAdd && req == WriteReq::kAdd);
}

// Prepares a kernel that scatters. kCopies is for _scatter_set_nd, which under kAdd computes the
// result in the workspace and then adds it.
template <int kValues, int kIndices, Sums kSums, bool kCopies>
absl::StatusOr<Prepared> PrepareScatter(const PrepareContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return Prepared{};
  const ArrayView& indices = c.inputs[kIndices];
  COOPER_RETURN_IF_ERROR(CheckCoordinates(indices.shape[0]));
  const bool copies = kCopies && c.reqs[0] == WriteReq::kAdd;
  COOPER_ASSIGN_OR_RETURN(
      const ScatterWorkspace workspace,
      WorkspaceOf(c.context, c.inputs[kValues], indices, SumsUnder(kSums, c.reqs[0]),
                  copies ? c.outputs[0].size_bytes() : 0));
  return Prepared{.workspace_bytes = workspace.end};
}

// Writes the picks `values` to `out`, or adds them.
absl::Status Scatter(const KernelContext& c, const ArrayView& values, const ArrayView& indices,
                     bool sums, WriteReq req, bool checks, const ArrayView& out) {
  if (values.size() == 0) return sums ? CudaMover::Zero(c, req, out) : absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const ScatterWorkspace workspace,
                          WorkspaceOf(c.context, values, indices, sums, 0));
  FirstBad* first_bad = nullptr;
  if (checks) {
    first_bad = reinterpret_cast<FirstBad*>(static_cast<char*>(c.workspace) + workspace.first_bad);
    COOPER_RETURN_IF_ERROR(ResetFirstBad(c, first_bad));
  }
  const IndexedExtents e = ExtentsOf(indices, out.shape);
  const Places places = PlacesOf(indices, out.shape, first_bad);
  PairSort sort(c, places.count, /*offset=*/workspace.chunks);
  COOPER_RETURN_IF_ERROR(SortRows(c, places.count, e.n, places, &sort));
  if (sums) {
    COOPER_RETURN_IF_ERROR(SumSortedRows(c, e, sort, places.count, req, values.data, out,
                                         /*chunk_sums=*/c.workspace));
  } else {
    COOPER_RETURN_IF_ERROR(WriteLastRows(c, e, sort, places.count, values.data, out));
  }
  return checks ? CheckFirstBad(c, indices, out.shape, first_bad) : absl::OkStatus();
}

// Computes the gradient of gather_nd. Does not check the indices, because the forward kernel has
// done so.
absl::Status GatherNdBackwardGpu(const KernelContext& c) {
  using enum GatherNdGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return Scatter(c, c.inputs[kOgrad], c.inputs[kIndices], /*sums=*/true, c.reqs[0],
                 /*checks=*/false, c.outputs[0]);
}

absl::Status ScatterNdGpu(const KernelContext& c) {
  using enum GatherNdArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, c.reqs[0], c.outputs[0]));
  return Scatter(c, c.inputs[kData], c.inputs[kIndices], c.reqs[0] == WriteReq::kAdd, c.reqs[0],
                 /*checks=*/true, c.outputs[0]);
}

absl::Status ScatterSetNdGpu(const KernelContext& c) {
  using enum ScatterSetNdArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ArrayView target = c.outputs[0];
  if (c.reqs[0] == WriteReq::kAdd) {
    COOPER_ASSIGN_OR_RETURN(const ScatterWorkspace workspace,
                            WorkspaceOf(c.context, c.inputs[kRhs], c.inputs[kIndices],
                                        /*sums=*/false, 0));
    target.data = static_cast<char*>(c.workspace) + workspace.copy;
  }
  COOPER_RETURN_IF_ERROR(CudaMover::CopyAll(c, c.inputs[kLhs], WriteReq::kWrite, target));
  COOPER_RETURN_IF_ERROR(Scatter(c, c.inputs[kRhs], c.inputs[kIndices], /*sums=*/false,
                                 WriteReq::kWrite, /*checks=*/true, target));
  if (c.reqs[0] == WriteReq::kWrite) return absl::OkStatus();
  return CudaMover::CopyAll(c, target, WriteReq::kAdd, c.outputs[0]);
}

struct RavelExtents {
  int64_t extents[kMaxCoordinates];
  int rank;

  explicit RavelExtents(const std::vector<int64_t>& shape) : rank(static_cast<int>(shape.size())) {
    for (int j = 0; j < rank; ++j) extents[j] = shape[j];
  }
};

template <typename C>
__global__ void Ravel(int64_t count, const RavelExtents shape, const DeviceIndices multi,
                      DType dtype, void* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    int64_t flat = 0;
    for (int j = 0; j < shape.rank; ++j) flat = flat * shape.extents[j] + multi[j * count + i];
    StoreElement(out, dtype, i, ConvertElement<C>(flat), add);
  }
}

template <typename C>
__global__ void Unravel(int64_t count, const RavelExtents shape, const DeviceIndices flat,
                        DType dtype, void* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    int64_t rest = flat[i];
    for (int j = shape.rank - 1; j >= 0; --j) {
      const int64_t above = j == 0 ? 0 : rest / shape.extents[j];
      StoreElement(out, dtype, j * count + i, ConvertElement<C>(rest - above * shape.extents[j]),
                   add);
      rest = above;
    }
  }
}

absl::StatusOr<Prepared> PrepareRavel(const PrepareContext& c) {
  const auto& shape = c.param<RavelParam>().shape;
  COOPER_RETURN_IF_ERROR(CheckCoordinates(static_cast<int64_t>(shape.size())));
  return Prepared{};
}

absl::Status RavelGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& out = c.outputs[0];
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, out.size(), Ravel<decltype(zero)>, out.size(),
                          RavelExtents(c.param<RavelParam>().shape), DeviceIndices(c.inputs[0]),
                          out.dtype, out.data, c.reqs[0] == WriteReq::kAdd);
  });
}

absl::Status UnravelGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& shape = c.param<RavelParam>().shape;
  for (size_t j = 1; j < shape.size(); ++j) {
    if (shape[j] == 0) return absl::InvalidArgumentError("_unravel_index: shape has an extent 0");
  }
  const ArrayView& out = c.outputs[0];
  const int64_t count = c.inputs[0].size();
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, count, Unravel<decltype(zero)>, count, RavelExtents(shape),
                          DeviceIndices(c.inputs[0]), out.dtype, out.data,
                          c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(gather_nd, DeviceType::kGpu, kAnyDType, GatherNdGpu, PrepareGather);
COOPER_REGISTER_KERNEL(_backward_gather_nd, DeviceType::kGpu, kAnyDType, GatherNdBackwardGpu,
                       PrepareScatter<GatherNdGradientArrays::kOgrad,
                                      GatherNdGradientArrays::kIndices, Sums::kAlways, false>);
COOPER_REGISTER_KERNEL(
    scatter_nd, DeviceType::kGpu, kAnyDType, ScatterNdGpu,
    PrepareScatter<GatherNdArrays::kData, GatherNdArrays::kIndices, Sums::kUnderAdd, false>);
COOPER_REGISTER_KERNEL(
    _scatter_set_nd, DeviceType::kGpu, kAnyDType, ScatterSetNdGpu,
    PrepareScatter<ScatterSetNdArrays::kRhs, ScatterSetNdArrays::kIndices, Sums::kNever, true>);
COOPER_REGISTER_KERNEL(_ravel_multi_index, DeviceType::kGpu, kAnyDType, RavelGpu, PrepareRavel);
COOPER_REGISTER_KERNEL(_unravel_index, DeviceType::kGpu, kAnyDType, UnravelGpu, PrepareRavel);

}  // namespace
}  // namespace cooper
