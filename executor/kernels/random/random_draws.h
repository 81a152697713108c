#ifndef COOPER_EXECUTOR_KERNELS_RANDOM_RANDOM_DRAWS_H_
#define COOPER_EXECUTOR_KERNELS_RANDOM_RANDOM_DRAWS_H_

// Draws random numbers of distributions, for kernels of both devices. Each element of an array has
// its own random bits, so it does not depend on the thread that draws it. Sums of products use
// std::fma explicitly, so that uniform, normal and exponential numbers have the same bits on all
// processors.
//
// A number depends on the seed (Philox), on the element's index, on the parameters and, for uniform
// numbers, on the digits of the dtype: not on the number of threads or the size of the array.
// Functions are pure and run in double. draw_block.h has the vectorised forms for the CPU.

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/philox.h"
#include "ndarray/random/random_values.h"
#include "symbol/ops/random/distributions.h"

namespace cooper {

// Returns the significant digits of a floating dtype in base 2. Other dtypes than the four floating
// ones get 24, the digits of float32.
inline int FloatDigits(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 53;
    case DType::kFloat16:
      return 11;
    case DType::kBfloat16:
      return 8;
    default:
      return 24;
  }
}

// Returns a uniform number in [0, 1), a multiple of 2^-53, from the upper bits of 64. Converts two
// halves as int32_t, because vector units of all processors can convert int32_t. Uses 53 of the 64
// bits: the 32 of `upper` and the upper 21 of `lower`.
COOPER_HOST_DEVICE inline double UniformOf(uint32_t upper, uint32_t lower) {
  const auto high = static_cast<int32_t>(upper >> 5);
  const auto low = static_cast<int32_t>((upper & 31) << 21 | lower >> 11);
  return high * 0x1p-27 + low * 0x1p-53;
}

// Scales a standard normal number to distribution `d`.
COOPER_HOST_DEVICE inline double Scaled(const NormalDistribution& d, double x) {
  return std::fma(d.scale, x, d.loc);
}

// Two standard normal numbers from four words: Box and Muller, "A Note on the Generation of Random
// Normal Deviates" (1958). With u and v uniform in [0, 1):
//
//   first = sqrt(-2 ln(1 - u)) cos(2 pi v)
//   second = sqrt(-2 ln(1 - u)) sin(2 pi v)
//
// 1 - u is in (0, 1], so the logarithm is finite.
struct NormalPair {
  double first, second;

  COOPER_HOST_DEVICE explicit NormalPair(const std::array<uint32_t, 4>& words)
      : NormalPair(UniformOf(words[0], words[1]), UniformOf(words[2], words[3])) {}
  COOPER_HOST_DEVICE NormalPair(double u, double v) {
    const double radius = std::sqrt(-2 * LogOf(1 - u));
    const Turn turn(v);
    first = radius * turn.Cos();
    second = radius * turn.Sin();
  }
};

// The random bits of element `index` of an array; `index` is below 2^40. Rejection methods take as
// many words as they need: block k of element i is at position i + k * 2^40 of the stream, so
// elements do not share words.
class ElementRandom {
 public:
  COOPER_HOST_DEVICE ElementRandom(const Philox& random, int64_t index)
      : random_(random), position_(static_cast<uint64_t>(index)) {}

  // The distance in the stream from one block of words of an element to its next one. It bounds the
  // number of elements of an array: larger arrays would repeat words.
  static constexpr uint64_t kStep = uint64_t{1} << 40;

  // Returns the element's next four words.
  COOPER_HOST_DEVICE std::array<uint32_t, 4> Words() {
    const auto words = random_.At(position_);
    position_ += kStep;
    return words;
  }
  // Returns a uniform number in [0, 1). Two consecutive calls share four words.
  COOPER_HOST_DEVICE double Uniform() {
    has_second_ = !has_second_;
    if (!has_second_) return second_;
    const auto words = Words();
    second_ = UniformOf(words[2], words[3]);
    return UniformOf(words[0], words[1]);
  }
  // Returns a standard normal number; uses four words and drops the second number of the pair.
  COOPER_HOST_DEVICE double Normal() { return NormalPair(Words()).first; }

