// Operators that draw random numbers. MXNet: src/operator/random/sample_op.cc, multisample_op.cc.

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/random/draw_param.h"
#include "symbol/ops/rules/attribute_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Returns the attribute's dtype, else the output's known one, else `otherwise`.
DType TypeOf(const TypeContext& c, std::optional<DType> attribute, DType otherwise) {
  if (attribute.has_value()) return *attribute;
  return c.output(0).value_or(otherwise);
}

absl::Status SetFloatingType(TypeContext& c, std::optional<DType> attribute) {
  const DType dtype = TypeOf(c, attribute, DType::kFloat32);
  if (IsFloating(dtype)) return c.SetOutput(0, dtype);
  return absl::InvalidArgumentError(
      absl::StrCat("dtype is ", DTypeName(dtype), ", expected a floating-point one"));
}

template <typename D>
absl::Status RandomShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.param<RandomParam<D>>().Check());
  return ShapeOfAttribute(c, c.param<RandomParam<D>>().shape);
}

template <typename D>
absl::Status RandomType(TypeContext& c) {
  return SetFloatingType(c, c.param<RandomParam<D>>().dtype);
}

template <typename D>
absl::Status RandomLikeShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.param<RandomLikeParam<D>>().Check());
  return SameShape(c);
}

absl::Status RandomIntegersShape(ShapeContext& c) {
  const auto& p = c.param<RandomIntegersParam>();
  if (p.low >= p.high) {
    return absl::InvalidArgumentError(
        absl::StrCat("low is ", p.low, " and high ", p.high, ", expected low < high"));
  }
  return ShapeOfAttribute(c, p.shape);
}

absl::Status RandomIntegersType(TypeContext& c) {
  const auto& p = c.param<RandomIntegersParam>();
  const DType dtype = TypeOf(c, p.dtype, DType::kInt32);
  if (dtype != DType::kInt32 && dtype != DType::kInt64) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype is ", DTypeName(dtype), ", expected int32 or int64"));
  }
  using Int32 = std::numeric_limits<int32_t>;
  if (dtype == DType::kInt32 && (p.low < Int32::min() || p.high > int64_t{Int32::max()} + 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("values from ", p.low, " to below ", p.high, " are no int32"));
  }
  return c.SetOutput(0, dtype);
}

// Shape rule: the inputs have one shape; the output appends the attribute's extents to it.
absl::Status SampleShape(ShapeContext& c) {
  const std::vector<int64_t>& shape = c.param<SampleParam>().shape;
  for (int i = 1; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, c.input(0), "the first input's"));
    COOPER_RETURN_IF_ERROR(c.SetInput(0, c.input(i), "the other input's"));
  }
  if (!c.input(0).rank_known()) return absl::OkStatus();
  PartialShape output = PartialShape::OfRank(c.input(0).rank() + static_cast<int>(shape.size()));
  for (int axis = 0; axis < output.rank(); ++axis) {
    const int of_shape = axis - c.input(0).rank();
    if (of_shape >= 0 && shape[of_shape] < 0) {
      return absl::InvalidArgumentError(absl::StrCat("shape has the extent ", shape[of_shape]));
    }
    output[axis] = of_shape < 0 ? c.input(0)[axis] : shape[of_shape];
  }
  return c.SetOutput(0, output, "(the inputs' shape, the attribute shape)");
}

absl::Status SampleType(TypeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, c.input(0)));
    COOPER_RETURN_IF_ERROR(c.SetInput(0, c.input(i)));
  }
  return SetFloatingType(c, c.param<SampleParam>().dtype);
}

// The three operators that draw from a distribution. None has a gradient. MORE_ALIASES are
// .Alias("x") for the first, or nothing.
#define COOPER_REGISTER_RANDOM_OPS(NAME, MORE_ALIASES, DISTRIBUTION, WHAT)                      \
  COOPER_REGISTER_OP(_random_##NAME)                                                            \
      .Describe("An array of random numbers: " WHAT ".")                                        \
      .Alias("random_" #NAME) MORE_ALIASES.Param<RandomParam<DISTRIBUTION>>()                   \
      .Inputs(NoInputs)                                                                         \
      .Shape(RandomShape<DISTRIBUTION>)                                                         \
      .Type(RandomType<DISTRIBUTION>)                                                           \
      .Random();                                                                                \
  COOPER_REGISTER_OP(_random_##NAME##_like)                                                     \
      .Describe("Random numbers of data's shape and dtype: " WHAT ".")                          \
      .Param<RandomLikeParam<DISTRIBUTION>>()                                                   \
      .Inputs({"data"})                                                                         \
      .Shape(RandomLikeShape<DISTRIBUTION>)                                                     \
      .Type(SameType)                                                                           \
      .Random();                                                                                \
  COOPER_REGISTER_OP(_sample_##NAME)                                                            \
      .Describe("Random numbers from a distribution for each element of the inputs: " WHAT ".") \
      .Alias("sample_" #NAME)                                                                   \
      .Param<SampleParam>()                                                                     \
      .Inputs(DISTRIBUTION::Names())                                                            \
      .Shape(SampleShape)                                                                       \
      .Type(SampleType)                                                                         \
      .Random()

COOPER_REGISTER_RANDOM_OPS(uniform, .Alias("uniform"), UniformDistribution,
                           "uniform in [low, high)");
COOPER_REGISTER_RANDOM_OPS(normal, .Alias("normal"), NormalDistribution, "normal");
COOPER_REGISTER_RANDOM_OPS(gamma, /*none*/, GammaDistribution, "gamma");
COOPER_REGISTER_RANDOM_OPS(exponential, /*none*/, ExponentialDistribution, "exponential");
COOPER_REGISTER_RANDOM_OPS(poisson, /*none*/, PoissonDistribution, "Poisson's");
COOPER_REGISTER_RANDOM_OPS(negative_binomial, /*none*/, NegativeBinomialDistribution,
                           "negative binomial");
COOPER_REGISTER_RANDOM_OPS(generalized_negative_binomial, /*none*/,
                           GeneralizedNegativeBinomialDistribution,
                           "negative binomial, by mean and dispersion");

COOPER_REGISTER_OP(_random_randint)
    .Describe("An array of random integers: uniform in [low, high).")
    .Alias("random_randint")
    .Param<RandomIntegersParam>()
    .Inputs(NoInputs)
    .Shape(RandomIntegersShape)
    .Type(RandomIntegersType)
    .Random();

COOPER_OP_EXAMPLE(_random_randint, {{"low", "0"}, {"high", "10"}, {"shape", "(2, 3)"}}, {});

}  // namespace
}  // namespace cooper
