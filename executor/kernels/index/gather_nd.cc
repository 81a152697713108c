// Kernels of gather_nd, its gradient, scatter_nd, _scatter_set_nd, ravel_multi_index and
// unravel_index.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "symbol/ops/index/gather_nd_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

// Calls fn(index of the pick, offset of its first element in the array of shape `whole`, its size).
// Negative coordinates count from the end of their axis.
template <typename Fn>
absl::Status ForPicks(const ArrayView& indices, const Shape& whole, const Fn& fn) {
  const IndexReader reader(indices);
  const int coordinates = static_cast<int>(indices.shape[0]);
  const int64_t count = indices.shape.Product(1, indices.shape.rank());
  const int64_t size = whole.Product(coordinates, whole.rank());
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int j = 0; j < coordinates; ++j) {
      const int64_t given = reader[j * count + i];
      const int64_t index = given < 0 ? given + whole[j] : given;
      if (index < 0 || index >= whole[j]) {
        return CoordinateOutOfRange(given, j, whole);
      }
      at = at * whole[j] + index;
    }
    fn(i, at * size, size);
  }
  return absl::OkStatus();
}

absl::Status GatherNdCpu(const KernelContext& c) {
  using enum GatherNdArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchDType(c.outputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForPicks(
        c.inputs[kIndices], c.inputs[kData].shape, [&](int64_t i, int64_t at, int64_t size) {
          MoveRow(size, c.inputs[kData].as<T>() + at, c.reqs[0], c.outputs[0].as<T>() + i * size);
        });
  });
}

// Writes the picks `values` to `out` at `indices`, or adds them.
absl::Status Scatter(const ArrayView& values, const ArrayView& indices, WriteReq req,
                     const ArrayView& out) {
  return DispatchDType(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForPicks(indices, out.shape, [&](int64_t i, int64_t at, int64_t size) {
      MoveRow(size, values.as<T>() + i * size, req, out.as<T>() + at);
    });
  });
}

absl::Status GatherNdBackwardCpu(const KernelContext& c) {
  using enum GatherNdGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  return Scatter(c.inputs[kOgrad], c.inputs[kIndices], WriteReq::kAdd, c.outputs[0]);
}

absl::Status ScatterNdCpu(const KernelContext& c) {
  using enum GatherNdArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  return Scatter(c.inputs[kData], c.inputs[kIndices], c.reqs[0], c.outputs[0]);
}

// Prepares _scatter_set_nd. Under kAdd the result is computed in the workspace and then added.
absl::StatusOr<Prepared> PrepareScatterSet(const PrepareContext& c) {
  return Prepared{.workspace_bytes = c.reqs[0] == WriteReq::kAdd ? c.outputs[0].size_bytes() : 0};
}

absl::Status ScatterSetNdCpu(const KernelContext& c) {
  using enum ScatterSetNdArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ArrayView target = c.outputs[0];
  if (c.reqs[0] == WriteReq::kAdd) target.data = c.workspace;
  absl::Status status = CopyElements(c.inputs[kLhs], WriteReq::kWrite, target);
  if (status.ok()) status = Scatter(c.inputs[kRhs], c.inputs[kIndices], WriteReq::kWrite, target);
  if (!status.ok() || c.reqs[0] == WriteReq::kWrite) return status;
  return CopyElements(target, WriteReq::kAdd, c.outputs[0]);
}

template <typename T>
void Put(T* out, int64_t value, WriteReq req) {
  const T element = ConvertElement<T>(value);
  MoveRow(1, &element, req, out);
}

absl::Status RavelCpu(const KernelContext& c) {
  using enum OneInputArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& shape = c.param<RavelParam>().shape;
  const IndexReader multi(c.inputs[kData]);
  const int64_t count = c.outputs[0].size();
  DispatchDType(c.outputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < count; ++i) {
      int64_t flat = 0;
      for (size_t j = 0; j < shape.size(); ++j) {
        flat = WrapAdd(WrapMul(flat, shape[j]), multi[j * count + i]);
      }
      Put(c.outputs[0].as<T>() + i, flat, c.reqs[0]);
    }
  });
  return absl::OkStatus();
}

absl::Status UnravelCpu(const KernelContext& c) {
  using enum OneInputArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& shape = c.param<RavelParam>().shape;
  for (size_t j = 1; j < shape.size(); ++j) {
    if (shape[j] == 0) return absl::InvalidArgumentError("_unravel_index: shape has an extent 0");
  }
  const IndexReader flat(c.inputs[kData]);
  const int64_t count = c.inputs[kData].size();
  DispatchDType(c.outputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = flat[i];
      for (size_t j = shape.size(); j-- > 0;) {
        Put(c.outputs[0].as<T>() + j * count + i, j == 0 ? rest : rest % shape[j], c.reqs[0]);
        if (j > 0) rest /= shape[j];
      }
    }
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(gather_nd, DeviceType::kCpu, kAnyDType, GatherNdCpu);
COOPER_REGISTER_KERNEL(_backward_gather_nd, DeviceType::kCpu, kAnyDType, GatherNdBackwardCpu);
COOPER_REGISTER_KERNEL(scatter_nd, DeviceType::kCpu, kAnyDType, ScatterNdCpu);
COOPER_REGISTER_KERNEL(_scatter_set_nd, DeviceType::kCpu, kAnyDType, ScatterSetNdCpu,
                       PrepareScatterSet);
COOPER_REGISTER_KERNEL(_ravel_multi_index, DeviceType::kCpu, kAnyDType, RavelCpu);
COOPER_REGISTER_KERNEL(_unravel_index, DeviceType::kCpu, kAnyDType, UnravelCpu);

}  // namespace
}  // namespace cooper
