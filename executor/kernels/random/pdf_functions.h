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

// A distribution has Log(x, a, b), the logarithm of the density, and Derivatives(x, a, b), where a
// and b are the operator's inputs `first` and `second`. Distributions with one parameter ignore b.
// Distributions of counts have the derivative 0 by x.
//
// The uniform distribution on [a, b): the density is 1 / (b - a), also for samples outside.
struct UniformPdf {
  COOPER_HOST_DEVICE static double Log(double, double a, double b) { return -VectorLog(b - a); }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double, double a, double b) {
    return {0, 1 / (b - a), 1 / (a - b)};
  }
};
// Normal with mean a and standard deviation b.
struct NormalPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double b) {
    constexpr double kLogRootOfTwoPi = 0.91893853320467274178;
    const double z = (x - a) / b;
    return -0.5 * z * z - VectorLog(b) - kLogRootOfTwoPi;
  }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double b) {
    const double z = (x - a) / b;
    return {-z / b, z / b, (z * z - 1) / b};
  }
};
// Gamma with shape a and rate b: b^a x^(a - 1) e^(-b x) / Gamma(a). _random_gamma draws with the
// scale, the rate's reciprocal.
struct GammaPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double b) {
    return a * VectorLog(b) + (a - 1) * VectorLog(x) - b * x - VectorLogGamma(a);
  }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double b) {
    return {(a - 1) / x - b, VectorLog(b) + VectorLog(x) - VectorDigamma(a), a / b - x};
  }
};
// Exponential with rate a: a e^(-a x).
struct ExponentialPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double) { return VectorLog(a) - a * x; }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double) {
    return {-a, 1 / a - x, 0};
  }
};
// Poisson with mean a: a^x e^-a / x!, where x is a floating-point number.
struct PoissonPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double) {
    return x * VectorLog(a) - VectorLogGamma(x + 1) - a;
  }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double) {
    return {0, x / a - 1, 0};
  }
};
// Negative binomial: the probability of x successes before failure number a, where b is the
// probability of a failure. a need not be an integer.
struct NegativeBinomialPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double b) {
    return VectorLogGamma(x + a) - VectorLogGamma(x + 1) - VectorLogGamma(a) + a * VectorLog(b) +
           x * VectorLog(1 - b);
  }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double b) {
    return {0, VectorDigamma(x + a) - VectorDigamma(a) + VectorLog(b), a / b - x / (1 - b)};
  }
};
// The negative binomial distribution with mean a and dispersion b, which is that of limit 1 / b and
// probability p = 1 / (a b + 1). Derivatives are those of NegativeBinomialPdf by the chain rule.
struct GeneralizedNegativeBinomialPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double b) {
    return NegativeBinomialPdf::Log(x, 1 / b, 1 / (a * b + 1));
  }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double b) {
    const double p = 1 / (a * b + 1);
    const PdfDerivatives of = NegativeBinomialPdf::Derivatives(x, 1 / b, p);
    return {0, -of.b * b * p * p, -of.a / (b * b) - of.b * a * p * p};
  }
};

// The arrays of one call: sample i belongs to distribution i / draws. With vectors, a sample and a
// parameter are `size` consecutive elements. is_log: the result is the logarithm of the density.
template <typename Reader>
struct PdfCall {
  Reader sample, first, second;  // second is first if there is one parameter
  int64_t draws;
  bool is_log;
};

// Returns the density at sample i, which is one of distribution k. The density is the exponential
// of Log, so it may become 0 or infinite where the logarithm is finite.
template <typename Distribution, typename Reader>
COOPER_HOST_DEVICE double PdfOf(const PdfCall<Reader>& call, int64_t i, int64_t k) {
  const double log = Distribution::Log(call.sample[i], call.first[k], call.second[k]);
  return call.is_log ? log : VectorExp(log);
}

// Writes the gradients of distribution k: of each of its samples, and of its parameters, which are
// sums over its samples in ascending order. One thread computes a distribution, so equal inputs
// give equal bits. A distribution with one parameter passes a `second` that does nothing.
template <typename Distribution, typename Reader, typename Writer>
COOPER_HOST_DEVICE void PdfGradientOf(const PdfCall<Reader>& call, const Reader& ograd,
                                      const Writer& sample, const Writer& first,
                                      const Writer& second, int64_t k) {
  const double a = call.first[k], b = call.second[k];
  double sum_a = 0, sum_b = 0;
  for (int64_t i = k * call.draws; i < (k + 1) * call.draws; ++i) {
    const double x = call.sample[i];
    const double scale = ograd[i] * (call.is_log ? 1 : VectorExp(Distribution::Log(x, a, b)));
    const PdfDerivatives by = Distribution::Derivatives(x, a, b);
    sample(i, scale * by.x);
    sum_a += scale * by.a;
    sum_b += scale * by.b;
  }
  first(k, sum_a);
  second(k, sum_b);
}

// Dirichlet's density, whose samples and parameters are vectors of `size` elements.

// Returns the sum of parameters k. They are the concentrations of distribution k.
template <typename Reader>
COOPER_HOST_DEVICE double DirichletSum(const PdfCall<Reader>& call, int64_t size, int64_t k) {
  double sum = 0;
  for (int64_t j = 0; j < size; ++j) sum += call.first[k * size + j];
  return sum;
}

// Returns the density at vector i. The density is Gamma(sum of a) * the product of x_j^(a_j - 1) /
// Gamma(a_j). It is not checked that the vector sums to 1.
template <typename Reader>
COOPER_HOST_DEVICE double DirichletPdfOf(const PdfCall<Reader>& call, int64_t size, int64_t i) {
  const int64_t k = i / call.draws;
  double log = VectorLogGamma(DirichletSum(call, size, k));
  for (int64_t j = 0; j < size; ++j) {
    const double a = call.first[k * size + j];
    log += (a - 1) * VectorLog(call.sample[i * size + j]) - VectorLogGamma(a);
  }
  return call.is_log ? log : VectorExp(log);
}

// Writes the gradients of element `at` = k * size + j of the parameters and of all samples' element
// j. scales[i] is the head gradient of vector i, times its density unless is_log. The derivative by
// a parameter is the sum over the samples of log x + digamma(sum of a) - digamma(a).
template <typename Reader, typename Writer>
COOPER_HOST_DEVICE void DirichletGradientOf(const PdfCall<Reader>& call, const double* scales,
                                            int64_t size, const Writer& sample, const Writer& first,
                                            int64_t at) {
  const int64_t k = at / size, j = at - k * size;
  const double a = call.first[at];
  const double psi = VectorDigamma(DirichletSum(call, size, k)) - VectorDigamma(a);
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
