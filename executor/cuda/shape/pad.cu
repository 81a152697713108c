// GPU kernels of Pad and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/index/move_rows.h"
#include "executor/cuda/launch.h"
#include "executor/cuda/shape/strided_copy.h"
#include "executor/kernel.h"
#include "symbol/ops/shape/pad_param.h"

namespace cooper {
namespace {

constexpr int kMaxRank = 16;

struct PadAxes {
  int rank;
  PadParam::Mode mode;
  int64_t before[kMaxRank], data[kMaxRank], padded[kMaxRank];

  PadAxes(const PadParam& param, const Shape& data_shape, const Shape& padded_shape)
      : rank(data_shape.rank()), mode(param.mode) {
    for (int i = 0; i < rank; ++i) {
      before[i] = param.pad_width[2 * i];
      data[i] = data_shape[i];
      padded[i] = padded_shape[i];
    }
  }
};

// Element i of the padded array takes its value from data, or is constant_value.
struct Padded : PadAxes {
  __device__ RowMove operator()(int64_t i) const {
    int64_t rest = i, from = 0, stride = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      const int64_t above = rest / padded[axis];
      const int64_t at = rest - above * padded[axis] - before[axis];
      const int64_t source = PadParam::SourceOf(mode, at, data[axis]);
      if (source < 0) return {-1, i};
      from += source * stride;
      stride *= data[axis];
      rest = above;
    }
    return {from, i};
  }
};

// The positions along an axis of the padded array whose values are those of one of data: at most
// three, or, at the ends of mode edge, `count` from `at[0]` on.
struct Copies {
  int64_t at[3], count;
  bool run;

  __device__ int64_t operator[](int64_t k) const { return run ? at[0] + k : at[k]; }
};

__device__ Copies CopiesOf(const PadAxes& axes, int axis, int64_t d) {
  const int64_t before = axes.before[axis], n = axes.data[axis], padded = axes.padded[axis];
  Copies copies = {};
  if (axes.mode == PadParam::kEdge) {
    copies.run = true;
    copies.at[0] = d == 0 ? 0 : before + d;
    copies.count = (d == n - 1 ? padded : before + d + 1) - copies.at[0];
    return copies;
  }
  const bool reflects = axes.mode == PadParam::kReflect;
  if (reflects && d > 0 && d <= before) copies.at[copies.count++] = before - d;
  copies.at[copies.count++] = before + d;
  const int64_t behind = before + 2 * (n - 1) - d;
  if (reflects && d < n - 1 && behind < padded) copies.at[copies.count++] = behind;
  return copies;
}

// One thread sums the copies of an element, in the order of the padded array.
template <typename C>
__global__ void SumCopies(int64_t size, const PadAxes axes, DType dtype, const void* ograd,
                          void* grad, bool add) {
  for (int64_t i = FirstElement(); i < size; i += ElementStep()) {
    int64_t rest = i, total = 1;
    for (int axis = axes.rank - 1; axis >= 0; --axis) {
      total *= CopiesOf(axes, axis, rest % axes.data[axis]).count;
      rest /= axes.data[axis];
    }
    C sum = add ? LoadElement<C>(grad, dtype, i) : C{0};
    for (int64_t term = 0; term < total; ++term) {
      int64_t number = term, at = 0, stride = 1;
      rest = i;
      for (int axis = axes.rank - 1; axis >= 0; --axis) {
        const Copies copies = CopiesOf(axes, axis, rest % axes.data[axis]);
        at += copies[number % copies.count] * stride;
        number /= copies.count;
        stride *= axes.padded[axis];
        rest /= axes.data[axis];
      }
      sum += LoadElement<C>(ograd, dtype, at);
    }
    StoreElement(grad, dtype, i, sum, /*add=*/false);
  }
}

absl::StatusOr<Prepared> PreparePad(const PrepareContext& c) {
  const int rank = c.outputs[0].shape.rank();
  if (rank <= kMaxRank) return Prepared{};
  return absl::UnimplementedError(absl::StrCat(rank, " axes, at most ", kMaxRank));
}

absl::Status PadGpu(const KernelContext& c) {
  const ArrayView& out = c.outputs[0];
  if (out.size() == 0) return absl::OkStatus();
  if (out.shape.rank() == 0) return CudaMover::CopyAll(c, c.inputs[0], c.reqs[0], out);
  const auto& param = c.param<PadParam>();
  const Padded map{{param, c.inputs[0].shape, out.shape}};
  return MoveRows(c, out.size(), 1, map, out.dtype, c.reqs[0], c.inputs[0].data, out.data,
                  param.constant_value);
}

absl::Status PadBackwardGpu(const KernelContext& c) {
  const ArrayView& grad = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || grad.size() == 0) return absl::OkStatus();
  if (grad.shape.rank() == 0) return CudaMover::CopyAll(c, c.inputs[0], c.reqs[0], grad);
  const PadAxes axes(c.param<PadParam>(), grad.shape, c.inputs[0].shape);
  return DispatchCompute(grad.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, grad.size(), SumCopies<decltype(zero)>, grad.size(), axes, grad.dtype,
                          c.inputs[0].data, grad.data, c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(Pad, DeviceType::kGpu, kAnyDType, PadGpu, PreparePad);
COOPER_REGISTER_KERNEL(_backward_Pad, DeviceType::kGpu, kAnyDType, PadBackwardGpu, PreparePad);

}  // namespace
}  // namespace cooper
