#ifndef COOPER_EXECUTOR_KERNELS_ELEMWISE_INIT_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_ELEMWISE_INIT_KERNELS_H_

// Kernels of arrays that are generated from parameters, or from the size of an input, templates
// over the device, which init.cc and init.cu instantiate. A Device is a struct of two static
// functions, which set or add to output 0:
//
//   Fill(c, value)     each element by `value`, a double
//   Generate(c, fn)    element i by fn(i), a double or an int64_t; fn is one of the structs below
//
// Each kernel is a Kernel::RunFn. Errors are those of the Device.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/elemwise/init_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {

// Returns `start` for the first `repeat` elements, then `step` more for each further `repeat`.
template <typename N>
struct Steps {
  N start, step;
  int64_t repeat;
  COOPER_HOST_DEVICE N operator()(int64_t i) const {
    const int64_t steps = i / repeat;
    return WrapAdd(start, WrapMul(static_cast<N>(steps), step));
  }
};

// Returns start + i * step.
struct Line {
  double start, step;
  COOPER_HOST_DEVICE double operator()(int64_t i) const {
    return start + static_cast<double>(i) * step;
  }
};

// Returns 1 on a diagonal of a matrix and 0 elsewhere.
struct Eye {
  int64_t columns, diagonal;
  COOPER_HOST_DEVICE double operator()(int64_t i) const {
    return i % columns - i / columns == diagonal ? 1.0 : 0.0;
  }
};

template <typename Device, int kValue>
absl::Status ConstantKernel(const KernelContext& c) {
  return Device::Fill(c, kValue);
}

template <typename Device>
absl::Status FullKernel(const KernelContext& c) {
  return Device::Fill(c, c.param<FullParam>().value);
}

template <typename Device>
absl::Status SizeArrayKernel(const KernelContext& c) {
  return Device::Fill(c, static_cast<double>(c.inputs[OneInputArrays::kData].size()));
}

template <typename Device>
absl::Status GenerateRange(const KernelContext& c, double start, double step, int64_t repeat) {
  const DType dtype = c.outputs[0].dtype;
  start = AsNumberOf(dtype, start);
  step = AsNumberOf(dtype, step);
  if (IsFloating(dtype)) return Device::Generate(c, Steps<double>{start, step, repeat});
  return Device::Generate(
      c, Steps<int64_t>{IntegerOf<int64_t>(start), IntegerOf<int64_t>(step), repeat});
}

template <typename Device>
absl::Status ArangeKernel(const KernelContext& c) {
  const auto& param = c.param<ArangeParam>();
  return GenerateRange<Device>(c, param.first(), param.step, param.repeat);
}

template <typename Device>
absl::Status ArangeLikeKernel(const KernelContext& c) {
  const auto& param = c.param<ArangeLikeParam>();
  return GenerateRange<Device>(c, param.start, param.step, param.repeat);
}

template <typename Device>
absl::Status LinspaceKernel(const KernelContext& c) {
  const auto& param = c.param<LinspaceParam>();
  const int64_t gaps = param.num - (param.endpoint ? 1 : 0);
  const double step = gaps > 0 ? (param.stop - param.start) / static_cast<double>(gaps) : 0;
  return Device::Generate(c, Line{param.start, step});
}

template <typename Device>
absl::Status EyeKernel(const KernelContext& c) {
  return Device::Generate(c, Eye{c.outputs[0].shape[1], c.param<EyeParam>().diagonal});
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_ELEMWISE_INIT_KERNELS_H_
