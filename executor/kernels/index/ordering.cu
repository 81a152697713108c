// GPU kernels of topk, sort, argsort and the gradients of the first two. A row that a warp can sort
// gets a warp (row_sort.h). Other rows are sorted all at once, by their number and a key with the
// order of the elements. Equal elements keep their order, as on the CPU, and NaN is larger than all
// other values.

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/index/row_sort.h"
#include "executor/kernels/index/sort_key.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/ordering_param.h"

namespace cooper {
namespace {

// Writes element i of row r = (outer, inner) as pair r * n + i.
template <typename C>
__global__ void MakeKeys(int64_t rows, int64_t n, int64_t inner, DType dtype, const void* data,
                         bool wide, bool ascend, uint64_t* keys, int32_t* values) {
  for (int64_t i = FirstElement(); i < rows * n; i += ElementStep()) {
    const int64_t row = i / n, at = i - row * n;
    const int64_t outer = row / inner, column = row - outer * inner;
    uint64_t key = SortKeyOf(LoadElement<C>(data, dtype, (outer * n + at) * inner + column));
    if (!wide && sizeof(C) == sizeof(int64_t)) {
      key -= (uint64_t{1} << 63) - (uint64_t{1} << 31);  // an integer of at most 32 bits
    }
    if (!ascend) key = ~key;
    if (!wide) key = (key & 0xffffffff) | static_cast<uint64_t>(row) << 32;
    keys[i] = key;
    values[i] = static_cast<int32_t>(i);
  }
}

__global__ void MakeRowKeys(int64_t count, int64_t n, uint64_t* keys, const int32_t* values) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    keys[i] = static_cast<uint64_t>(values[i] / n);
  }
}

absl::Status SortAll(const KernelContext& c, const IndexedExtents& e, bool ascend, PairSort* sort) {
  const ArrayView& data = c.inputs[0];
  // Keys of 32 bits leave room for the row number in the same word.
  const bool wide = HasWideSortKeys(data.dtype);
  const int64_t count = e.rows() * e.n;
  COOPER_RETURN_IF_ERROR(DispatchCompute(data.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, count, MakeKeys<decltype(zero)>, e.rows(), e.n, e.inner, data.dtype,
                          data.data, wide, ascend, sort->keys(), sort->values());
  }));
  if (!wide) return sort->Sort(32 + BitsOf(e.rows()));
  COOPER_RETURN_IF_ERROR(sort->Sort(64));
  if (e.rows() == 1) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, count, MakeRowKeys, count, e.n, sort->keys(), sort->values()));
  return sort->Sort(BitsOf(e.rows()));
}

// Maps element i of an output (outer, k, inner) to an element of data and to its position in its
// row.
struct Ordered {
  int64_t n, inner, k;
  const int32_t* values;

  __device__ int64_t Position(int64_t i, int64_t* element) const {
    const int64_t outer = i / (k * inner), rest = i - outer * k * inner;
    const int64_t rank = rest / inner, column = rest - rank * inner;
    const int64_t row = outer * inner + column;
    const int64_t at = values[row * n + rank] - row * n;
    *element = (outer * n + at) * inner + column;
    return at;
  }
};

struct OrderedValue : Ordered {
  __device__ RowMove operator()(int64_t i) const {
    int64_t element;
    Position(i, &element);
    return {element, i};
  }
};

struct MaskOne : Ordered {
  __device__ RowMove operator()(int64_t i) const {
    int64_t element;
    Position(i, &element);
    return {-1, element};
  }
};

template <typename C>
__global__ void WriteIndices(int64_t count, const Ordered order, DType dtype, void* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    int64_t element;
    StoreElement(out, dtype, i, ConvertElement<C>(order.Position(i, &element)), add);
  }
}

// Writes values and indices to the outputs with these numbers; -1 for none.
absl::Status WriteOrder(const KernelContext& c, const IndexedExtents& e, int64_t k, bool ascend,
                        int values, int indices) {
  auto wanted = [&](int i) { return i >= 0 && c.reqs[i] != WriteReq::kNull; };
  const int64_t count = e.rows() * k;
  if ((!wanted(values) && !wanted(indices)) || count == 0) return absl::OkStatus();
  if (IsSortedByWarps(c.inputs[0].dtype, e.n)) {
    const auto output = [&](int i) { return wanted(i) ? c.outputs[i] : ArrayView{}; };
    const auto req = [&](int i) { return wanted(i) ? c.reqs[i] : WriteReq::kNull; };
    return SortRowsByWarps(c, e, k, ascend, c.inputs[0], output(values), req(values),
                           output(indices), req(indices));
  }
  PairSort sort(c, e.rows() * e.n);
  COOPER_RETURN_IF_ERROR(SortAll(c, e, ascend, &sort));
  const Ordered order = {e.n, e.inner, k, sort.values()};
  if (wanted(values)) {
    COOPER_RETURN_IF_ERROR(MoveRows(c, count, 1, OrderedValue{order}, c.inputs[0].dtype,
                                    c.reqs[values], c.inputs[0].data, c.outputs[values].data));
  }
  if (!wanted(indices)) return absl::OkStatus();
  const ArrayView& out = c.outputs[indices];
  return DispatchCompute(out.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, count, WriteIndices<decltype(zero)>, count, order, out.dtype, out.data,
                          c.reqs[indices] == WriteReq::kAdd);
  });
}

