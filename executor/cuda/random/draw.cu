// GPU kernels of operators that draw arrays of random numbers: those of the CPU but for the last
// bits of functions such as log.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/cuda/device_random.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/elements/random_draws.h"
#include "executor/kernel.h"
#include "symbol/ops/random/draw_param.h"

namespace cooper {
namespace {

constexpr DTypeSet kRandomIntegers = {DType::kInt32, DType::kInt64};

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
__global__ void DrawAll(int64_t count, DeviceRandom source, Distribution distribution, Output out) {
  const Philox stream = source.Get();
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    StoreElement(out.data, out.dtype, i, DrawAt(distribution, out.digits, stream, i), out.add);
  }
}

template <typename Distribution>
__global__ void DrawEach(int64_t count, int64_t draws, DeviceRandom source, DType dtype,
                         const void* first, const void* last, Output out) {
  const Philox stream = source.Get();
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const auto distribution = Distribution::Of(LoadElement<double>(first, dtype, i / draws),
                                               LoadElement<double>(last, dtype, i / draws));
    StoreElement(out.data, out.dtype, i, DrawAt(distribution, out.digits, stream, i), out.add);
  }
}

__global__ void DrawIntegers(int64_t count, DeviceRandom source, int64_t low, uint64_t range,
                             Output out) {
  const Philox stream = source.Get();
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    ElementRandom random(stream, i);
    StoreElement(out.data, out.dtype, i, DrawInteger(low, range, random), out.add);
  }
}

template <typename Distribution>
absl::Status LaunchDraws(const KernelContext& c, const Distribution& distribution) {
  const int64_t count = c.outputs[0].size();
  if (c.reqs[0] == WriteReq::kNull || count == 0) return absl::OkStatus();
  return LaunchElements(c, count, DrawAll<Distribution>, count, DeviceRandomOf(c), distribution,
                        OutputOf(c));
}

template <typename Distribution>
absl::Status RandomGpu(const KernelContext& c) {
  return LaunchDraws<Distribution>(c, c.param<RandomParam<Distribution>>());
}

template <typename Distribution>
absl::Status RandomLikeGpu(const KernelContext& c) {
  return LaunchDraws<Distribution>(c, c.param<RandomLikeParam<Distribution>>());
}

template <typename Distribution>
absl::Status SampleGpu(const KernelContext& c) {
  const int64_t count = c.outputs[0].size();
  if (c.reqs[0] == WriteReq::kNull || count == 0) return absl::OkStatus();
  const ArrayView& first = c.inputs[0];
  return LaunchElements(c, count, DrawEach<Distribution>, count, count / first.size(),
                        DeviceRandomOf(c), first.dtype, first.data, c.inputs.back().data,
                        OutputOf(c));
}

absl::Status RandomIntegersGpu(const KernelContext& c) {
  const int64_t count = c.outputs[0].size();
  if (c.reqs[0] == WriteReq::kNull || count == 0) return absl::OkStatus();
  const auto& p = c.param<RandomIntegersParam>();
  const uint64_t range = static_cast<uint64_t>(p.high) - static_cast<uint64_t>(p.low);
  return LaunchElements(c, count, DrawIntegers, count, DeviceRandomOf(c), p.low, range,
                        OutputOf(c));
}

#define COOPER_REGISTER_RANDOM_KERNELS(NAME, DISTRIBUTION)                                        \
  COOPER_REGISTER_KERNEL(_random_##NAME, DeviceType::kGpu, kCudaFloats, RandomGpu<DISTRIBUTION>); \
  COOPER_REGISTER_KERNEL(_random_##NAME##_like, DeviceType::kGpu, kCudaFloats,                    \
                         RandomLikeGpu<DISTRIBUTION>);                                            \
  COOPER_REGISTER_KERNEL(_sample_##NAME, DeviceType::kGpu, kAnyDType, SampleGpu<DISTRIBUTION>)

COOPER_REGISTER_RANDOM_KERNELS(uniform, UniformDistribution);
COOPER_REGISTER_RANDOM_KERNELS(normal, NormalDistribution);
COOPER_REGISTER_RANDOM_KERNELS(gamma, GammaDistribution);
COOPER_REGISTER_RANDOM_KERNELS(exponential, ExponentialDistribution);
COOPER_REGISTER_RANDOM_KERNELS(poisson, PoissonDistribution);
COOPER_REGISTER_RANDOM_KERNELS(negative_binomial, NegativeBinomialDistribution);
COOPER_REGISTER_RANDOM_KERNELS(generalized_negative_binomial,
                               GeneralizedNegativeBinomialDistribution);
COOPER_REGISTER_KERNEL(_random_randint, DeviceType::kGpu, kRandomIntegers, RandomIntegersGpu);

}  // namespace
}  // namespace cooper
