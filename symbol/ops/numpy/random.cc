// NumPy's random arrays. MXNet: src/operator/numpy/random/np_uniform_op.cc, np_normal_op.cc.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/random_param.h"
#include "symbol/ops/rules/broadcast_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Extents = std::optional<std::vector<int64_t>>;

OpSchema::Names Numbered(int count) {
  OpSchema::Names names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("input", i + 1));
  return names;
}

template <typename Names>
OpSchema::Names InputNames(const OpCall& call) {
  return Numbered(call.param<NumpyRandomParam<Names>>().num_inputs());
}

// Shape rule: output 0 has the shape `size`, to which the inputs are broadcast, or with `prepend`
// `size` before their shape.
absl::Status SizeShape(ShapeContext& c, const Extents& size, bool prepend) {
  PartialShape shape = PartialShape(Shape());
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).rank_known()) return absl::OkStatus();
    COOPER_ASSIGN_OR_RETURN(shape, BroadcastTogether(shape, "input1", c.input(i), "input2"));
  }
  if (!size.has_value()) return c.SetOutput(0, shape, "the inputs broadcast together");
  std::vector<int64_t> extents = *size;
  if (prepend) {
    extents.insert(extents.end(), shape.dims().begin(), shape.dims().end());
    return c.SetOutput(0, PartialShape(extents), "size, then the inputs' shape");
  }
  COOPER_ASSIGN_OR_RETURN(const PartialShape fits,
                          BroadcastTogether(PartialShape(extents), "size", shape, "input1"));
  if (fits != PartialShape(extents)) {
    return absl::InvalidArgumentError(absl::StrCat("the inputs' shape ", shape.ToString(),
                                                   " cannot be broadcast to size ",
                                                   PartialShape(extents).ToString()));
  }
  return c.SetOutput(0, fits, "size");
}

template <typename Names, bool kPrepend>
absl::Status RandomShape(ShapeContext& c) {
  const auto& param = c.param<NumpyRandomParam<Names>>();
  if (param.num_inputs() == 0) {
    COOPER_RETURN_IF_ERROR(Names::Distribution::Of(*param.first, *param.second).Check());
  }
  return SizeShape(c, param.size, kPrepend);
}

template <typename Names>
absl::Status RandomType(TypeContext& c) {
  const DType dtype = c.param<NumpyRandomParam<Names>>().dtype;
  if (!IsFloating(dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype is ", DTypeName(dtype), ", expected a floating one"));
  }
  return c.SetOutput(0, dtype);
}

template <typename Names, bool kPrepend>
OpBuilder RandomOp(const char* name, const char* doc) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe(doc)
      .Param<NumpyRandomParam<Names>>()
      .Inputs(InputNames<Names>)
      .Shape(RandomShape<Names, kPrepend>)
      .Type(RandomType<Names>)
      .Random();
  return builder;
}

const OpRegistrar kUniform = RandomOp<UniformNames, false>(
    "_npi_uniform", "Random numbers of shape size, uniform in [low, high).");
const OpRegistrar kUniformN = RandomOp<UniformNames, true>(
    "_npi_uniform_n",
    "Random numbers, uniform in [low, high), size for each element of the inputs.");
const OpRegistrar kNormal =
    RandomOp<NormalNames, false>("_npi_normal", "Normal random numbers of shape size.");
const OpRegistrar kNormalN = RandomOp<NormalNames, true>(
    "_npi_normal_n", "Normal random numbers, size for each element of the inputs.");

// The operators below have no kernels (executor/passes/graph/expand_numpy.h). Those with a gradient
// of their parameters have a second output, hidden, which MXNet needs for it.

absl::Status Float32Type(TypeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, DType::kFloat32));
  }
  return absl::OkStatus();
}

// Returns the rule by which all outputs have the shape of SizeShape.
template <typename Param>
absl::Status ComposedShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SizeShape(c, c.param<Param>().size, /*prepend=*/false));
  return c.num_outputs() == 1 ? absl::OkStatus() : c.SetOutput(1, c.output(0), "the output's");
}

OpBuilder WithNoise(OpBuilder&& builder) {
  std::move(builder).Outputs({"output0", "output1"}).VisibleOutputs([](const OpCall&) {
    return 1;
  });
  return std::move(builder);
}

