// Compares element-wise kernels on a GPU with those of the CPU.

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

// More than two blocks, the last of which is partly filled.
constexpr int64_t kElements = 601;

// A kernel of functions of numbers from `low` to `high`, with arrays of kElements elements.
struct FunctionCase {
  double roundings, low, high;
  std::string op;
  int inputs = 1;
  std::string kernel = op;  // or a gradient's
  AttrMap attrs = {};

  friend std::ostream& operator<<(std::ostream& os, const FunctionCase& c) {
    return os << c.kernel;
  }
};

class FunctionCudaTest : public ::testing::TestWithParam<FunctionCase> {};

TEST_P(FunctionCudaTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  const FunctionCase& c = GetParam();
  ExpectEqualKernels({.name = c.kernel,
                      .op = c.op,
                      .kernel = c.kernel,
                      .attrs = c.attrs,
                      .inputs = std::vector<Shape>(c.inputs, {kElements}),
                      .outputs = {{kElements}},
                      .roundings = c.roundings,
                      .low = c.low,
                      .high = c.high});
}

std::string NameOf(const ::testing::TestParamInfo<FunctionCase>& info) { return info.param.kernel; }

// Enough elements that a thread loads several at once, more than once.
TEST(ElemwiseCudaTest, ManyElements) {
  COOPER_REQUIRE_GPU();
  constexpr int64_t kMany = 5003;
  for (const char* op : {"square", "elemwise_mul"}) {
    ExpectEqualKernels({.name = op,
                        .op = op,
                        .inputs = std::vector<Shape>(op[0] == 's' ? 1 : 2, {kMany}),
                        .outputs = {{kMany}},
                        .dtypes = {DType::kFloat32, DType::kFloat16}});
  }
}

// Functions with the same error bound and domain.
struct Functions {
  double roundings, low, high;
  std::vector<std::string> ops;
};

std::vector<FunctionCase> Cases(int inputs, const std::vector<Functions>& all) {
  std::vector<FunctionCase> cases;
  for (const auto& [roundings, low, high, ops] : all) {
    for (const std::string& op : ops) cases.push_back({roundings, low, high, op, inputs});
  }
  return cases;
}

const std::vector<FunctionCase> kUnary =
    Cases(1, {{4, -4, 4, {"sign", "negative", "round", "rint", "ceil", "floor", "trunc", "fix"}},
              {4, -4, 4, {"degrees", "radians", "logical_not"}},
              {8, -4, 4, {"exp"}}});
INSTANTIATE_TEST_SUITE_P(Unary, FunctionCudaTest, ::testing::ValuesIn(kUnary), NameOf);

const std::vector<Functions> kDifferentiable = {
    {4, -2, 2, {"abs", "square", "relu", "softsign"}},
    {8, -3, 3, {"sigmoid", "tanh"}},
    {16, 0.25, 4, {"sqrt", "rsqrt", "cbrt", "rcbrt", "reciprocal"}},
    {16, 0.25, 4, {"log", "log10", "log2", "log1p"}},
    {16, -3, 3, {"sin", "cos", "arctan", "sinh", "cosh", "arcsinh", "erf", "expm1"}},
    {16, -1, 1, {"tan"}},
    {32, -0.75, 0.75, {"arcsin", "arccos", "arctanh", "erfinv"}},
    {32, 1.25, 4, {"arccosh"}},
    {64, 0.5, 4, {"gamma", "gammaln"}},
};
INSTANTIATE_TEST_SUITE_P(Differentiable, FunctionCudaTest,
                         ::testing::ValuesIn(Cases(1, kDifferentiable)), NameOf);

// The gradients of kDifferentiable, which take the output's gradient and the input or output.
std::vector<FunctionCase> Gradients() {
  std::vector<FunctionCase> cases = Cases(2, kDifferentiable);
  for (FunctionCase& c : cases) c.kernel = "_backward_" + c.op;
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Gradients, FunctionCudaTest, ::testing::ValuesIn(Gradients()), NameOf);