 private:
  // Not owned; must outlive this object.
  const Philox& random_;
  uint64_t position_;
  // The second uniform number of the last four words, if has_second_.
  double second_ = 0;
  bool has_second_ = false;
};

// Returns an integer in [low, low + range). The probabilities of two integers differ by at most
// 2^-64 * range of their value. The method is Lemire's multiplication without rejection: the upper
// half of a 64-bit word times range.
COOPER_HOST_DEVICE inline int64_t DrawInteger(int64_t low, uint64_t range, ElementRandom& random) {
  // Computes the upper 64 bits of the 128-bit product bits * range.
  const auto words = random.Words();
  const uint64_t bits = uint64_t{words[0]} << 32 | words[1];
  const uint64_t a = bits >> 32, b = bits & 0xFFFFFFFF, c = range >> 32, d = range & 0xFFFFFFFF;
  const uint64_t middle = a * d + (b * d >> 32);
  const uint64_t upper = a * c + (middle >> 32) + (((middle & 0xFFFFFFFF) + b * c) >> 32);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + upper);
}

// The result for invalid parameters, such as a negative mean.
COOPER_HOST_DEVICE inline double NotANumber() { return std::numeric_limits<double>::quiet_NaN(); }

// Returns twice the least positive number of the dtype with this number of digits. `digits` is 53,
// 24, 11 or 8 (FloatDigits).
COOPER_HOST_DEVICE inline double MinStep(int digits) {
  switch (digits) {
    case 53:
      return 2 * std::numeric_limits<double>::denorm_min();
    case 24:
      return 0x1p-148;
    case 11:
      return 0x1p-23;
    default:
      return 0x1p-132;
  }
}

// Draws from a uniform distribution over [low, high). Numbers stay two steps of a dtype with this
// number of digits below `high`, so that rounding to the dtype does not give `high`. low equal to
// high gives low; low above high, or NaN, gives NaN.
class UniformRange {
 public:
  // `digits` is that of the result's dtype; at most 53.
  COOPER_HOST_DEVICE UniformRange(const UniformDistribution& d, int digits)
      : low_(d.low),
        high_(d.high),
        digits_(digits),
        least_(1 / static_cast<double>(int64_t{1} << digits)) {
    if (d.low < d.high) {
      const double step = std::fabs(d.high) / static_cast<double>(int64_t{1} << (digits - 1));
      end_ = d.high - std::fmax(step, MinStep(digits));
      last_ = std::fmax(end_, d.low);
    } else {
      last_ = d.low == d.high ? d.low : NotANumber();
    }
  }

  // Maps 32 random bits to a number, for at most 24 digits. The number has as many random bits as
  // the dtype has digits.
  COOPER_HOST_DEVICE double Of(uint32_t bits) const {
    return Between(static_cast<int32_t>(bits >> (32 - digits_)) * least_);
  }
  // Returns element i of an array: four elements share a position of the stream, or two if digits >
  // 24.
  COOPER_HOST_DEVICE double At(const Philox& random, int64_t i) const {
    if (digits_ <= 24) return Of(random.At(i / 4)[i % 4]);
    const auto words = random.At(i / 2);
    const int at = i % 2 * 2;
    return Between(UniformOf(words[at], words[at + 1]));
  }

 private:
  // Maps u in [0, 1] to the range, linearly.
  COOPER_HOST_DEVICE double Between(double u) const {
    // Does not compute high - low, which might overflow.
    const double value = std::fma(u, high_, (1 - u) * low_);
    return value < end_ ? value : last_;
  }

  double low_, high_;
  int digits_;
  double least_;  // the step of the uniform numbers in [0, 1)
  double end_ = -std::numeric_limits<double>::infinity();
  double last_;  // replaces all numbers that are not below end_
};

// Returns element i, at least 0, of an array in which neighbouring elements share random bits.
// `digits` is that of the result's dtype. The overloads for uniform and normal numbers define the
// numbers of a seed; DrawFour and DrawBlock return the same bits.
COOPER_HOST_DEVICE inline double DrawAt(const UniformDistribution& d, int digits,
                                        const Philox& random, int64_t i) {
  return UniformRange(d, digits).At(random, i);
}
// Elements 2 k and 2 k + 1 are the cosine and the sine of one pair.
COOPER_HOST_DEVICE inline double DrawAt(const NormalDistribution& d, int /*digits*/,
                                        const Philox& random, int64_t i) {
  const NormalPair pair(random.At(i / 2));
  return Scaled(d, i % 2 == 0 ? pair.first : pair.second);
}

