// Kernel of _npi_bincount for CPUs.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/loops/counted_shapes.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/cpu_level.h"
#include "symbol/ops/numpy/bincount_param.h"

namespace cooper {
namespace {

using enum BincountArrays::Input;
using enum BincountArrays::Output;

// Calls fn(i, count, numbers) for blocks of `data`, converted to int64, from element i on.
void ForBlocksOfNumbers(
    const ArrayView& data,
    absl::FunctionRef<void(int64_t i, int64_t count, const int64_t* numbers)> fn) {
  constexpr int64_t kBlock = 512;
  const int64_t size = data.size();
  DispatchDType(data.dtype, [&](auto tag) {
    const auto* const from = data.as<typename decltype(tag)::type>();
    int64_t numbers[kBlock];
    for (int64_t i = 0; i < size; i += kBlock) {
      const int64_t count = std::min(kBlock, size - i);
      for (int64_t k = 0; k < count; ++k) numbers[k] = ConvertElement<int64_t>(from[i + k]);
      fn(i, count, numbers);
    }
  });
}

// Returns the smaller of 0 and the least number, and the larger of 0 and the greatest number, or -1
// if there are no numbers.
std::pair<int64_t, int64_t> RangeOf(const ArrayView& data) {
  const int64_t size = data.size();
  int64_t least = 0, greatest = -1;
  DispatchDType(data.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    // Integers are compared as they are, which compilers vectorise.
    using Number = std::conditional_t<std::is_integral_v<T>, T, int64_t>;
    const T* const from = data.as<T>();
    RunAtCpuLevel([&] {
      Number low = 0, high = 0;
      for (int64_t i = 0; i < size; ++i) {
        low = std::min(low, ConvertElement<Number>(from[i]));
        high = std::max(high, ConvertElement<Number>(from[i]));
      }
      least = ConvertElement<int64_t>(low);
      greatest = size > 0 ? ConvertElement<int64_t>(high) : -1;
    });
  });
  return {least, greatest};
}

absl::Status BincountCpu(const KernelContext& c) {
  const auto& param = c.param<BincountParam>();
  const ArrayView& data = c.inputs[kData];
  const int64_t most = c.outputs[kCounts].shape[0];
  const auto [least, greatest] = RangeOf(data);
  if (least < 0) {
    return absl::InvalidArgumentError(absl::StrCat("input 'data' has the negative number ", least));
  }
  if (greatest >= most) {
    return absl::InvalidArgumentError(absl::StrCat("input 'data' has the number ", greatest,
                                                   ", and memory is planned for ", most,
                                                   " bins; set minlength above all numbers"));
  }
  ArrayView counts = c.outputs[kCounts];
  counts.shape = Shape({std::max({param.minlength, greatest + 1, int64_t{0}})});
  WriteShapes(c, {counts.shape});
  if (c.reqs[kCounts] == WriteReq::kNull) return absl::OkStatus();
  ZeroIfWrite(c.reqs[kCounts], counts);
  DispatchDType(counts.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = ComputeType<T>;
    T* const to = counts.as<T>();
    const T* const weights = param.has_weights ? c.inputs[kWeights].as<T>() : nullptr;
    ForBlocksOfNumbers(data, [&](int64_t i, int64_t count, const int64_t* numbers) {
      const auto add = [&](int64_t number, C weight) {
        to[number] = ConvertElement<T>(WrapAdd(ConvertElement<C>(to[number]), weight));
      };
      if (weights == nullptr) {
        for (int64_t k = 0; k < count; ++k) add(numbers[k], 1);
      } else {
        for (int64_t k = 0; k < count; ++k) add(numbers[k], ConvertElement<C>(weights[i + k]));
      }
    });
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_npi_bincount, DeviceType::kCpu, kAnyDType, BincountCpu);

}  // namespace
}  // namespace cooper
