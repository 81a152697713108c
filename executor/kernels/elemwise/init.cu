// GPU kernels of arrays that are generated from parameters, or from the shape of an input.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/convert_cuda.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/elemwise/init_param.h"

namespace cooper {
namespace {

template <int kValue>
absl::Status ConstantGpu(const KernelContext& c) {
  return FillArrayGpu(c, kValue, c.outputs[0], c.reqs[0]);
}

absl::Status FullGpu(const KernelContext& c) {
  return FillArrayGpu(c, c.param<FullParam>().value, c.outputs[0], c.reqs[0]);
}

// Returns `start` for the first `repeat` elements, then `step` more for each further `repeat`.
template <typename N>
struct Steps {
  N start, step;
  int64_t repeat;
  __device__ N operator()(int64_t i) const {
    return WrapAdd(start, WrapMul(static_cast<N>(i / repeat), step));
  }
};

struct Eye {
  int64_t columns, diagonal;
  __device__ double operator()(int64_t i) const {
    return i % columns - i / columns == diagonal ? 1.0 : 0.0;
  }
};

struct Extents {
  static constexpr int kMaxRank = 64;
  int64_t extents[kMaxRank];
  __device__ double operator()(int64_t i) const { return static_cast<double>(extents[i]); }
};

template <typename Fn>
__global__ void WriteValues(int64_t n, const Fn value, void* out, DType dtype, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreElement(out, dtype, i, value(i), add);
  }
}

// Sets element i to fn(i).
template <typename Fn>
absl::Status Generate(const KernelContext& c, const Fn& fn) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& out = c.outputs[0];
  return LaunchElements(c, out.size(), WriteValues<Fn>, out.size(), fn, out.data, out.dtype,
                        c.reqs[0] == WriteReq::kAdd);
}

absl::Status GenerateRange(const KernelContext& c, double start, double step, int64_t repeat) {
  const DType dtype = c.outputs[0].dtype;
  start = AsNumberOf(dtype, start);
  step = AsNumberOf(dtype, step);
  if (IsFloating(dtype)) return Generate(c, Steps<double>{start, step, repeat});
  return Generate(c, Steps<int64_t>{IntegerOf<int64_t>(start), IntegerOf<int64_t>(step), repeat});
}

absl::Status ArangeGpu(const KernelContext& c) {
  const auto& param = c.param<ArangeParam>();
  return GenerateRange(c, param.first(), param.step, param.repeat);
}

absl::Status ArangeLikeGpu(const KernelContext& c) {
  const auto& param = c.param<ArangeLikeParam>();
  return GenerateRange(c, param.start, param.step, param.repeat);
}

absl::Status LinspaceGpu(const KernelContext& c) {
  const auto& param = c.param<LinspaceParam>();
  const int64_t gaps = param.num - (param.endpoint ? 1 : 0);
  const double step = gaps > 0 ? (param.stop - param.start) / static_cast<double>(gaps) : 0;
  return Generate(c, Steps<double>{param.start, step, 1});
}

absl::Status EyeGpu(const KernelContext& c) {
  return Generate(c, Eye{c.outputs[0].shape[1], c.param<EyeParam>().diagonal});
}

absl::Status ShapeArrayGpu(const KernelContext& c) {
  const Shape& shape = c.inputs[0].shape;
  if (shape.rank() > Extents::kMaxRank) {
    return absl::UnimplementedError(absl::StrCat("shape_array of ", shape.rank(), " axes"));
  }
  Extents extents = {};
  for (int i = 0; i < shape.rank(); ++i) extents.extents[i] = shape[i];
  return Generate(c, extents);
}

absl::Status SizeArrayGpu(const KernelContext& c) {
  return FillArrayGpu(c, static_cast<double>(c.inputs[0].size()), c.outputs[0], c.reqs[0]);
}

COOPER_REGISTER_KERNEL(_zeros, DeviceType::kGpu, kAnyDType, ConstantGpu<0>);
COOPER_REGISTER_KERNEL(zeros_like, DeviceType::kGpu, kAnyDType, ConstantGpu<0>);
COOPER_REGISTER_KERNEL(_ones, DeviceType::kGpu, kAnyDType, ConstantGpu<1>);
COOPER_REGISTER_KERNEL(ones_like, DeviceType::kGpu, kAnyDType, ConstantGpu<1>);
COOPER_REGISTER_KERNEL(_full, DeviceType::kGpu, kAnyDType, FullGpu);
COOPER_REGISTER_KERNEL(_arange, DeviceType::kGpu, kAnyDType, ArangeGpu);
COOPER_REGISTER_KERNEL(_contrib_arange_like, DeviceType::kGpu, kAnyDType, ArangeLikeGpu);
COOPER_REGISTER_KERNEL(_linspace, DeviceType::kGpu, kAnyDType, LinspaceGpu);
COOPER_REGISTER_KERNEL(_eye, DeviceType::kGpu, kAnyDType, EyeGpu);
COOPER_REGISTER_KERNEL(shape_array, DeviceType::kGpu, kAnyDType, ShapeArrayGpu);
COOPER_REGISTER_KERNEL(size_array, DeviceType::kGpu, kAnyDType, SizeArrayGpu);

}  // namespace
}  // namespace cooper
