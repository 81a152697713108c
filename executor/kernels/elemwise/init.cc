// Kernels of arrays that are generated from parameters, or from the shape of an input.

#include <algorithm>

#include "executor/kernels/loops/convert.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/elemwise/init_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;

template <int kValue>
absl::Status ConstantCpu(const KernelContext& c) {
  FillArray(kValue, c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

absl::Status FullCpu(const KernelContext& c) {
  FillArray(c.param<FullParam>().value, c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

// Sets element i to fn(i), a double or an int64_t.
template <typename Fn>
absl::Status Generate(const KernelContext& c, Fn fn) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& output = c.outputs[0];
  ParallelForPlain(output.size(), 16384, [&](int64_t begin, int64_t end) {
    decltype(fn(begin)) block[kElementBlock];
    for (; begin < end; begin += kElementBlock) {
      const int64_t n = std::min(kElementBlock, end - begin);
      for (int64_t i = 0; i < n; ++i) block[i] = fn(begin + i);
      StoreBlock(block, n, c.reqs[0], ElementAt(output.data, output.dtype, begin), output.dtype);
    }
  });
  return absl::OkStatus();
}

// Each value is repeated `repeat` times.
absl::Status GenerateRange(const KernelContext& c, double start, double step, int64_t repeat) {
  start = AsNumberOf(c.outputs[0].dtype, start);
  step = AsNumberOf(c.outputs[0].dtype, step);
  if (!IsFloating(c.outputs[0].dtype)) {
    const auto first = IntegerOf<int64_t>(start), gap = IntegerOf<int64_t>(step);
    return Generate(c, [=](int64_t i) { return WrapAdd(first, WrapMul(i / repeat, gap)); });
  }
  return Generate(c, [=](int64_t i) {
    const int64_t steps = i / repeat;
    return start + static_cast<double>(steps) * step;
  });
}

absl::Status ArangeCpu(const KernelContext& c) {
  const auto& param = c.param<ArangeParam>();
  return GenerateRange(c, param.first(), param.step, param.repeat);
}

absl::Status ArangeLikeCpu(const KernelContext& c) {
  const auto& param = c.param<ArangeLikeParam>();
  return GenerateRange(c, param.start, param.step, param.repeat);
}

absl::Status LinspaceCpu(const KernelContext& c) {
  const auto& param = c.param<LinspaceParam>();
  const int64_t gaps = param.num - (param.endpoint ? 1 : 0);
  const double step = gaps > 0 ? (param.stop - param.start) / static_cast<double>(gaps) : 0;
  return Generate(c, [&](int64_t i) { return param.start + static_cast<double>(i) * step; });
}

absl::Status EyeCpu(const KernelContext& c) {
  const int64_t columns = c.outputs[0].shape[1];
  const int64_t diagonal = c.param<EyeParam>().diagonal;
  return Generate(c, [&](int64_t i) { return i % columns - i / columns == diagonal ? 1.0 : 0.0; });
}

absl::Status ShapeArrayCpu(const KernelContext& c) {
  return Generate(c, [&](int64_t i) {
    return static_cast<double>(c.inputs[kData].shape[static_cast<int>(i)]);
  });
}

absl::Status SizeArrayCpu(const KernelContext& c) {
  FillArray(static_cast<double>(c.inputs[kData].size()), c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_zeros, DeviceType::kCpu, kAnyDType, ConstantCpu<0>);
COOPER_REGISTER_KERNEL(zeros_like, DeviceType::kCpu, kAnyDType, ConstantCpu<0>);
COOPER_REGISTER_KERNEL(_ones, DeviceType::kCpu, kAnyDType, ConstantCpu<1>);
COOPER_REGISTER_KERNEL(ones_like, DeviceType::kCpu, kAnyDType, ConstantCpu<1>);
COOPER_REGISTER_KERNEL(_full, DeviceType::kCpu, kAnyDType, FullCpu);
COOPER_REGISTER_KERNEL(_arange, DeviceType::kCpu, kAnyDType, ArangeCpu);
COOPER_REGISTER_KERNEL(_contrib_arange_like, DeviceType::kCpu, kAnyDType, ArangeLikeCpu);
COOPER_REGISTER_KERNEL(_linspace, DeviceType::kCpu, kAnyDType, LinspaceCpu);
COOPER_REGISTER_KERNEL(_eye, DeviceType::kCpu, kAnyDType, EyeCpu);
COOPER_REGISTER_KERNEL(shape_array, DeviceType::kCpu, kAnyDType, ShapeArrayCpu);
COOPER_REGISTER_KERNEL(size_array, DeviceType::kCpu, kAnyDType, SizeArrayCpu);

}  // namespace
}  // namespace cooper
