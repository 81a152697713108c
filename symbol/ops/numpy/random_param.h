#ifndef COOPER_SYMBOL_OPS_NUMPY_RANDOM_PARAM_H_
#define COOPER_SYMBOL_OPS_NUMPY_RANDOM_PARAM_H_

// Parameters of _npi_uniform, _npi_normal and their relatives _n (random.cc): a parameter of the
// distribution is a number, or None and then an input. Inputs are broadcast to the output, whose
// shape is `size`, or (size..., shape of the inputs) for the relatives. Numbers are drawn as by
// _random_uniform and _random_normal. None has a gradient. MXNet:
// src/operator/numpy/random/np_uniform_op.h, np_normal_op.h.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/ops/random/distributions.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Names is a struct with the names kFirst and kSecond of the distribution's parameters, and the
// type Distribution, of which Of(first, second) are the distributions. First and second are low and
// high of the uniform distribution, loc and scale of the normal one. Draws depend on the node's
// random stream: they differ from run to run and are equal for equal seeds.
template <typename Names>
struct NumpyRandomParam {
  std::optional<double> first, second;
  std::optional<std::vector<int64_t>> size;
  std::string ctx = "cpu";
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<NumpyRandomParam>& d) {
    d.Field(Names::kFirst, &NumpyRandomParam::first).Required().Doc("a number; None is an input");
    d.Field(Names::kSecond, &NumpyRandomParam::second).Required().Doc("a number; None is an input");
    d.Field("size", &NumpyRandomParam::size).Doc("shape of what is drawn; None is the inputs'");
    d.Field("ctx", &NumpyRandomParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &NumpyRandomParam::dtype).Doc("dtype of the output");
  }

  // Returns the number of inputs. They are the parameters that are None, in the order first,
  // second.
  int num_inputs() const { return (first.has_value() ? 0 : 1) + (second.has_value() ? 0 : 1); }
};

// Parameters of the distributions of one parameter, which is a number or an input, as above: the
// scale of _npi_exponential and _npi_rayleigh, the exponent of _npi_pareto, _npi_powerd and
// _npi_weibull. They have no kernels: executors compute them from uniform numbers
// (executor/passes/graph/expand_numpy.h), with gradients of the parameter. Names has kName and the
// default kDefault.
template <typename Names>
struct NumpyRandomValueParam {
  std::optional<double> value = Names::kDefault;
  std::optional<std::vector<int64_t>> size;
  std::string ctx = "cpu";

  static void Declare(ParamDeclaration<NumpyRandomValueParam>& d) {
    d.Field(Names::kName, &NumpyRandomValueParam::value).Doc("a number; None is an input");
    d.Field("size", &NumpyRandomValueParam::size)
        .Doc("shape of what is drawn; None is the input's");
    d.Field("ctx", &NumpyRandomValueParam::ctx).Doc("device of an imperative call");
  }
};
struct ScaleName {
  static constexpr char kName[] = "scale";
  static constexpr std::optional<double> kDefault = 1;
};
struct ExponentName {
  static constexpr char kName[] = "a";
  static constexpr std::optional<double> kDefault = std::nullopt;
};

// Parameters of _npi_bernoulli: 1 with a probability, or with the sigmoid of a logit. If both are
// None, the input is the one that is_logit says.
struct NumpyBernoulliParam {
  std::optional<double> prob, logit;
  std::optional<std::vector<int64_t>> size;
  std::string ctx = "cpu";
  DType dtype = DType::kFloat32;
  bool is_logit = false;

  static void Declare(ParamDeclaration<NumpyBernoulliParam>& d) {
    d.Field("prob", &NumpyBernoulliParam::prob).Required().Doc("probability of 1");
    d.Field("logit", &NumpyBernoulliParam::logit).Required().Doc("its logit");
    d.Field("size", &NumpyBernoulliParam::size).Doc("shape of what is drawn; None is the input's");
    d.Field("ctx", &NumpyBernoulliParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &NumpyBernoulliParam::dtype).Doc("dtype of the output");
    d.Field("is_logit", &NumpyBernoulliParam::is_logit)
        .Required()
        .Doc("whether the input is a logit");
  }
};

// The names of the attributes, and the distribution whose operator draws the numbers.
struct UniformNames {
  using Distribution = UniformDistribution;
  static constexpr char kFirst[] = "low";
  static constexpr char kSecond[] = "high";
};
struct NormalNames {
  using Distribution = NormalDistribution;
  static constexpr char kFirst[] = "loc";
  static constexpr char kSecond[] = "scale";
};
// _npi_gamma, which has no kernel.
struct GammaNames {
  static constexpr char kFirst[] = "shape";
  static constexpr char kSecond[] = "scale";
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_RANDOM_PARAM_H_
