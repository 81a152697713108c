#ifndef COOPER_SYMBOL_OPS_RANDOM_DISTRIBUTIONS_H_
#define COOPER_SYMBOL_OPS_RANDOM_DISTRIBUTIONS_H_

// The distributions that operators draw from: their parameters, under MXNet's names, and the valid
// ranges of these. draw_param.h makes operator parameters of them; the drawing is in
// executor/kernels/random/random_draws.h. MXNet: src/operator/random/sample_op.h.
//
// Each struct has the same static members, which templates use: DeclareIn(d) declares the fields of
// P, which derives from the struct; Names() are the inputs of the operator _sample_*; Of(a, b)
// returns the distribution for one element of each input, where distributions with one parameter
// ignore the second; Check() returns kInvalidArgument, naming the parameter, unless the parameters
// are valid. Of() does not check: with invalid inputs the draws are NaN.

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/host_device.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Returns OK if `holds`, else kInvalidArgument "<name> is <value>, expected <expected>".
inline absl::Status CheckDistribution(bool holds, const char* name, double value,
                                      const char* expected) {
  if (holds) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is ", value, ", expected ", expected));
}

// Uniform over the real numbers in [low, high); always low if both are equal. Draws stay below high
// also after rounding to the dtype of the output.
struct UniformDistribution {
  double low = 0;
  double high = 1;

  template <typename P>
  static void DeclareIn(ParamDeclaration<P>& d) {
    d.Field("low", &UniformDistribution::low).Doc("the least value");
    d.Field("high", &UniformDistribution::high).Doc("all values are below it");
  }
  // The inputs of _sample_uniform; see the file's comment for the members.
  static std::vector<std::string> Names() { return {"low", "high"}; }
  COOPER_HOST_DEVICE static UniformDistribution Of(double low, double high) { return {low, high}; }
  absl::Status Check() const {
    absl::Status status = CheckDistribution(std::isfinite(low), "low", low, "a finite number");
    if (!status.ok()) return status;
    return CheckDistribution(high >= low && std::isfinite(high), "high", high,
                             "a finite number, no less than low");
  }
};

// Normal with mean `loc` and standard deviation `scale`, by the method of Box and Muller.
// _sample_normal calls its inputs mu and sigma, as MXNet does.
struct NormalDistribution {
  double loc = 0;
  double scale = 1;

  template <typename P>
  static void DeclareIn(ParamDeclaration<P>& d) {
    d.Field("loc", &NormalDistribution::loc).Doc("mean");
    d.Field("scale", &NormalDistribution::scale).Doc("standard deviation, above 0");
  }
  static std::vector<std::string> Names() { return {"mu", "sigma"}; }
  COOPER_HOST_DEVICE static NormalDistribution Of(double mu, double sigma) { return {mu, sigma}; }
  absl::Status Check() const { return CheckDistribution(scale > 0, "scale", scale, "> 0"); }
};

// Gamma with shape alpha and scale beta: mean alpha * beta, variance alpha * beta^2. Drawn by
// rejection (Marsaglia and Tsang, 2000).
struct GammaDistribution {
  double alpha = 1;
  double beta = 1;

  template <typename P>
  static void DeclareIn(ParamDeclaration<P>& d) {
    d.Field("alpha", &GammaDistribution::alpha).Doc("shape of the distribution, above 0");
    d.Field("beta", &GammaDistribution::beta).Doc("scale of the distribution, above 0");
  }
  static std::vector<std::string> Names() { return {"alpha", "beta"}; }
  COOPER_HOST_DEVICE static GammaDistribution Of(double alpha, double beta) {
    return {alpha, beta};
  }
  absl::Status Check() const {
    absl::Status status = CheckDistribution(alpha > 0, "alpha", alpha, "> 0");
    return status.ok() ? CheckDistribution(beta > 0, "beta", beta, "> 0") : status;
  }
};

// Exponential with rate lam: mean 1 / lam.
struct ExponentialDistribution {
  double lam = 1;

  template <typename P>
  static void DeclareIn(ParamDeclaration<P>& d) {
    d.Field("lam", &ExponentialDistribution::lam).Doc("rate, above 0");
  }
  static std::vector<std::string> Names() { return {"lam"}; }
  COOPER_HOST_DEVICE static ExponentialDistribution Of(double lam, double) { return {lam}; }
  absl::Status Check() const { return CheckDistribution(lam > 0, "lam", lam, "> 0"); }
};

// Poisson with mean `lam`; 0 gives 0. The counts are floating-point numbers, as in MXNet. Means
// from 10 on are drawn by rejection, smaller ones by inversion.
struct PoissonDistribution {
  double lam = 1;

  template <typename P>
  static void DeclareIn(ParamDeclaration<P>& d) {
    d.Field("lam", &PoissonDistribution::lam).Doc("mean, at least 0");
  }
  static std::vector<std::string> Names() { return {"lam"}; }
  COOPER_HOST_DEVICE static PoissonDistribution Of(double lam, double) { return {lam}; }
  absl::Status Check() const { return CheckDistribution(lam >= 0, "lam", lam, ">= 0"); }
};

// The number of successes, each with probability 1 - p, before the k-th failure: mean k * (1 - p) /
// p. k need not be an integer. Drawn as Poisson numbers whose mean has a gamma distribution.
struct NegativeBinomialDistribution {
  double k = 1;
  double p = 1;

  template <typename P>
  static void DeclareIn(ParamDeclaration<P>& d) {
    d.Field("k", &NegativeBinomialDistribution::k).Doc("number of failures, at least 0");
    d.Field("p", &NegativeBinomialDistribution::p).Doc("probability of a failure, in (0, 1]");
  }
  static std::vector<std::string> Names() { return {"k", "p"}; }
  COOPER_HOST_DEVICE static NegativeBinomialDistribution Of(double k, double p) { return {k, p}; }
  absl::Status Check() const {
    absl::Status status = CheckDistribution(k >= 0, "k", k, ">= 0");
    return status.ok() ? CheckDistribution(p > 0 && p <= 1, "p", p, "0 < p <= 1") : status;
  }
};

// The negative binomial distribution by its mean mu and dispersion alpha: variance mu + alpha *
// mu^2.
struct GeneralizedNegativeBinomialDistribution {
  double mu = 1;
  double alpha = 1;

  template <typename P>
  static void DeclareIn(ParamDeclaration<P>& d) {
    using D = GeneralizedNegativeBinomialDistribution;
    d.Field("mu", &D::mu).Doc("mean, at least 0");
    d.Field("alpha", &D::alpha).Doc("dispersion, at least 0: with 0 it is Poisson's distribution");
  }
  static std::vector<std::string> Names() { return {"mu", "alpha"}; }
  COOPER_HOST_DEVICE static GeneralizedNegativeBinomialDistribution Of(double mu, double alpha) {
    return {mu, alpha};
  }
  absl::Status Check() const {
    absl::Status status = CheckDistribution(mu >= 0, "mu", mu, ">= 0");
    return status.ok() ? CheckDistribution(alpha >= 0, "alpha", alpha, ">= 0") : status;
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RANDOM_DISTRIBUTIONS_H_
