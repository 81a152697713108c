#ifndef COOPER_EXECUTOR_KERNELS_RANDOM_RANDOM_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_RANDOM_RANDOM_KERNELS_H_

// Kernels of operators that draw arrays of random numbers, for a device that says how its arrays
// are filled:
//
//   struct Cpu {
//     // Element i is DrawAt(distribution, digits, c.random, i).
//     template <typename Distribution>
//     static absl::Status DrawAll(const KernelContext& c, const Distribution& distribution);
//     // The distribution of elements [k * draws, (k + 1) * draws) is that of parameters k.
//     template <typename Distribution>
//     static absl::Status DrawEach(const KernelContext& c, int64_t draws, const ArrayView& first,
//                                  const ArrayView& last);
//     // Element i is DrawInteger(low, range, its ElementRandom).
//     static absl::Status DrawIntegers(const KernelContext& c, int64_t low, uint64_t range);
//   };
//
// The kernels call these functions only for arrays with elements and for requests other than kNull.
//
// draw.cc defines the device for the CPU and registers these kernels, draw.cu does so for GPUs.
// random_draws.h has DrawAt and DrawInteger.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/random/random_draws.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/random/draw_param.h"

namespace cooper {

// The dtypes of outputs: those of _random_randint are the integers. Arrays of parameters may have
// any dtype.
inline constexpr DTypeSet kRandomFloats = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                           DType::kBfloat16};
inline constexpr DTypeSet kRandomIntegers = {DType::kInt32, DType::kInt64};

// Returns whether the kernel has no element to draw.
inline bool DrawsNothing(const KernelContext& c) {
  return c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0;
}

// Runs _random_NAME or _random_NAME_like: all elements have the distribution of the node's
// parameters. `Param` is RandomParam<Distribution> or RandomLikeParam<Distribution>. A
// Kernel::RunFn.
//
// Errors: those of Device::DrawAll.
//
// Errors: those of Device::DrawAll.
template <typename Device, typename Distribution, typename Param>
absl::Status DrawAllKernel(const KernelContext& c) {
  if (DrawsNothing(c)) return absl::OkStatus();
  return Device::template DrawAll<Distribution>(c, c.param<Param>());
}

// Runs _sample_NAME: draws for each element of the parameter arrays a block of equally many
// numbers. Parameters of shape (s...) give an output (s..., shape...), so `draws` is the product of
// `shape`. A Kernel::RunFn.
//
// Errors: those of Device::DrawEach.
template <typename Device, typename Distribution>
absl::Status DrawEachKernel(const KernelContext& c) {
  if (DrawsNothing(c)) return absl::OkStatus();
  const ArrayView& first = c.inputs[0];
  const ArrayView& last = c.inputs.back();  // the same array if there is one parameter
  const int64_t draws = c.outputs[0].size() / first.size();
  return Device::template DrawEach<Distribution>(c, draws, first, last);
}

// Runs _random_randint: draws integers in [low, high). The operator's check has ensured low < high.
// A Kernel::RunFn.
//
// Errors: those of Device::DrawIntegers.
template <typename Device>
absl::Status DrawIntegersKernel(const KernelContext& c) {
  if (DrawsNothing(c)) return absl::OkStatus();
  const auto& p = c.param<RandomIntegersParam>();
  const uint64_t range = static_cast<uint64_t>(p.high) - static_cast<uint64_t>(p.low);
  return Device::DrawIntegers(c, p.low, range);
}

#define COOPER_REGISTER_DRAWS_OF_(NAME, D, TYPE, DEVICE)                  \
  COOPER_REGISTER_KERNEL(_random_##NAME, TYPE, kRandomFloats,             \
                         (DrawAllKernel<DEVICE, D, RandomParam<D>>));     \
  COOPER_REGISTER_KERNEL(_random_##NAME##_like, TYPE, kRandomFloats,      \
                         (DrawAllKernel<DEVICE, D, RandomLikeParam<D>>)); \
  COOPER_REGISTER_KERNEL(_sample_##NAME, TYPE, kAnyDType, (DrawEachKernel<DEVICE, D>))

// Registers all kernels, with the functions of struct DEVICE, for DeviceType TYPE.
#define COOPER_REGISTER_RANDOM_KERNELS(TYPE, DEVICE)                                        \
  COOPER_REGISTER_DRAWS_OF_(uniform, UniformDistribution, TYPE, DEVICE);                    \
  COOPER_REGISTER_DRAWS_OF_(normal, NormalDistribution, TYPE, DEVICE);                      \
  COOPER_REGISTER_DRAWS_OF_(gamma, GammaDistribution, TYPE, DEVICE);                        \
  COOPER_REGISTER_DRAWS_OF_(exponential, ExponentialDistribution, TYPE, DEVICE);            \
  COOPER_REGISTER_DRAWS_OF_(poisson, PoissonDistribution, TYPE, DEVICE);                    \
  COOPER_REGISTER_DRAWS_OF_(negative_binomial, NegativeBinomialDistribution, TYPE, DEVICE); \
  COOPER_REGISTER_DRAWS_OF_(generalized_negative_binomial,                                  \
                            GeneralizedNegativeBinomialDistribution, TYPE, DEVICE);         \
  COOPER_REGISTER_KERNEL(_random_randint, TYPE, kRandomIntegers, DrawIntegersKernel<DEVICE>)

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_RANDOM_KERNELS_H_