const std::vector<FunctionCase> kBinary =
    Cases(2, {{2, -4, 4, {"elemwise_add", "elemwise_sub", "elemwise_mul", "_grad_add"}},
              {2, -4, 4, {"_maximum", "_minimum"}},
              {2, -4, 4, {"_greater", "_greater_equal", "_lesser", "_lesser_equal"}},
              {2, -4, 4, {"_logical_and", "_logical_or", "_logical_xor"}},
              {2, 0, 2, {"_equal", "_not_equal"}},
              {4, 0.5, 4, {"elemwise_div", "_scatter_elemwise_div"}},
              {4, -4, 4, {"_mod"}},
              {8, -4, 4, {"_hypot"}},
              {64, 0.5, 2, {"_power"}}});
INSTANTIATE_TEST_SUITE_P(Binary, FunctionCudaTest, ::testing::ValuesIn(kBinary), NameOf);

const FunctionCase kBinaryGradients[] = {
    {8, 0.5, 4, "elemwise_div", 3, "_backward_div_rhs"},
    {2, -4, 4, "_maximum", 3, "_backward_maximum_lhs"},
    {2, -4, 4, "_maximum", 3, "_backward_maximum_rhs"},
    {2, -4, 4, "_minimum", 3, "_backward_minimum_lhs"},
    {2, -4, 4, "_minimum", 3, "_backward_minimum_rhs"},
    {64, 0.5, 2, "_power", 3, "_backward_power_lhs"},
    {64, 0.5, 2, "_power", 3, "_backward_power_rhs"},
    {4, 0.5, 4, "_mod", 3, "_backward_mod_rhs"},
    {8, 0.5, 4, "_hypot", 3, "_backward_hypot_lhs"},
    {8, 0.5, 4, "_hypot", 3, "_backward_hypot_rhs"},
};
INSTANTIATE_TEST_SUITE_P(BinaryGradients, FunctionCudaTest, ::testing::ValuesIn(kBinaryGradients),
                         NameOf);

std::vector<FunctionCase> WithAttrs(std::vector<FunctionCase> cases, const AttrMap& attrs) {
  for (FunctionCase& c : cases) c.attrs = attrs;
  return cases;
}

// The scalar is a number that neither integers nor 16-bit floats can represent.
const std::vector<FunctionCase> kOfScalar = WithAttrs(
    {
        {2, -4, 4, "_plus_scalar"},
        {2, -4, 4, "_minus_scalar"},
        {2, -4, 4, "_rminus_scalar"},
        {2, -4, 4, "_mul_scalar"},
        {2, -4, 4, "_div_scalar"},
        {4, 0.5, 4, "_rdiv_scalar"},
        {4, -4, 4, "_mod_scalar"},
        {4, 0.5, 4, "_rmod_scalar"},
        {64, 0.5, 4, "_power_scalar"},
        {64, -2, 2, "_rpower_scalar"},
        {2, -4, 4, "_greater_scalar"},
        {8, 0.5, 4, "_rdiv_scalar", 2, "_backward_rdiv_scalar"},
        {64, 0.5, 4, "_power_scalar", 2, "_backward_power_scalar"},
        {64, -2, 2, "_rpower_scalar", 2, "_backward_rpower_scalar"},
        {8, 0.5, 4, "_hypot_scalar", 2, "_backward_hypot_scalar"},
        {8, -4, 4, "smooth_l1"},
        {8, -4, 4, "smooth_l1", 2, "_backward_smooth_l1"},
    },
    {{"scalar", "1.2"}});
INSTANTIATE_TEST_SUITE_P(OfScalar, FunctionCudaTest, ::testing::ValuesIn(kOfScalar), NameOf);

const AttrMap kLimits = {{"a_min", "-1"}, {"a_max", "2"}};
const AttrMap kSoftRelu = {{"act_type", "softrelu"}};

