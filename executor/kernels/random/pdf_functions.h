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

#include <cmath>
#include <cstdint>

#include "executor/kernels/loops/special_functions.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Derivatives of the logarithm of a density by the sample x and the parameters a and b.
struct PdfDerivatives {
  double x, a, b;
};

// A distribution has Log(x, a, b), the logarithm of the density, and Derivatives(x, a, b).
// Distributions with one parameter ignore b.
struct UniformPdf {
  COOPER_HOST_DEVICE static double Log(double, double a, double b) { return -std::log(b - a); }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double, double a, double b) {
    return {0, 1 / (b - a), 1 / (a - b)};
  }
};
struct NormalPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double b) {
    constexpr double kLogRootOfTwoPi = 0.91893853320467274178;
    const double z = (x - a) / b;
    return -0.5 * z * z - std::log(b) - kLogRootOfTwoPi;
  }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double b) {
    const double z = (x - a) / b;
    return {-z / b, z / b, (z * z - 1) / b};
  }
};
struct GammaPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double b) {
    return a * std::log(b) + (a - 1) * std::log(x) - b * x - LogGamma(a);
  }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double b) {
    return {(a - 1) / x - b, std::log(b) + std::log(x) - Digamma(a), a / b - x};
  }
};
struct ExponentialPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double) { return std::log(a) - a * x; }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double) {
    return {-a, 1 / a - x, 0};
  }
};
struct PoissonPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double) {
    return x * std::log(a) - LogGamma(x + 1) - a;
  }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double) {
    return {0, x / a - 1, 0};
  }
};
struct NegativeBinomialPdf {
  COOPER_HOST_DEVICE static double Log(double x, double a, double b) {
    return LogGamma(x + a) - LogGamma(x + 1) - LogGamma(a) + a * std::log(b) + x * std::log(1 - b);
  }
  COOPER_HOST_DEVICE static PdfDerivatives Derivatives(double x, double a, double b) {
    return {0, Digamma(x + a) - Digamma(a) + std::log(b), a / b - x / (1 - b)};
  }
};
// The negative binomial distribution with limit 1 / b and probability 1 / (a b + 1).
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

// The arrays of one call: each distribution has `draws` samples, one after the other.
template <typename Reader>
struct PdfCall {
  Reader sample, first, second;  // second is first if there is one parameter
  int64_t draws;
  bool is_log;
};

// Returns the density at sample i.
template <typename Distribution, typename Reader>
COOPER_HOST_DEVICE double PdfOf(const PdfCall<Reader>& call, int64_t i) {
  const int64_t k = i / call.draws;
  const double log = Distribution::Log(call.sample[i], call.first[k], call.second[k]);
  return call.is_log ? log : std::exp(log);
}

// Writes the gradients of distribution k: of its samples, and the sums of those of its parameters.
template <typename Distribution, typename Reader, typename Writer>
COOPER_HOST_DEVICE void PdfGradientOf(const PdfCall<Reader>& call, const Reader& ograd,
                                      const Writer& sample, const Writer& first,
                                      const Writer& second, int64_t k) {
  const double a = call.first[k], b = call.second[k];
  double sum_a = 0, sum_b = 0;
  for (int64_t i = k * call.draws; i < (k + 1) * call.draws; ++i) {
    const double x = call.sample[i];
    const double scale = ograd[i] * (call.is_log ? 1 : std::exp(Distribution::Log(x, a, b)));
    const PdfDerivatives by = Distribution::Derivatives(x, a, b);
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

// Returns the density at vector i.
template <typename Reader>
COOPER_HOST_DEVICE double DirichletPdfOf(const PdfCall<Reader>& call, int64_t size, int64_t i) {
  const int64_t k = i / call.draws;
  double log = LogGamma(DirichletSum(call, size, k));
  for (int64_t j = 0; j < size; ++j) {
    const double a = call.first[k * size + j];
    log += (a - 1) * std::log(call.sample[i * size + j]) - LogGamma(a);
  }
  return call.is_log ? log : std::exp(log);
}

// Writes the gradients of element `at` = k * size + j of the parameters and of all samples' element
// j. scales[i] is the head gradient of vector i, times its density unless is_log.
template <typename Reader, typename Writer>
COOPER_HOST_DEVICE void DirichletGradientOf(const PdfCall<Reader>& call, const double* scales,
                                            int64_t size, const Writer& sample, const Writer& first,
                                            int64_t at) {
  const int64_t k = at / size, j = at - k * size;
  const double a = call.first[at], psi = Digamma(DirichletSum(call, size, k)) - Digamma(a);
  double sum = 0;
  for (int64_t i = k * call.draws; i < (k + 1) * call.draws; ++i) {
    const double x = call.sample[i * size + j];
    sample(i * size + j, scales[i] * (a - 1) / x);
    sum += scales[i] * (std::log(x) + psi);
  }
  first(at, sum);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_PDF_FUNCTIONS_H_
