#ifndef COOPER_EXECUTOR_ELEMENTS_RANDOM_DRAWS_H_
#define COOPER_EXECUTOR_ELEMENTS_RANDOM_DRAWS_H_

// Random numbers of distributions, for kernels of both devices. Each element of an array has random
// bits of its own, so that it is the same whatever thread draws it.

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ndarray/dtype.h"
#include "ndarray/host_device.h"
#include "ndarray/philox.h"
#include "symbol/ops/random/distributions.h"

namespace cooper {

// The digits of a number of this dtype, which a number below 1 has to have for not to become 1.
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

// In [0, 1), a multiple of 2^-53.
COOPER_HOST_DEVICE inline double UniformOf(uint32_t upper, uint32_t lower) {
  return static_cast<double>((uint64_t{upper} << 32 | lower) >> 11) * 0x1p-53;
}

// Two normal numbers of four words: Box and Muller, "A Note on the Generation of Random Normal
// Deviates" (1958).
struct NormalPair {
  double first, second;

  COOPER_HOST_DEVICE explicit NormalPair(const std::array<uint32_t, 4>& words) {
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(1 - UniformOf(words[0], words[1])));
    const double angle = kTwoPi * UniformOf(words[2], words[3]);
    first = radius * std::cos(angle);
    second = radius * std::sin(angle);
  }
};

// The random bits of element `index`, below 2^40, of an array.
class ElementRandom {
 public:
  COOPER_HOST_DEVICE ElementRandom(const Philox& random, int64_t index)
      : random_(random), position_(static_cast<uint64_t>(index)) {}

  COOPER_HOST_DEVICE std::array<uint32_t, 4> Words() {
    const auto words = random_.At(position_);
    position_ += uint64_t{1} << 40;
    return words;
  }
  // Two of the same words.
  COOPER_HOST_DEVICE double Uniform() {
    has_second_ = !has_second_;
    if (!has_second_) return second_;
    const auto words = Words();
    second_ = UniformOf(words[2], words[3]);
    return UniformOf(words[0], words[1]);
  }
  COOPER_HOST_DEVICE double Normal() { return NormalPair(Words()).first; }

 private:
  const Philox& random_;
  uint64_t position_;
  double second_ = 0;
  bool has_second_ = false;
};

// In integers [low, low + range), each as likely as another but for 2^-64 range of it.
COOPER_HOST_DEVICE inline int64_t DrawInteger(int64_t low, uint64_t range, ElementRandom& random) {
  // The upper half of a product of 128 bits.
  const auto words = random.Words();
  const uint64_t bits = uint64_t{words[0]} << 32 | words[1];
  const uint64_t a = bits >> 32, b = bits & 0xFFFFFFFF, c = range >> 32, d = range & 0xFFFFFFFF;
  const uint64_t middle = a * d + (b * d >> 32);
  const uint64_t upper = a * c + (middle >> 32) + (((middle & 0xFFFFFFFF) + b * c) >> 32);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + upper);
}

COOPER_HOST_DEVICE inline double NotANumber() { return std::numeric_limits<double>::quiet_NaN(); }

