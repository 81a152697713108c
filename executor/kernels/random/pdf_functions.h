#ifndef COOPER_EXECUTOR_KERNELS_RANDOM_PDF_FUNCTIONS_H_
#define COOPER_EXECUTOR_KERNELS_RANDOM_PDF_FUNCTIONS_H_

// Densities of distributions and their gradients, for pdf.cc and pdf.cu. All is computed in double.
// Samples outside of the support are not treated apart, as in MXNet. MXNet:
// src/operator/random/pdf_op.h.
//
// The functions of elements are templates over how a device reads and writes arrays:
//
//   struct Reader { double operator[](int64_t i) const; };            // element i as double
//   struct Writer { void operator()(int64_t i, double value) const; };  // stores or adds; may do
//                                                                       // nothing

#include <cstdint>

#include "executor/kernels/loops/vector_gamma.h"
#include "executor/kernels/loops/vector_log.h"
#include "executor/kernels/loops/vector_math.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Derivatives of the logarithm of a density by the sample x and the parameters a and b. The
// gradient of the density itself is the density times these.
struct PdfDerivatives {
  double x, a, b;
};

// A distribution is made of its parameters a and b, the operator's inputs `first` and `second`, of
// which it keeps what its samples share. It has Log(x), the logarithm of the density, and
// Derivatives(x), both without branches, for loops that become vector instructions. Distributions
// with one parameter ignore b. Distributions of counts have the derivative 0 by x.
//
// The uniform distribution on [a, b): the density is 1 / (b - a), also for samples outside.
class UniformPdf {
 public:
  COOPER_HOST_DEVICE UniformPdf(double a, double b) : log_(-VectorLog(b - a)), by_a_(1 / (b - a)) {}
  COOPER_HOST_DEVICE double Log(double) const { return log_; }
  COOPER_HOST_DEVICE PdfDerivatives Derivatives(double) const { return {0, by_a_, -by_a_}; }

 private:
  double log_, by_a_;
};
// Normal with mean a and standard deviation b.
class NormalPdf {
 public:
  COOPER_HOST_DEVICE NormalPdf(double a, double b)
      : mean_(a), inverse_deviation_(1 / b), log_(-VectorLog(b) - kLogRootOfTwoPi) {}
  COOPER_HOST_DEVICE double Log(double x) const {
    const double z = (x - mean_) * inverse_deviation_;
    return -0.5 * z * z + log_;
  }
  COOPER_HOST_DEVICE PdfDerivatives Derivatives(double x) const {
    const double z = (x - mean_) * inverse_deviation_;
    return {-z * inverse_deviation_, z * inverse_deviation_, (z * z - 1) * inverse_deviation_};
  }

 private:
  static constexpr double kLogRootOfTwoPi = 0.91893853320467274178;
  double mean_, inverse_deviation_, log_;
};
// Gamma with shape a and rate b: b^a x^(a - 1) e^(-b x) / Gamma(a). _random_gamma draws with the
// scale, the rate's reciprocal.
class GammaPdf {
 public:
  COOPER_HOST_DEVICE GammaPdf(double a, double b)
      : a_(a),
        b_(b),
        log_b_(VectorLog(b)),
        log_(a * log_b_ - VectorLogGamma(a)),
        psi_(VectorDigamma(a)) {}
  COOPER_HOST_DEVICE double Log(double x) const { return (a_ - 1) * VectorLog(x) - b_ * x + log_; }
  COOPER_HOST_DEVICE PdfDerivatives Derivatives(double x) const {
    return {(a_ - 1) / x - b_, log_b_ + VectorLog(x) - psi_, a_ / b_ - x};
  }

 private:
  double a_, b_, log_b_, log_, psi_;
};
// Exponential with rate a: a e^(-a x).
class ExponentialPdf {
 public:
  COOPER_HOST_DEVICE ExponentialPdf(double a, double)
      : a_(a), inverse_a_(1 / a), log_(VectorLog(a)) {}
  COOPER_HOST_DEVICE double Log(double x) const { return log_ - a_ * x; }
  COOPER_HOST_DEVICE PdfDerivatives Derivatives(double x) const { return {-a_, inverse_a_ - x, 0}; }

 private:
  double a_, inverse_a_, log_;
};
// Poisson with mean a: a^x e^-a / x!, where x is a floating-point number.
class PoissonPdf {
 public:
  COOPER_HOST_DEVICE PoissonPdf(double a, double) : a_(a), log_(VectorLog(a)) {}
  COOPER_HOST_DEVICE double Log(double x) const { return x * log_ - VectorLogGamma(x + 1) - a_; }
  COOPER_HOST_DEVICE PdfDerivatives Derivatives(double x) const { return {0, x / a_ - 1, 0}; }

 private:
  double a_, log_;
};
// Negative binomial: the probability of x successes before failure number a, where b is the
// probability of a failure. a need not be an integer.
class NegativeBinomialPdf {
 public:
  COOPER_HOST_DEVICE NegativeBinomialPdf(double a, double b)
      : a_(a),
        b_(b),
        log_b_(VectorLog(b)),
        log_rest_(VectorLog(1 - b)),
        log_(a * log_b_ - VectorLogGamma(a)),
        psi_(VectorDigamma(a)) {}
  COOPER_HOST_DEVICE double Log(double x) const {
    return VectorLogGamma(x + a_) - VectorLogGamma(x + 1) + log_ + x * log_rest_;
  }
  COOPER_HOST_DEVICE PdfDerivatives Derivatives(double x) const {
    return {0, VectorDigamma(x + a_) - psi_ + log_b_, a_ / b_ - x / (1 - b_)};
  }