template <typename Name>
OpBuilder ValueOp(const char* name, const char* doc) {
  using Param = NumpyRandomValueParam<Name>;
  OpBuilder builder(name);
  std::move(builder)
      .Describe(doc)
      .template Param<Param>()
      .Inputs([](const OpCall& call) {
        return Numbered(call.param<Param>().value.has_value() ? 0 : 1);
      })
      .Shape(ComposedShape<Param>)
      .Type(Float32Type);
  return builder;
}

OpBuilder LocationOp(const char* name, const char* doc) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe(doc)
      .Param<NumpyRandomParam<NormalNames>>()
      .Inputs(InputNames<NormalNames>)
      .Shape(ComposedShape<NumpyRandomParam<NormalNames>>)
      .Type(Float32Type);
  return builder;
}

const OpRegistrar kExponential = WithNoise(
    ValueOp<ScaleName>("_npi_exponential", "Exponential random numbers with the mean scale."));
const OpRegistrar kRayleigh =
    WithNoise(ValueOp<ScaleName>("_npi_rayleigh", "Random numbers of Rayleigh's distribution."));
const OpRegistrar kPareto =
    WithNoise(ValueOp<ExponentName>("_npi_pareto", "Random numbers of Lomax's distribution."));
const OpRegistrar kWeibull =
    WithNoise(ValueOp<ExponentName>("_npi_weibull", "Random numbers of Weibull's distribution."));
const OpRegistrar kPowerd = ValueOp<ExponentName>(
    "_npi_powerd", "Random numbers of [0, 1] with the density a * x^(a - 1).");
const OpRegistrar kGumbel =
    WithNoise(LocationOp("_npi_gumbel", "Random numbers of Gumbel's distribution."));
const OpRegistrar kLogistic =
    WithNoise(LocationOp("_npi_logistic", "Random numbers of the logistic distribution."));

COOPER_REGISTER_OP(_npi_gamma)
    .Describe("Random numbers of the gamma distribution.")
    .Param<NumpyRandomParam<GammaNames>>()
    .Inputs(InputNames<GammaNames>)
    .Shape(ComposedShape<NumpyRandomParam<GammaNames>>)
    .Type(RandomType<GammaNames>);

COOPER_REGISTER_OP(_npi_bernoulli)
    .Describe("1 with a probability, else 0.")
    .Param<NumpyBernoulliParam>()
    .Inputs([](const OpCall& call) {
      const auto& param = call.param<NumpyBernoulliParam>();
      return Numbered(param.prob.has_value() || param.logit.has_value() ? 0 : 1);
    })
    .Shape(ComposedShape<NumpyBernoulliParam>)
    .Type([](TypeContext& c) { return c.SetOutput(0, c.param<NumpyBernoulliParam>().dtype); });

COOPER_OP_EXAMPLE(_npi_exponential, {{"size", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_rayleigh, {{"size", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_pareto, {{"size", "(2, 3)"}}, {{3}});
COOPER_OP_EXAMPLE(_npi_weibull, {{"size", "(2, 3)"}}, {{3}});
COOPER_OP_EXAMPLE(_npi_powerd, {{"size", "(2, 3)"}}, {{3}});
COOPER_OP_EXAMPLE(_npi_gumbel, {{"loc", "0"}, {"scale", "1"}, {"size", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_logistic, {{"loc", "0"}, {"scale", "1"}, {"size", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_gamma, {{"shape", "2"}, {"scale", "1"}, {"size", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_bernoulli,
                  {{"prob", "0.5"}, {"logit", "None"}, {"size", "(2, 3)"}, {"is_logit", "False"}},
                  {});
COOPER_OP_EXAMPLE(_npi_uniform, {{"low", "0"}, {"high", "1"}, {"size", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_uniform_n, {{"low", "None"}, {"high", "1"}, {"size", "(2,)"}}, {{3}});
COOPER_OP_EXAMPLE(_npi_normal, {{"loc", "0"}, {"scale", "1"}, {"size", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_normal_n, {{"loc", "None"}, {"scale", "1"}, {"size", "(2,)"}}, {{3}});

}  // namespace
}  // namespace cooper
