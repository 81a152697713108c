#ifndef COOPER_EXECUTOR_KERNELS_RANDOM_DRAW_BLOCK_H_
#define COOPER_EXECUTOR_KERNELS_RANDOM_DRAW_BLOCK_H_

// Draws blocks of random numbers on the CPU. For i below n,
//
//   DrawBlock(distribution, digits, random, begin, n, block)
//
// sets block[i] to DrawAt of element begin + i. Most distributions are drawn in vectors; callers
// run these functions by RunAtCpuLevel.
//
// draw.cc calls it for parts of an array on several threads and converts each block to the output's
// dtype. random_draws.h defines the numbers: each vectorised overload computes what DrawAt returns.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "executor/kernels/random/random_draws.h"
#include "ndarray/base/philox.h"
#include "ndarray/random/philox_lanes.h"
#include "symbol/ops/random/distributions.h"

namespace cooper {

// `begin` is a multiple of kDrawGroup, and `block` has room for n rounded up to such a multiple.
// Groups of four elements share the words of one position of the stream (uniform) or of two
// (normal).
inline constexpr int64_t kDrawGroup = 4;

// The positions of the stream whose words are computed together.
inline constexpr int kLanes = PhiloxLanes::kLanes;

// Returns a lane's first uniform number in [0, 1), from its words 0 and 1. UniformOf
// (random_draws.h) defines the number; so a lane has the same bits as an element that is drawn
// alone.
inline double FirstUniform(const PhiloxLanes& lanes, int lane) {
  return UniformOf(lanes.words[0][lane], lanes.words[1][lane]);
}
// Returns a lane's second uniform number in [0, 1), from its words 2 and 3.
inline double SecondUniform(const PhiloxLanes& lanes, int lane) {
  return UniformOf(lanes.words[2][lane], lanes.words[3][lane]);
}
// Returns a lane's two standard normal numbers. The two come from all four words of the lane.
inline NormalPair Normals(const PhiloxLanes& lanes, int lane) {
  return NormalPair(FirstUniform(lanes, lane), SecondUniform(lanes, lane));
}

// Draws n elements without vectors. Accepts any `begin` and n. `block` has room for n numbers.
template <typename Distribution>
void DrawOneByOne(const Distribution& d, int digits, const Philox& random, int64_t begin, int64_t n,
                  double* block) {
  for (int64_t i = 0; i < n; ++i) block[i] = DrawAt(d, digits, random, begin + i);
}

// Cumulative probabilities of a Poisson distribution with a mean below 10, up to the value from
// which they no longer grow in double. It serves inversion: the drawn number is the first k whose
// cumulative probability is above a uniform number. Costs one exp for each parameter of the
// distribution and, for a block, as many comparisons as it has entries and lanes. A plain value of
// about 520 bytes.
class PoissonTable {
 public:
  // `lam` is in [0, 10); the table has at most 64 entries.
  explicit PoissonTable(double lam) {
    double share = std::exp(-lam), sum = share;
    while (size_ < kMax) {
      sums_[size_++] = sum;
      share *= lam / size_;
      if (sum + share == sum) return;
      sum += share;
    }
  }

  // Sets counts[lane] to the number of sums that are at most uniforms[lane]: this is the drawn
  // number, unless it is size(), which means that the table ends before it. The loops are over all
  // sums for all lanes, because vector units cannot stop each lane early.
  void Count(const double* uniforms, double* counts) const {
    for (int lane = 0; lane < kLanes; ++lane) counts[lane] = 0;
    for (int k = 0; k < size_; ++k) {
      const double sum = sums_[k];
      for (int lane = 0; lane < kLanes; ++lane) counts[lane] += uniforms[lane] >= sum ? 1 : 0;
    }
  }
  // Returns the number of entries.
  int size() const { return size_; }

 private:
  static constexpr int kMax = 64;

  // sums_[k] is the probability of a number of at most k.
  double sums_[kMax];
  int size_ = 0;
};

// Draws a block one by one: the general form, for distributions without a vectorised overload
// below.
template <typename Distribution>
void DrawBlock(const Distribution& d, int digits, const Philox& random, int64_t begin, int64_t n,
               double* block) {
  DrawOneByOne(d, digits, random, begin, n, block);
}

// Draws uniform numbers: one word for each element up to 24 digits. Float64 has 53 digits and is
// drawn one by one.
inline void DrawBlock(const UniformDistribution& d, int digits, const Philox& random, int64_t begin,
                      int64_t n, double* block) {
  if (digits > 24) return DrawOneByOne(d, digits, random, begin, n, block);
  const UniformRange range(d, digits);
  int64_t i = 0;
  for (; i + kDrawGroup * kLanes <= n; i += kDrawGroup * kLanes) {
    const PhiloxLanes lanes(random, (begin + i) / kDrawGroup);
    for (int lane = 0; lane < kLanes; ++lane) {
      double* const four = block + i + lane * kDrawGroup;
      for (int k = 0; k < kDrawGroup; ++k) four[k] = range.Of(lanes.words[k][lane]);
    }
  }
  for (; i < n; i += kDrawGroup) {
    const auto words = random.At((begin + i) / kDrawGroup);
    for (int k = 0; k < kDrawGroup; ++k) block[i + k] = range.Of(words[k]);
  }
}

// Draws normal numbers: two elements for each position of the stream.
inline void DrawBlock(const NormalDistribution& d, int /*digits*/, const Philox& random,
                      int64_t begin, int64_t n, double* block) {
  const auto store = [&d, block](const NormalPair& pair, int64_t i) {
    block[i] = Scaled(d, pair.first);
    block[i + 1] = Scaled(d, pair.second);
  };
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const PhiloxLanes lanes(random, (begin + i) / 2);
    for (int lane = 0; lane < kLanes; ++lane) store(Normals(lanes, lane), i + 2 * lane);
  }
  for (; i < n; i += 2) store(NormalPair(random.At((begin + i) / 2)), i);
}

