// GPU kernels of operators that draw arrays of random numbers. They draw the same numbers as the
// CPU, except for the last bits of functions such as log.

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/device_random.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/map_quads.h"
#include "executor/kernels/random/random_draws.h"
#include "executor/kernels/random/random_kernels.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

struct Output {
  void* data;
  DType dtype;
  int digits;
  bool add;
};

Output OutputOf(const KernelContext& c) {
  const ArrayView& output = c.outputs[0];
  return {output.data, output.dtype, FloatDigits(output.dtype), c.reqs[0] == WriteReq::kAdd};
}

template <typename Distribution>
__global__ void FillAll(int64_t count, DeviceRandom source, Distribution distribution, Output out) {
  const Philox stream = source.Get();
  if constexpr (kDrawnInFours<Distribution>) {
    auto* const floats = static_cast<float*>(out.data);
    const bool in_quads = out.dtype == DType::kFloat32 && HoldsQuads(floats);
    for (int64_t four = FirstElement(); 4 * four < count; four += ElementStep()) {
      const std::array<double, 4> drawn = DrawFour(distribution, out.digits, stream, four);
      if (in_quads && 4 * four + 4 <= count) {
        StoreQuad(floats, four, out.add, [&drawn](int k) { return drawn[k]; });
        continue;
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int64_t i = 4 * four + k;
        if (i < count) StoreElement(out.data, out.dtype, i, drawn[k], out.add);
      }
    }
  } else {
    for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
      StoreElement(out.data, out.dtype, i, DrawAt(distribution, out.digits, stream, i), out.add);
    }
  }
}

template <typename Distribution>
__global__ void FillEach(int64_t count, int64_t draws, DeviceRandom source, DType dtype,
                         const void* first, const void* last, Output out) {
  const Philox stream = source.Get();
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const auto distribution = Distribution::Of(LoadElement<double>(first, dtype, i / draws),
                                               LoadElement<double>(last, dtype, i / draws));
    StoreElement(out.data, out.dtype, i, DrawAt(distribution, out.digits, stream, i), out.add);
  }
}

__global__ void FillIntegers(int64_t count, DeviceRandom source, int64_t low, uint64_t range,
                             Output out) {
  const Philox stream = source.Get();
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    ElementRandom random(stream, i);
    StoreElement(out.data, out.dtype, i, DrawInteger(low, range, random), out.add);
  }
}

struct Gpu {
  template <typename Distribution>
  static absl::Status DrawAll(const KernelContext& c, const Distribution& distribution) {
    const int64_t count = c.outputs[0].size();
    const int64_t work = kDrawnInFours<Distribution> ? QuadsOf(count) : count;
    return LaunchElements(c, work, FillAll<Distribution>, count, DeviceRandomOf(c), distribution,
                          OutputOf(c));
  }

  template <typename Distribution>
  static absl::Status DrawEach(const KernelContext& c, int64_t draws, const ArrayView& first,
                               const ArrayView& last) {
    const int64_t count = c.outputs[0].size();
    return LaunchElements(c, count, FillEach<Distribution>, count, draws, DeviceRandomOf(c),
                          first.dtype, first.data, last.data, OutputOf(c));
  }

  static absl::Status DrawIntegers(const KernelContext& c, int64_t low, uint64_t range) {
    const int64_t count = c.outputs[0].size();
    return LaunchElements(c, count, FillIntegers, count, DeviceRandomOf(c), low, range,
                          OutputOf(c));
  }
};

COOPER_REGISTER_RANDOM_KERNELS(DeviceType::kGpu, Gpu);

}  // namespace
}  // namespace cooper