// Twice the least number above 0 of the dtype that has so many digits.
COOPER_HOST_DEVICE inline double LeastStep(int digits) {
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

// The numbers of a uniform distribution, kept two steps of a dtype of so many digits below high, to
// which they might be rounded.
class UniformRange {
 public:
  COOPER_HOST_DEVICE UniformRange(const UniformDistribution& d, int digits)
      : low_(d.low), high_(d.high), digits_(digits) {
    if (d.low < d.high) {
      const double step = std::fabs(d.high) / static_cast<double>(int64_t{1} << (digits - 1));
      end_ = d.high - std::fmax(step, LeastStep(digits));
      last_ = std::fmax(end_, d.low);
    } else {
      last_ = d.low == d.high ? d.low : NotANumber();
    }
  }

  // Of 32 bits, for at most 24 digits.
  COOPER_HOST_DEVICE double Of(uint32_t bits) const {
    return Between(static_cast<double>(bits >> (32 - digits_)) / static_cast<double>(1 << digits_));
  }
  // Element i of an array whose numbers are made four at a time, or two of more than 24 digits.
  COOPER_HOST_DEVICE double At(const Philox& random, int64_t i) const {
    if (digits_ <= 24) return Of(random.At(i / 4)[i % 4]);
    const auto words = random.At(i / 2);
    const int at = i % 2 * 2;
    return Between(UniformOf(words[at], words[at + 1]));
  }

 private:
  COOPER_HOST_DEVICE double Between(double u) const {
    const double value = (1 - u) * low_ + u * high_;  // no difference, which might be infinite
    return value < end_ ? value : last_;
  }

  double low_, high_;
  int digits_;
  double end_ = -std::numeric_limits<double>::infinity();
  double last_;  // for all that is not below end_
};

// Element i of arrays whose numbers are made several at a time. `digits` are those of the result's
// dtype.
COOPER_HOST_DEVICE inline double DrawAt(const UniformDistribution& d, int digits,
                                        const Philox& random, int64_t i) {
  return UniformRange(d, digits).At(random, i);
}
COOPER_HOST_DEVICE inline double DrawAt(const NormalDistribution& d, int /*digits*/,
                                        const Philox& random, int64_t i) {
  const NormalPair pair(random.At(i / 2));
  return d.loc + d.scale * (i % 2 == 0 ? pair.first : pair.second);
}

// Whether four elements of a distribution have random bits together, so that DrawFour is quicker.
template <typename Distribution>
inline constexpr bool kDrawnInFours = false;
template <>
inline constexpr bool kDrawnInFours<UniformDistribution> = true;
template <>
inline constexpr bool kDrawnInFours<NormalDistribution> = true;

// DrawAt of elements 4 * four to 4 * four + 3.
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
COOPER_HOST_DEVICE inline std::array<double, 4> DrawFour(const NormalDistribution& d,
                                                         int /*digits*/, const Philox& random,
                                                         int64_t four) {
  const NormalPair a(random.At(2 * four)), b(random.At(2 * four + 1));
  return {d.loc + d.scale * a.first, d.loc + d.scale * a.second, d.loc + d.scale * b.first,
          d.loc + d.scale * b.second};
}

COOPER_HOST_DEVICE inline double Draw(const ExponentialDistribution& d, ElementRandom& random) {
  return -std::log(1 - random.Uniform()) / d.lam;
}

// Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables" (2000).
COOPER_HOST_DEVICE inline double Draw(const GammaDistribution& g, ElementRandom& random) {
  if (!(g.alpha > 0)) return NotANumber();
  if (std::isinf(g.alpha)) return g.alpha;
  // Below 1: the next distribution's, scaled.
  const double factor = g.alpha < 1 ? std::pow(1 - random.Uniform(), 1 / g.alpha) : 1;
  const double d = (g.alpha < 1 ? g.alpha + 1 : g.alpha) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.Normal();
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (!(v > 0)) continue;
    const double u = 1 - random.Uniform();
    // The first bound is within the second, and has no logarithms.
    if (u < 1 - 0.0331 * x * x * x * x || std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v * factor * g.beta;
    }
  }
}

// ln(n!), by Stirling's series from 10 on, to 1e-12.
COOPER_HOST_DEVICE inline double LogFactorial(double n) {
  double x = n + 1, product = 1;
  for (; x < 10; ++x) product *= x;
  const double r = 1 / (x * x);
  const double series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / x;
  constexpr double kHalfLogTwoPi = 0.9189385332046727;
  return (x - 0.5) * std::log(x) - x + kHalfLogTwoPi + series - std::log(product);
}

// Below a mean of 10 the least n of which the distribution function is above a uniform number, else
// by Hörmann's "The Transformed Rejection Method for Generating Poisson Random Variables"
// (1993), PTRS.
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

// Poisson's distribution, the mean of which is drawn from a gamma distribution.
COOPER_HOST_DEVICE inline double Draw(const NegativeBinomialDistribution& d,
                                      ElementRandom& random) {
  if (!(d.p > 0 && d.p <= 1)) return NotANumber();
  if (d.k == 0 || d.p == 1) return 0;
  return Draw(PoissonDistribution{Draw(GammaDistribution{d.k, (1 - d.p) / d.p}, random)}, random);
}

COOPER_HOST_DEVICE inline double Draw(const GeneralizedNegativeBinomialDistribution& d,
                                      ElementRandom& random) {
  if (!(d.mu >= 0 && d.alpha >= 0)) return NotANumber();
  // Of so little dispersion that it is none in doubles.
  if (std::isinf(1 / d.alpha) || d.mu == 0) return Draw(PoissonDistribution{d.mu}, random);
  return Draw(PoissonDistribution{Draw(GammaDistribution{1 / d.alpha, d.alpha * d.mu}, random)},
              random);
}

// Element i of an array of the other distributions.
template <typename Distribution>
COOPER_HOST_DEVICE double DrawAt(const Distribution& d, int /*digits*/, const Philox& random,
                                 int64_t i) {
  ElementRandom element(random, i);
  return Draw(d, element);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_ELEMENTS_RANDOM_DRAWS_H_