// Draws exponential numbers: one position of the stream for each element, and a vectorised
// logarithm.
inline void DrawBlock(const ExponentialDistribution& d, int digits, const Philox& random,
                      int64_t begin, int64_t n, double* block) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const PhiloxLanes lanes(random, begin + i);
    for (int lane = 0; lane < kLanes; ++lane)
      block[i + lane] = ExponentialOf(d, FirstUniform(lanes, lane));
  }
  DrawOneByOne(d, digits, random, begin + i, n - i, block + i);
}

// Draws kLanes gamma numbers; distribution_of(lane) returns the distribution of each. The first
// candidate of each element, which is mostly accepted, is drawn in vectors. An element whose first
// candidate the squeeze rejects starts again with the same bits, so results equal DrawAt's.
template <typename DistributionOf>
void DrawGammas(const DistributionOf& distribution_of, int digits, const Philox& random,
                int64_t begin, double* block) {
  // With alpha below 1, the first of an element's two positions has the uniform numbers and the
  // second one the normal number; otherwise it is the other way round.
  const PhiloxLanes first(random, begin), second(random, begin + ElementRandom::kStep);
  double bases[kLanes], accepted[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const GammaDistribution d = distribution_of(lane);
    const bool below_1 = d.alpha < 1;
    const double u = FirstUniform(first, lane), v = SecondUniform(first, lane);
    const double s = FirstUniform(second, lane), t = SecondUniform(second, lane);
    const GammaSampler sampler(below_1 ? d.alpha + 1 : d.alpha);
    const double x = NormalPair(below_1 ? s : u, below_1 ? t : v).first;
    block[lane] = sampler.Candidate(x);
    bases[lane] = 1 - u;
    const bool valid = d.alpha > 0 && d.alpha <= std::numeric_limits<double>::max();
    accepted[lane] = valid && sampler.AcceptsBySqueeze(x, 1 - (below_1 ? v : s)) ? 1 : 0;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const GammaDistribution d = distribution_of(lane);
    if (accepted[lane] == 0) {
      DrawOneByOne(d, digits, random, begin + lane, 1, block + lane);
      continue;
    }
    if (d.alpha < 1) block[lane] *= std::pow(bases[lane], 1 / d.alpha);
    block[lane] *= d.beta;
  }
}

// Draws gamma numbers in vectors, and those beyond the last whole vector one by one.
inline void DrawBlock(const GammaDistribution& d, int digits, const Philox& random, int64_t begin,
                      int64_t n, double* block) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    DrawGammas([&d](int) { return d; }, digits, random, begin + i, block + i);
  }
  DrawOneByOne(d, digits, random, begin + i, n - i, block + i);
}

// Draws Poisson numbers: with means below 10 by a PoissonTable, with larger means one by one.
inline void DrawBlock(const PoissonDistribution& d, int digits, const Philox& random, int64_t begin,
                      int64_t n, double* block) {
  int64_t i = 0;
  if (d.lam >= 0 && d.lam < 10 && n >= kLanes) {
    const PoissonTable table(d.lam);
    for (; i + kLanes <= n; i += kLanes) {
      const PhiloxLanes lanes(random, begin + i);
      double uniforms[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) uniforms[lane] = FirstUniform(lanes, lane);
      table.Count(uniforms, block + i);
      for (int lane = 0; lane < kLanes; ++lane) {
        // The number is beyond the table.
        double* const drawn = block + i + lane;
        if (*drawn == table.size()) DrawOneByOne(d, digits, random, begin + i + lane, 1, drawn);
      }
    }
  }
  DrawOneByOne(d, digits, random, begin + i, n - i, block + i);
}

// Sets block[i] to DrawAt of Distribution::Of(first[i], last[i]) and element begin + i, for i < n:
// each element has parameters of its own. Accepts any `begin` and n.
template <typename Distribution>
void DrawBlockOfEach(const double* first, const double* last, int digits, const Philox& random,
                     int64_t begin, int64_t n, double* block) {
  int64_t i = 0;
  if constexpr (std::is_same_v<Distribution, GammaDistribution>) {
    for (; i + kLanes <= n; i += kLanes) {
      DrawGammas([=](int lane) { return Distribution::Of(first[i + lane], last[i + lane]); },
                 digits, random, begin + i, block + i);
    }
  }
  for (; i < n; ++i) {
    block[i] = DrawAt(Distribution::Of(first[i], last[i]), digits, random, begin + i);
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_DRAW_BLOCK_H_