const FunctionCase kParametric[] = {
    {2, -4, 4, "clip", 1, "clip", kLimits},
    {2, -4, 4, "clip", 2, "_backward_clip", kLimits},
    {4, -4, 4, "hard_sigmoid"},
    {4, -4, 4, "hard_sigmoid", 2, "_backward_hard_sigmoid"},
    {4, -4, 4, "_contrib_div_sqrt_dim"},
    {16, -4, 4, "add_n", 5, "add_n", {{"num_args", "5"}}},
    {16, -4, 4, "Activation", 1, "Activation", kSoftRelu},
    {16, 0.25, 4, "Activation", 2, "_backward_Activation", kSoftRelu},
};
INSTANTIATE_TEST_SUITE_P(Parametric, FunctionCudaTest, ::testing::ValuesIn(kParametric), NameOf);

const std::vector<DType> kFloatsOnly = {DType::kFloat32, DType::kFloat64, DType::kFloat16};

// Operators that only move or generate elements give equal bits.
const KernelCase kExact[] = {
    {"EmptyAdd", "elemwise_add", "", {}, {{0, 3}, {0, 3}}, {{0, 3}}},
    {"OneAdd", "elemwise_add", "", {}, {{1}, {1}}, {{1}}},
    {"Copy", "_copy", "", {}, {{7, 90}}, {{7, 90}}},
    {"BlockGrad", "BlockGrad", "", {}, {{5}}, {{5}}},
    {"LikeRhs", "_identity_with_attr_like_rhs", "", {}, {{5}, {5}}, {{5}}},
    {"MakeLoss", "MakeLoss", "", {}, {{5}}, {{5}}},
    {"MakeLossNull", "MakeLoss", "_backward_MakeLoss", {{"grad_scale", "2"}}, {{7}}, {{7}}},
    {"MakeLossBatch",
     "MakeLoss",
     "_backward_MakeLoss",
     {{"grad_scale", "8"}, {"normalization", "batch"}},
     {{4, 7}},
     {{4, 7}}},
    {"MakeLossValid",
     "MakeLoss",
     "_backward_MakeLoss",
     {{"grad_scale", "600"}, {"normalization", "valid"}, {"valid_thresh", "0.5"}},
     {{600}},
     {{600}}},
    {"MakeLossNone",
     "MakeLoss",
     "_backward_MakeLoss",
     {{"grad_scale", "3"}, {"normalization", "valid"}, {"valid_thresh", "50"}},
     {{6}},
     {{6}}},
    {"Full", "_full", "", {{"shape", "(3, 200)"}, {"value", "2.5"}}, {}, {{3, 200}}},
    {"Ones", "_ones", "", {{"shape", "(300,)"}}, {}, {{300}}},
    {"Zeros", "_zeros", "", {{"shape", "(300,)"}}, {}, {{300}}},
    {"OnesLike", "ones_like", "", {}, {{3, 5}}, {{3, 5}}},
    {"ZerosLike", "zeros_like", "", {}, {{3, 5}}, {{3, 5}}},
    {"Arange",
     "_arange",
     "",
     {{"start", "3"}, {"stop", "9"}, {"step", "0.5"}, {"repeat", "3"}},
     {},
     {{36}}},
    {"ArangeLike", "_contrib_arange_like", "", {{"start", "2"}}, {{3, 100}}, {{3, 100}}},
    {"Linspace", "_linspace", "", {{"start", "1"}, {"stop", "5"}, {"num", "17"}}, {}, {{17}}},
    {"Eye", "_eye", "", {{"N", "20"}, {"M", "15"}, {"k", "-2"}}, {}, {{20, 15}}},
    {"ShapeArray", "shape_array", "", {}, {{3, 5, 2}}, {{3}}},
    {"SizeArray", "size_array", "", {}, {{3, 5, 2}}, {{1}}},
    {"Where", "where", "", {}, {{5, 70}, {5, 70}, {5, 70}}, {{5, 70}}},
    {"WhereRows", "where", "", {}, {{5}, {5, 70}, {5, 70}}, {{5, 70}}},
    {"WhereNone", "where", "", {}, {{0}, {0, 7}, {0, 7}}, {{0, 7}}},
    {"WhereBackward", "where", "_backward_where", {}, {{5}, {5, 70}}, {{5, 70}, {5, 70}}},
    {"AddN", "add_n", "", {{"num_args", "3"}}, {{300}, {300}, {300}}, {{300}}},
    // More terms than one pass takes. In float16 the sums are rounded once.
    {.name = "AddNMany",
     .op = "add_n",
     .attrs = {{"num_args", "600"}},
     .inputs = std::vector<Shape>(600, {70}),
     .outputs = {{70}},
     .dtypes = {DType::kFloat32, DType::kFloat16, DType::kInt32}},
    {.name = "Quadratic",
     .op = "_contrib_quadratic",
     .attrs = {{"a", "2"}, {"b", "3"}, {"c", "1"}},
     .inputs = {{300}},
     .outputs = {{300}},
     .dtypes = kFloatsOnly},
    {.name = "QuadraticBackward",
     .op = "_contrib_quadratic",
     .kernel = "_backward_contrib_quadratic",
     .attrs = {{"a", "2"}, {"b", "3"}, {"c", "1"}},
     .inputs = {{300}, {300}},
     .outputs = {{300}},
     .dtypes = kFloatsOnly},
};

class ElemwiseCudaTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(ElemwiseCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  ExpectEqualKernels(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ElemwiseCudaTest, ::testing::ValuesIn(kExact),
                         [](const auto& info) { return info.param.name; });

// Compares conversions between all dtypes: the input has the dtype under test, the output another
// one.
TEST(CastCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (int shift = 1; shift <= 8; ++shift) {
    ExpectEqualKernels({.name = "Cast",
                        .op = "Cast",
                        .attrs = {{"dtype", "float32"}},
                        .inputs = {{300}},
                        .outputs = {{300}},
                        .output_dtype_shift = shift});
  }
}

// Tests functions of integers that are computed in double: results that are integers are not
// truncated to the next lower one (an H200 computes 2.9999999999999996 for 3 to the power of 1),
// and other results are not rounded up.
TEST(IntegerFunctionsCudaTest, AreTheCpus) {
  COOPER_REQUIRE_GPU();
  const auto compare = [](const char* op, const AttrMap& attrs,
                          std::vector<std::vector<double>> in) {
    for (DType dtype : {DType::kInt8, DType::kUint8, DType::kInt32, DType::kInt64}) {
      const int num_inputs = static_cast<int>(in.size());
      KernelRun run = {.kernel = op, .call = *MakeOpCall(op, attrs, num_inputs)};
      const Shape shape({static_cast<int64_t>(in[0].size())});
      for (const auto& values : in) {
        run.inputs.push_back(*NDArray::FromVector<double>(shape, values)->AsType(dtype));
      }
      run.outputs = {*NDArray::Zeros(shape, dtype)};
      run.reqs = {WriteReq::kWrite};
      COOPER_ASSERT_OK_AND_ASSIGN(const auto on_cpu, RunKernelOn(Context::Cpu(), run));
      COOPER_ASSERT_OK_AND_ASSIGN(const auto on_gpu, RunKernelOn(Context::Gpu(0), run));
      EXPECT_EQ(*on_gpu.back().AsType(DType::kFloat64)->ToVector<double>(),
                *on_cpu.back().AsType(DType::kFloat64)->ToVector<double>())
          << op << " of " << DTypeName(dtype);
    }
  };
  compare("_power", {}, {{3, 3, 2, 1, 5, 7, 0, 4}, {1, 4, 6, 3, 2, 2, 3, 0}});
  compare("_power_scalar", {{"scalar", "3"}}, {{0, 1, 2, 3, 4, 5}});
  compare("_rpower_scalar", {{"scalar", "3"}}, {{0, 1, 2, 3, 4}});
  compare("gamma", {}, {{1, 2, 3, 4, 5, 6}});
  compare("sigmoid", {}, {{35, 36, 5}});
  compare("tanh", {}, {{18, 17, 3}});
}

}  // namespace
}  // namespace cooper