// Whether four neighbouring elements share random bits, so that DrawFour is faster than DrawAt.
template <typename Distribution>
inline constexpr bool kDrawnInFours = false;
template <>
inline constexpr bool kDrawnInFours<UniformDistribution> = true;
template <>
inline constexpr bool kDrawnInFours<NormalDistribution> = true;

// Returns DrawAt of the elements 4 * four to 4 * four + 3.
COOPER_HOST_DEVICE inline std::array<double, 4> DrawFour(const UniformDistribution& d, int digits,
                                                         const Philox& random, int64_t four) {
  const UniformRange range(d, digits);
  if (digits > 24) {
    return {range.At(random, 4 * four), range.At(random, 4 * four + 1),
            range.At(random, 4 * four + 2), range.At(random, 4 * four + 3)};
  }
  const auto words = random.At(four);
  return {range.Of(words[0]), range.Of(words[1]), range.Of(words[2]), range.Of(words[3])};
}
// Returns DrawAt of the elements 4 * four to 4 * four + 3, from two positions of the stream.
COOPER_HOST_DEVICE inline std::array<double, 4> DrawFour(const NormalDistribution& d,
                                                         int /*digits*/, const Philox& random,
                                                         int64_t four) {
  const NormalPair a(random.At(2 * four)), b(random.At(2 * four + 1));
  return {Scaled(d, a.first), Scaled(d, a.second), Scaled(d, b.first), Scaled(d, b.second)};
}

// Maps u, uniform in [0, 1), to an exponential number. The mean is 1 / lam. The logarithm's
// argument is at least 2^-53, so results are at most 36.8 / lam.
COOPER_HOST_DEVICE inline double ExponentialOf(const ExponentialDistribution& d, double u) {
  return -LogOf(1 - u) / d.lam;
}
// Draws an exponential number of mean 1 / lam.
COOPER_HOST_DEVICE inline double Draw(const ExponentialDistribution& d, ElementRandom& random) {
  return ExponentialOf(d, random.Uniform());
}

// Draws gamma numbers for alpha of at least 1 by rejection: Marsaglia and Tsang, "A Simple Method
// for Generating Gamma Variables" (2000). A proposal is accepted with a probability above 95 %.
class GammaSampler {
 public:
  // `alpha` is the shape parameter, at least 1.
  COOPER_HOST_DEVICE explicit GammaSampler(double alpha)
      : d_(alpha - 1.0 / 3), c_(1 / std::sqrt(9 * d_)) {}

  // Returns the gamma number that a standard normal x gives if it is accepted. It has scale 1: the
  // caller multiplies by beta.
  COOPER_HOST_DEVICE double Candidate(double x) const { return d_ * Cube(x); }
  // Returns whether x is accepted by the squeeze, a sufficient condition without logarithms; u is
  // uniform in (0, 1].
  COOPER_HOST_DEVICE bool AcceptsBySqueeze(double x, double u) const {
    return Cube(x) > 0 && u < std::fma(-0.0331 * x * x * x, x, 1.0);
  }
  // Returns whether x is accepted; u is uniform in (0, 1]. Computes two logarithms where the
  // squeeze does not decide.
  COOPER_HOST_DEVICE bool Accepts(double x, double u) const {
    const double v = Cube(x);
    return v > 0 &&
           (AcceptsBySqueeze(x, u) || std::log(u) < x * x / 2 + d_ - d_ * v + d_ * std::log(v));
  }

 private:
  COOPER_HOST_DEVICE double Cube(double x) const {
    const double side = std::fma(c_, x, 1.0);
    return side * side * side;
  }

  double d_, c_;
};

