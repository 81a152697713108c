// Kernels of where and its gradient, and of the choices by one condition to which control flow is
// lowered.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/convert.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/control/select_param.h"
#include "symbol/ops/elemwise/where_arrays.h"

namespace cooper {
namespace {

// Sets mask[i] to whether element i is not 0. The comparison is in double, in which only 0 converts
// to 0.
void LoadMask(const ArrayView& condition, int64_t begin, int64_t n, bool* mask) {
  double block[kElementBlock];
  LoadBlock(ElementAt(condition.data, condition.dtype, begin), condition.dtype, n, block);
  for (int64_t i = 0; i < n; ++i) mask[i] = block[i] != 0;
}

// Computes output[i] = condition ? x[i] : y[i], where a null x or y stands for zeros. A condition
// shorter than the output has one element per row.
template <typename T>
void Choose(const ArrayView& condition, const T* x, const T* y, const ArrayView& output,
            WriteReq req) {
  const int64_t row = condition.size() == 0 ? 1 : output.size() / condition.size();
  T* out = output.as<T>();
  auto choose = [&](int64_t i, bool first) {
    const T* from = first ? x : y;
    const T value = from == nullptr ? T() : from[i];
    out[i] =
        req == WriteReq::kWrite
            ? value
            : ConvertElement<T>(static_cast<ComputeType<T>>(ConvertElement<ComputeType<T>>(out[i]) +
                                                            ConvertElement<ComputeType<T>>(value)));
  };
  ParallelForPlain(condition.size(), RowGrain(row), [&](int64_t begin, int64_t end) {
    bool mask[kElementBlock];
    for (; begin < end; begin += kElementBlock) {
      const int64_t n = std::min(kElementBlock, end - begin);
      LoadMask(condition, begin, n, mask);
      for (int64_t k = 0; k < n; ++k) {
        const int64_t first = (begin + k) * row;
        for (int64_t i = first; i < first + row; ++i) choose(i, mask[k]);
      }
    }
  });
}

// Computes output[i] = condition ? x[i] : y[i] for elements of four bytes of any type, with one
// float of the condition per element.
template <bool kX, bool kY>
void ChooseWords(const float* condition, const uint32_t* x, const uint32_t* y, int64_t n,
                 uint32_t* out) {
  ParallelFor(n, 16384, [=](int64_t begin, int64_t end) {
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = begin; i < end; ++i) {
      // Both are loaded unconditionally so that the loop is vectorised.
      const uint32_t first = kX ? x[i] : 0;
      const uint32_t second = kY ? y[i] : 0;
      out[i] = condition[i] != 0 ? first : second;
    }
  });
}

// Runs ChooseWords if the arguments suit it. Otherwise returns false without any effect.
bool ChooseFast(const ArrayView& condition, const void* x, const void* y, const ArrayView& output,
                WriteReq req) {
  if (req != WriteReq::kWrite || SizeOf(output.dtype) != sizeof(uint32_t) ||
      condition.dtype != DType::kFloat32 || condition.size() != output.size()) {
    return false;
  }
  const auto choose = x == nullptr   ? ChooseWords<false, true>
                      : y == nullptr ? ChooseWords<true, false>
                                     : ChooseWords<true, true>;
  choose(condition.as<float>(), static_cast<const uint32_t*>(x), static_cast<const uint32_t*>(y),
         output.size(), output.as<uint32_t>());
  return true;
}

absl::Status WhereCpu(const KernelContext& c) {
  using enum WhereArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (ChooseFast(c.inputs[kCondition], c.inputs[kX].data, c.inputs[kY].data, c.outputs[0],
                 c.reqs[0])) {
    return absl::OkStatus();
  }
  DispatchDType(c.outputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Choose<T>(c.inputs[kCondition], c.inputs[kX].as<T>(), c.inputs[kY].as<T>(), c.outputs[0],
              c.reqs[0]);
  });
  return absl::OkStatus();
}

absl::Status WhereBackwardCpu(const KernelContext& c) {
  using enum WhereGradientArrays::Input;
  using enum WhereGradientArrays::Output;
  DispatchDType(c.outputs[kXGrad].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const ArrayView& condition = c.inputs[kCondition];
    const T* ograd = c.inputs[kOgrad].as<T>();
    if (c.reqs[kXGrad] != WriteReq::kNull &&
        !ChooseFast(condition, ograd, nullptr, c.outputs[kXGrad], c.reqs[kXGrad])) {
      Choose<T>(condition, ograd, nullptr, c.outputs[kXGrad], c.reqs[kXGrad]);
    }
    if (c.reqs[kYGrad] != WriteReq::kNull &&
        !ChooseFast(condition, nullptr, ograd, c.outputs[kYGrad], c.reqs[kYGrad])) {
      Choose<T>(condition, nullptr, ograd, c.outputs[kYGrad], c.reqs[kYGrad]);
    }
  });
  return absl::OkStatus();
}

// Writes or adds `input`, which the output may lie over.
void Take(const ArrayView& input, const ArrayView& output, WriteReq req) {
  if (input.data != output.data || req == WriteReq::kAdd) ConvertArray(input, output, req);
}

absl::Status SelectCpu(const KernelContext& c) {
  using enum SelectArrays::Input;
  Take(c.inputs[*c.inputs[kCondition].as<bool>() ? kOnTrue : kOnFalse], c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

absl::Status KeepIfCpu(const KernelContext& c) {
  using enum GuardArrays::Input;
  if (*c.inputs[kCondition].as<bool>() == c.param<GuardParam>().expected) {
    Take(c.inputs[kData], c.outputs[0], c.reqs[0]);
  } else if (c.reqs[0] == WriteReq::kWrite) {
    FillArray(0, c.outputs[0], WriteReq::kWrite);
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_select, DeviceType::kCpu, kAnyDType, SelectCpu);
COOPER_REGISTER_KERNEL(_keep_if, DeviceType::kCpu, kAnyDType, KeepIfCpu);
COOPER_REGISTER_KERNEL(where, DeviceType::kCpu, kAnyDType, WhereCpu);
COOPER_REGISTER_KERNEL(_backward_where, DeviceType::kCpu, kAnyDType, WhereBackwardCpu);

}  // namespace
}  // namespace cooper