absl::Status WriteMask(const KernelContext& c, const IndexedExtents& e, int64_t k, bool ascend) {
  const int64_t count = e.rows() * k;
  COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, c.reqs[0], c.outputs[0]));
  if (c.reqs[0] == WriteReq::kNull || count == 0) return absl::OkStatus();
  PairSort sort(c, e.rows() * e.n);
  COOPER_RETURN_IF_ERROR(SortAll(c, e, ascend, &sort));
  return MoveRows(c, count, 1, MaskOne{{e.n, e.inner, k, sort.values()}}, c.outputs[0].dtype,
                  c.reqs[0], nullptr, c.outputs[0].data, 1);
}

absl::StatusOr<Prepared> PreparePairs(const PrepareContext& c) {
  bool wanted = false;
  for (WriteReq req : c.reqs) wanted |= req != WriteReq::kNull;
  if (!wanted) return Prepared{};
  COOPER_ASSIGN_OR_RETURN(const int64_t bytes,
                          PairSort::WorkspaceBytes(c.context, c.inputs[0].size()));
  return Prepared{.workspace_bytes = bytes};
}

template <typename Param>
absl::StatusOr<Prepared> PrepareOrder(const PrepareContext& c) {
  const IndexedExtents e(c.inputs[0].shape, c.param<Param>().axis);
  return IsSortedByWarps(c.inputs[0].dtype, e.n) ? Prepared{} : PreparePairs(c);
}

absl::StatusOr<Prepared> PrepareTopK(const PrepareContext& c) {
  // WriteMask uses the sorted pairs.
  return c.param<TopKParam>().ret_typ == TopKParam::kMask ? PreparePairs(c)
                                                          : PrepareOrder<TopKParam>(c);
}

absl::Status TopKGpu(const KernelContext& c) {
  const auto& param = c.param<TopKParam>();
  const IndexedExtents e(c.inputs[0].shape, param.axis);
  const int64_t k = param.k < 1 ? e.n : param.k;
  switch (param.ret_typ) {
    case TopKParam::kMask:
      return WriteMask(c, e, k, param.is_ascend);
    case TopKParam::kIndices:
      return WriteOrder(c, e, k, param.is_ascend, -1, 0);
    case TopKParam::kValue:
    case TopKParam::kBoth:
      return WriteOrder(c, e, k, param.is_ascend, 0, 1);
  }
  return absl::InternalError("topk: unknown ret_typ");
}

absl::Status SortGpu(const KernelContext& c) {
  const auto& param = c.param<SortParam>();
  const IndexedExtents e(c.inputs[0].shape, param.axis);
  return WriteOrder(c, e, e.n, param.is_ascend, 0, 1);
}

absl::Status ArgsortGpu(const KernelContext& c) {
  const auto& param = c.param<ArgsortParam>();
  const IndexedExtents e(c.inputs[0].shape, param.axis);
  return WriteOrder(c, e, e.n, param.is_ascend, -1, 0);
}

// The indices of a row are distinct.
struct PutBack {
  DeviceIndices indices;
  int64_t n, inner, k;

  __device__ RowMove operator()(int64_t i) const {
    const int64_t outer = i / (k * inner), column = i % inner, at = indices[i];
    return {i, at >= 0 && at < n ? (outer * n + at) * inner + column : -1};
  }
};

template <typename Param>
absl::Status OrderBackwardGpu(const KernelContext& c) {
  using enum OrderGradientArrays::Input;
  COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, c.reqs[0], c.outputs[0]));
  const IndexedExtents e(c.outputs[0].shape, c.param<Param>().axis);
  const int64_t count = c.inputs[kOgrad].size();
  if (count == 0) return absl::OkStatus();
  const PutBack map{DeviceIndices(c.inputs[kIndices]), e.n, e.inner, count / e.rows()};
  return MoveRows(c, count, 1, map, c.outputs[0].dtype, c.reqs[0], c.inputs[kOgrad].data,
                  c.outputs[0].data);
}

COOPER_REGISTER_KERNEL(topk, DeviceType::kGpu, kAnyDType, TopKGpu, PrepareTopK);
COOPER_REGISTER_KERNEL(_backward_topk, DeviceType::kGpu, kAnyDType, OrderBackwardGpu<TopKParam>);
COOPER_REGISTER_KERNEL(sort, DeviceType::kGpu, kAnyDType, SortGpu, PrepareOrder<SortParam>);
COOPER_REGISTER_KERNEL(_backward_sort, DeviceType::kGpu, kAnyDType, OrderBackwardGpu<SortParam>);
COOPER_REGISTER_KERNEL(argsort, DeviceType::kGpu, kAnyDType, ArgsortGpu,
                       PrepareOrder<ArgsortParam>);

}  // namespace
}  // namespace cooper
