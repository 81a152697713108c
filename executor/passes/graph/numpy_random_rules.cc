#include "executor/passes/graph/numpy_random_rules.h"

#include <cmath>
#include <optional>

#include "symbol/ops/numpy/random_param.h"

namespace cooper::numpy_composition {
namespace {

// The smallest uniform number: less would have an infinite logarithm. 2^-25 is half the distance of
// the numbers that are drawn.
constexpr double kLeastUniform = 1.0 / (1 << 25);

// Returns -log(u) of uniform numbers u: exponential ones.
NodeEntry Exponential(Composition& c) {
  return c.Call("_npi_negative", {c.Call("_npi_log", {c.Uniform(kLeastUniform)})});
}

Entries RandomExponential(Composition& c) {
  int next = 0;
  const NodeEntry noise = Exponential(c);
  return {c.With("_npi_multiply", noise, c.param<NumpyRandomValueParam<ScaleName>>().value, next),
          noise};
}

Entries RandomRayleigh(Composition& c) {
  int next = 0;
  const NodeEntry noise =
      c.Call("_npi_sqrt", {c.Scalar("_npi_multiply_scalar", Exponential(c), 2)});
  return {c.With("_npi_multiply", noise, c.param<NumpyRandomValueParam<ScaleName>>().value, next),
          noise};
}

// Returns exp(noise / a).
NodeEntry Power(Composition& c, const NodeEntry& noise) {
  int next = 0;
  const auto& a = c.param<NumpyRandomValueParam<ExponentName>>().value;
  return c.Call("_npi_exp", {c.With("_npi_true_divide", noise, a, next)});
}

Entries RandomPareto(Composition& c) {
  const NodeEntry noise = Exponential(c);
  return {c.Scalar("_npi_subtract_scalar", Power(c, noise), 1), noise};
}

Entries RandomWeibull(Composition& c) {
  const NodeEntry noise = c.Call("_npi_log", {Exponential(c)});
  return {Power(c, noise), noise};
}

Entries RandomPowerd(Composition& c) {
  return {Power(c, c.Call("_npi_log", {c.Uniform(kLeastUniform)}))};
}

// Returns loc + noise * scale, and the noise.
Entries Located(Composition& c, const NodeEntry& noise) {
  const auto& param = c.param<NumpyRandomParam<NormalNames>>();
  int next = param.first.has_value() ? 0 : 1;
  const NodeEntry scaled = c.With("_npi_multiply", noise, param.second, next);
  next = 0;
  return {c.With("_npi_add", scaled, param.first, next), noise};
}

Entries RandomGumbel(Composition& c) {
  return Located(c, c.Call("_npi_negative", {c.Call("_npi_log", {Exponential(c)})}));
}

Entries RandomLogistic(Composition& c) {
  const NodeEntry u = c.Uniform(kLeastUniform);
  const NodeEntry other = c.Call("_npi_log", {c.Scalar("_npi_rsubtract_scalar", u, 1)});
  return Located(c, c.Call("_npi_subtract", {c.Call("_npi_log", {u}), other}));
}

Entries RandomGamma(Composition& c) {
  const auto& param = c.param<NumpyRandomParam<GammaNames>>();
  // _sample_gamma takes no scalars, so alpha becomes a vector.
  const Dims size = {c.out().num_elements()};
  const NodeEntry ones =
      c.Call("_npi_ones", {}, {{"shape", Text(DimsOf(c.out()))}, {"dtype", c.dtype()}});
  int next = 0;
  const NodeEntry alpha = c.Reshape(c.With("_npi_multiply", ones, param.first, next), size);
  const NodeEntry drawn =
      c.Call("_sample_gamma", {alpha, c.Reshape(ones, size)}, {{"dtype", c.dtype()}});
  return {c.With("_npi_multiply", c.Reshape(drawn, DimsOf(c.out())), param.second, next)};
}

Entries RandomBernoulli(Composition& c) {
  const auto& param = c.param<NumpyBernoulliParam>();
  const NodeEntry u = c.Uniform(0);
  NodeEntry is_one;
  if (param.prob.has_value()) {
    is_one = c.Scalar("_npi_less_scalar", u, *param.prob);
  } else if (param.logit.has_value()) {
    is_one = c.Scalar("_npi_less_scalar", u, 1 / (1 + std::exp(-*param.logit)));
  } else {
    const NodeEntry given = c.input(0);
    is_one = c.Call("_npi_less", {u, param.is_logit ? c.Call("_npx_sigmoid", {given}) : given});
  }
  return {c.Call("Cast", {is_one}, {{"dtype", c.dtype()}})};
}

constexpr Rule kRules[] = {
    {"_npi_bernoulli", RandomBernoulli}, {"_npi_exponential", RandomExponential},
    {"_npi_gamma", RandomGamma},         {"_npi_gumbel", RandomGumbel},
    {"_npi_logistic", RandomLogistic},   {"_npi_pareto", RandomPareto},
    {"_npi_powerd", RandomPowerd},       {"_npi_rayleigh", RandomRayleigh},
    {"_npi_weibull", RandomWeibull},
};

}  // namespace

absl::Span<const Rule> RandomRules() { return kRules; }

}  // namespace cooper::numpy_composition