 private:
  double a_, b_, log_b_, log_rest_, log_, psi_;
};
// The negative binomial distribution with mean a and dispersion b, which is that of limit 1 / b and
// probability p = 1 / (a b + 1). Derivatives are those of NegativeBinomialPdf by the chain rule.
class GeneralizedNegativeBinomialPdf {
 public:
  COOPER_HOST_DEVICE GeneralizedNegativeBinomialPdf(double a, double b)
      : a_(a), b_(b), p_(1 / (a * b + 1)), base_(1 / b, p_) {}
  COOPER_HOST_DEVICE double Log(double x) const { return base_.Log(x); }
  COOPER_HOST_DEVICE PdfDerivatives Derivatives(double x) const {
    const PdfDerivatives of = base_.Derivatives(x);
    return {0, -of.b * b_ * p_ * p_, -of.a / (b_ * b_) - of.b * a_ * p_ * p_};
  }

 private:
  double a_, b_, p_;
  NegativeBinomialPdf base_;
};

// The arrays of one call: each distribution has `draws` samples, one after the other.
template <typename Reader>
struct PdfCall {
  Reader sample, first, second;  // second is first if there is one parameter
  int64_t draws;
  bool is_log;
};

// Returns the distribution k.
template <typename Distribution, typename Reader>
COOPER_HOST_DEVICE Distribution DistributionOf(const PdfCall<Reader>& call, int64_t k) {
  return Distribution(call.first[k], call.second[k]);
}

// Returns the density at x. The density is the exponential of Log, so it may become 0 or infinite
// where the logarithm is finite.
template <typename Distribution>
COOPER_HOST_DEVICE double PdfOf(const Distribution& distribution, double x, bool is_log) {
  return is_log ? distribution.Log(x) : VectorExp(distribution.Log(x));
}

// Writes the gradients of distribution k: of each of its samples, and of its parameters, which are
// sums over its samples in ascending order. A distribution with one parameter passes a `second`
// that does nothing.
template <typename Distribution, typename Reader, typename Writer>
COOPER_HOST_DEVICE void PdfGradientOf(const PdfCall<Reader>& call, const Reader& ograd,
                                      const Writer& sample, const Writer& first,
                                      const Writer& second, int64_t k) {
  const auto distribution = DistributionOf<Distribution>(call, k);
  double sum_a = 0, sum_b = 0;
  for (int64_t i = k * call.draws; i < (k + 1) * call.draws; ++i) {
    const double x = call.sample[i];
    const double scale = ograd[i] * (call.is_log ? 1 : PdfOf(distribution, x, false));
    const PdfDerivatives by = distribution.Derivatives(x);
    sample(i, scale * by.x);
    sum_a += scale * by.a;
    sum_b += scale * by.b;
  }
  first(k, sum_a);
  second(k, sum_b);
}

// Dirichlet's density, whose samples and parameters are vectors of `size` elements.

// Returns the sum of parameters k.
template <typename Reader>
COOPER_HOST_DEVICE double DirichletSum(const PdfCall<Reader>& call, int64_t size, int64_t k) {
  double sum = 0;
  for (int64_t j = 0; j < size; ++j) sum += call.first[k * size + j];
  return sum;
}

// Returns the logarithm of the factor that all densities of parameters k have.
template <typename Reader>
COOPER_HOST_DEVICE double DirichletLogFactor(const PdfCall<Reader>& call, int64_t size, int64_t k) {
  double log = VectorLogGamma(DirichletSum(call, size, k));
  for (int64_t j = 0; j < size; ++j) log -= VectorLogGamma(call.first[k * size + j]);
  return log;
}

// Returns the density at vector i.
template <typename Reader>
COOPER_HOST_DEVICE double DirichletPdfOf(const PdfCall<Reader>& call, int64_t size, int64_t i) {
  const int64_t k = i / call.draws;
  double log = DirichletLogFactor(call, size, k);
  for (int64_t j = 0; j < size; ++j) {
    log += (call.first[k * size + j] - 1) * VectorLog(call.sample[i * size + j]);
  }
  return call.is_log ? log : VectorExp(log);
}

// Writes the gradients of element `at` = k * size + j of the parameters and of all samples' element
// j. scales[i] is the head gradient of vector i, times its density unless is_log.
template <typename Reader, typename Writer>
COOPER_HOST_DEVICE void DirichletGradientOf(const PdfCall<Reader>& call, const double* scales,
                                            int64_t size, const Writer& sample, const Writer& first,
                                            int64_t at) {
  const int64_t k = at / size, j = at - k * size;
  const double a = call.first[at],
               psi = VectorDigamma(DirichletSum(call, size, k)) - VectorDigamma(a);
  double sum = 0;
  for (int64_t i = k * call.draws; i < (k + 1) * call.draws; ++i) {
    const double x = call.sample[i * size + j];
    sample(i * size + j, scales[i] * (a - 1) / x);
    sum += scales[i] * (VectorLog(x) + psi);
  }
  first(at, sum);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_PDF_FUNCTIONS_H_
