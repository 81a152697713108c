// Kernels of operators that draw arrays of random numbers: by blocks of doubles, or of int64_t.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/cpu/elemwise/element_block.h"
#include "executor/elements/random_draws.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"
#include "ndarray/philox.h"
#include "symbol/ops/random/draw_param.h"

namespace cooper {
namespace {

// Of outputs; parameters in arrays may be of any dtype.
constexpr DTypeSet kRandomFloats = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                    DType::kBfloat16};
constexpr DTypeSet kRandomIntegers = {DType::kInt32, DType::kInt64};

// Numbers that are made at once.
constexpr int64_t kGroup = 4;

// Calls fill(first element, n, C* block) for blocks of the output, and stores them. Blocks begin at
// multiples of kGroup, and have room for n rounded up to one.
template <typename C, typename Fill>
absl::Status FillBlocks(const KernelContext& c, Fill&& fill) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& output = c.outputs[0];
  static_assert(kElementBlock % kGroup == 0);
  const int64_t groups = (output.size() + kGroup - 1) / kGroup;
  ParallelForPlain(groups, 256, [&](int64_t first, int64_t last) {
    C block[kElementBlock];
    const int64_t end = std::min(last * kGroup, output.size());
    for (int64_t begin = first * kGroup; begin < end; begin += kElementBlock) {
      const int64_t n = std::min(kElementBlock, end - begin);
      fill(begin, n, block);
      StoreBlock(block, n, c.reqs[0], ElementAt(output.data, output.dtype, begin), output.dtype);
    }
  });
  return absl::OkStatus();
}

// DrawAt of n elements from `begin` on, but several at once.
template <typename Distribution>
void DrawBlock(const Distribution& d, int digits, const Philox& random, int64_t begin, int64_t n,
               double* block) {
  for (int64_t i = 0; i < n; ++i) block[i] = DrawAt(d, digits, random, begin + i);
}
void DrawBlock(const NormalDistribution& d, int /*digits*/, const Philox& random, int64_t begin,
               int64_t n, double* block) {
  for (int64_t i = 0; i < n; i += 2) {
    const NormalPair pair(random.At((begin + i) / 2));
    block[i] = d.loc + d.scale * pair.first;
    block[i + 1] = d.loc + d.scale * pair.second;
  }
}
void DrawBlock(const UniformDistribution& d, int digits, const Philox& random, int64_t begin,
               int64_t n, double* block) {
  if (digits > 24) {
    return DrawBlock<UniformDistribution>(d, digits, random, begin, n, block);
  }
  for (int64_t i = 0; i < n; i += kGroup) {
    const auto words = random.At((begin + i) / kGroup);
    for (int k = 0; k < kGroup; ++k) block[i + k] = Draw(d, words[k], digits);
  }
}

template <typename Distribution>
absl::Status DrawAll(const KernelContext& c, const Distribution& distribution) {
  const int digits = FloatDigits(c.outputs[0].dtype);
  return FillBlocks<double>(c, [&](int64_t begin, int64_t n, double* block) {
    DrawBlock(distribution, digits, c.random, begin, n, block);
  });
}

template <typename Distribution>
absl::Status RandomCpu(const KernelContext& c) {
  return DrawAll<Distribution>(c, c.param<RandomParam<Distribution>>());
}

template <typename Distribution>
absl::Status RandomLikeCpu(const KernelContext& c) {
  return DrawAll<Distribution>(c, c.param<RandomLikeParam<Distribution>>());
}

double ElementOf(const ArrayView& array, int64_t i) {
  double value = 0;
  LoadBlock(ElementAt(array.data, array.dtype, i), array.dtype, 1, &value);
  return value;
}

template <typename Distribution>
absl::Status SampleCpu(const KernelContext& c) {
  if (c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& first = c.inputs[0];
  const ArrayView& last = c.inputs.back();  // the first, where there is one parameter
  const int64_t draws = c.outputs[0].size() / first.size();
  const int digits = FloatDigits(c.outputs[0].dtype);
  return FillBlocks<double>(c, [&](int64_t begin, int64_t n, double* block) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t of = (begin + i) / draws;
      const auto distribution = Distribution::Of(ElementOf(first, of), ElementOf(last, of));
      block[i] = DrawAt(distribution, digits, c.random, begin + i);
    }
  });
}

absl::Status RandomIntegersCpu(const KernelContext& c) {
  const auto& p = c.param<RandomIntegersParam>();
  const uint64_t range = static_cast<uint64_t>(p.high) - static_cast<uint64_t>(p.low);
  return FillBlocks<int64_t>(c, [&](int64_t begin, int64_t n, int64_t* block) {
    for (int64_t i = 0; i < n; ++i) {
      ElementRandom random(c.random, begin + i);
      block[i] = DrawInteger(p.low, range, random);
    }
  });
}

#define COOPER_REGISTER_RANDOM_KERNELS(NAME, DISTRIBUTION)                       \
  COOPER_REGISTER_KERNEL(_random_##NAME, DeviceType::kCpu, kRandomFloats,        \
                         RandomCpu<DISTRIBUTION>);                               \
  COOPER_REGISTER_KERNEL(_random_##NAME##_like, DeviceType::kCpu, kRandomFloats, \
                         RandomLikeCpu<DISTRIBUTION>);                           \
  COOPER_REGISTER_KERNEL(_sample_##NAME, DeviceType::kCpu, kAnyDType, SampleCpu<DISTRIBUTION>)

COOPER_REGISTER_RANDOM_KERNELS(uniform, UniformDistribution);
COOPER_REGISTER_RANDOM_KERNELS(normal, NormalDistribution);
COOPER_REGISTER_RANDOM_KERNELS(gamma, GammaDistribution);
COOPER_REGISTER_RANDOM_KERNELS(exponential, ExponentialDistribution);
COOPER_REGISTER_RANDOM_KERNELS(poisson, PoissonDistribution);
COOPER_REGISTER_RANDOM_KERNELS(negative_binomial, NegativeBinomialDistribution);
COOPER_REGISTER_RANDOM_KERNELS(generalized_negative_binomial,
                               GeneralizedNegativeBinomialDistribution);
COOPER_REGISTER_KERNEL(_random_randint, DeviceType::kCpu, kRandomIntegers, RandomIntegersCpu);

}  // namespace
}  // namespace cooper