// Draws a gamma number; NaN if alpha is not positive. alpha is the shape and beta the scale, so the
// mean is alpha * beta. Returns infinity for an infinite alpha.
COOPER_HOST_DEVICE inline double Draw(const GammaDistribution& g, ElementRandom& random) {
  if (!(g.alpha > 0)) return NotANumber();
  if (std::isinf(g.alpha)) return g.alpha;
  // For alpha below 1, draws with alpha + 1 and scales.
  const double factor = g.alpha < 1 ? std::pow(1 - random.Uniform(), 1 / g.alpha) : 1;
  const GammaSampler sampler(g.alpha < 1 ? g.alpha + 1 : g.alpha);
  while (true) {
    const double x = random.Normal();
    // A candidate that is not positive is rejected before another number is drawn.
    if (sampler.Candidate(x) > 0 && sampler.Accepts(x, 1 - random.Uniform())) {
      return sampler.Candidate(x) * factor * g.beta;
    }
  }
}

// Returns ln(n!) with an error of 1e-12, by Stirling's series from 10 on. Smaller n are shifted to
// 10 by the recurrence.
COOPER_HOST_DEVICE inline double LogFactorial(double n) {
  double x = n + 1, product = 1;
  for (; x < 10; ++x) product *= x;
  const double r = 1 / (x * x);
  const double series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / x;
  constexpr double kHalfLogTwoPi = 0.9189385332046727;
  return (x - 0.5) * std::log(x) - x + kHalfLogTwoPi + series - std::log(product);
}

// Draws a Poisson number. For a mean below 10 it inverts the distribution function. Otherwise it
// uses algorithm PTRS of Hörmann, "The Transformed Rejection Method for Generating Poisson Random
// Variables" (1993). Returns NaN if the mean is negative or NaN, infinity if it is infinite.
COOPER_HOST_DEVICE inline double Draw(const PoissonDistribution& p, ElementRandom& random) {
  if (!(p.lam >= 0)) return NotANumber();
  if (std::isinf(p.lam)) return p.lam;
  if (p.lam < 10) {
    const double u = random.Uniform();
    double share = std::exp(-p.lam), sum = share;
    int n = 0;
    for (; u >= sum && share > 0; sum += share) share *= p.lam / ++n;
    return n;
  }
  const double log_lam = std::log(p.lam);
  const double b = 0.931 + 2.53 * std::sqrt(p.lam);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double most = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = random.Uniform() - 0.5;
    const double v = 1 - random.Uniform();
    const double edge = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / edge + b) * u + p.lam + 0.43);
    if (edge >= 0.07 && v <= most) return k;
    if (!(k >= 0) || (edge < 0.013 && v > edge)) continue;
    const double ratio = std::log(v * inverse_alpha / (a / (edge * edge) + b));
    if (ratio <= k * log_lam - p.lam - LogFactorial(k)) return k;
  }
}

// Draws a negative binomial number: a Poisson number whose mean is drawn from a gamma distribution.
// k is the number of failures and p their probability; the mean is k (1 - p) / p. Returns NaN
// unless 0 < p <= 1.
COOPER_HOST_DEVICE inline double Draw(const NegativeBinomialDistribution& d,
                                      ElementRandom& random) {
  if (!(d.p > 0 && d.p <= 1)) return NotANumber();
  if (d.k == 0 || d.p == 1) return 0;
  return Draw(PoissonDistribution{Draw(GammaDistribution{d.k, (1 - d.p) / d.p}, random)}, random);
}

// Draws a generalized negative binomial number: a Poisson number whose mean is drawn from a gamma
// distribution with mean mu. alpha is the dispersion: the variance is mu + alpha * mu^2. MXNet has
// the same two parameters. Returns NaN for negative parameters or NaN.
COOPER_HOST_DEVICE inline double Draw(const GeneralizedNegativeBinomialDistribution& d,
                                      ElementRandom& random) {
  if (!(d.mu >= 0 && d.alpha >= 0)) return NotANumber();
  // The dispersion is too small to matter in double.
  if (std::isinf(1 / d.alpha) || d.mu == 0) return Draw(PoissonDistribution{d.mu}, random);
  return Draw(PoissonDistribution{Draw(GammaDistribution{1 / d.alpha, d.alpha * d.mu}, random)},
              random);
}

// Returns element i of an array, for all other distributions. Each element has words of its own:
// neither `digits` nor its neighbours influence it.
template <typename Distribution>
COOPER_HOST_DEVICE double DrawAt(const Distribution& d, int /*digits*/, const Philox& random,
                                 int64_t i) {
  ElementRandom element(random, i);
  return Draw(d, element);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_RANDOM_DRAWS_H_
