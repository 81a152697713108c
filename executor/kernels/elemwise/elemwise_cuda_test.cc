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

struct FunctionCase {
  const char* name;
  const char* op;
  double roundings, low, high;
  int inputs = 1;
  const char* kernel = "";
  AttrMap attrs = {};

  friend std::ostream& operator<<(std::ostream& os, const FunctionCase& c) { return os << c.name; }
};

class FunctionCudaTest : public ::testing::TestWithParam<FunctionCase> {};

TEST_P(FunctionCudaTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  const FunctionCase& c = GetParam();
  ExpectEqualKernels({.name = c.name,
                      .op = c.op,
                      .kernel = c.kernel,
                      .attrs = c.attrs,
                      .inputs = std::vector<Shape>(c.inputs, {kElements}),
                      .outputs = {{kElements}},
                      .roundings = c.roundings,
                      .low = c.low,
                      .high = c.high});
}

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

const FunctionCase kUnary[] = {
    // name, op, roundings, low, high
    {"Abs", "abs", 4, -2, 2},
    {"AbsBackward", "abs", 4, -2, 2, 2, "_backward_abs"},
    {"Square", "square", 4, -2, 2},
    {"SquareBackward", "square", 4, -2, 2, 2, "_backward_square"},
    {"Relu", "relu", 4, -2, 2},
    {"ReluBackward", "relu", 4, -2, 2, 2, "_backward_relu"},
    {"Softsign", "softsign", 4, -2, 2},
    {"SoftsignBackward", "softsign", 4, -2, 2, 2, "_backward_softsign"},
    {"Sigmoid", "sigmoid", 8, -3, 3},
    {"SigmoidBackward", "sigmoid", 8, -3, 3, 2, "_backward_sigmoid"},
    {"Tanh", "tanh", 8, -3, 3},
    {"TanhBackward", "tanh", 8, -3, 3, 2, "_backward_tanh"},
    {"Sign", "sign", 4, -4, 4},
    {"Negative", "negative", 4, -4, 4},
    {"Round", "round", 4, -4, 4},
    {"Rint", "rint", 4, -4, 4},
    {"Ceil", "ceil", 4, -4, 4},
    {"Floor", "floor", 4, -4, 4},
    {"Trunc", "trunc", 4, -4, 4},
    {"Fix", "fix", 4, -4, 4},
    {"Degrees", "degrees", 4, -4, 4},
    {"Radians", "radians", 4, -4, 4},
    {"LogicalNot", "logical_not", 4, -4, 4},
    {"Exp", "exp", 8, -4, 4},
    {"Sqrt", "sqrt", 16, 0.25, 4},
    {"SqrtBackward", "sqrt", 16, 0.25, 4, 2, "_backward_sqrt"},
    {"Rsqrt", "rsqrt", 16, 0.25, 4},
    {"RsqrtBackward", "rsqrt", 16, 0.25, 4, 2, "_backward_rsqrt"},
    {"Cbrt", "cbrt", 16, 0.25, 4},
    {"CbrtBackward", "cbrt", 16, 0.25, 4, 2, "_backward_cbrt"},
    {"Rcbrt", "rcbrt", 16, 0.25, 4},
    {"RcbrtBackward", "rcbrt", 16, 0.25, 4, 2, "_backward_rcbrt"},
    {"Reciprocal", "reciprocal", 16, 0.25, 4},
    {"ReciprocalBackward", "reciprocal", 16, 0.25, 4, 2, "_backward_reciprocal"},
    {"Log", "log", 16, 0.25, 4},
    {"LogBackward", "log", 16, 0.25, 4, 2, "_backward_log"},
    {"Log10", "log10", 16, 0.25, 4},
    {"Log10Backward", "log10", 16, 0.25, 4, 2, "_backward_log10"},
    {"Log2", "log2", 16, 0.25, 4},
    {"Log2Backward", "log2", 16, 0.25, 4, 2, "_backward_log2"},
    {"Log1p", "log1p", 16, 0.25, 4},
    {"Log1pBackward", "log1p", 16, 0.25, 4, 2, "_backward_log1p"},
    {"Sin", "sin", 16, -3, 3},
    {"SinBackward", "sin", 16, -3, 3, 2, "_backward_sin"},
    {"Cos", "cos", 16, -3, 3},
    {"CosBackward", "cos", 16, -3, 3, 2, "_backward_cos"},
    {"Arctan", "arctan", 16, -3, 3},
    {"ArctanBackward", "arctan", 16, -3, 3, 2, "_backward_arctan"},
    {"Sinh", "sinh", 16, -3, 3},
    {"SinhBackward", "sinh", 16, -3, 3, 2, "_backward_sinh"},
    {"Arcsinh", "arcsinh", 16, -3, 3},
    {"ArcsinhBackward", "arcsinh", 16, -3, 3, 2, "_backward_arcsinh"},
    {"Erf", "erf", 16, -3, 3},
    {"ErfBackward", "erf", 16, -3, 3, 2, "_backward_erf"},
    {"Expm1", "expm1", 16, -3, 3},
    {"Expm1Backward", "expm1", 16, -3, 3, 2, "_backward_expm1"},
    {"Tan", "tan", 16, -1, 1},
    {"TanBackward", "tan", 16, -1, 1, 2, "_backward_tan"},
    {"Cosh", "cosh", 16, -3, 3},
    {"CoshBackward", "cosh", 16, -3, 3, 2, "_backward_cosh"},
    {"Arcsin", "arcsin", 32, -0.75, 0.75},
    {"ArcsinBackward", "arcsin", 32, -0.75, 0.75, 2, "_backward_arcsin"},
    {"Arccos", "arccos", 32, -0.75, 0.75},
    {"ArccosBackward", "arccos", 32, -0.75, 0.75, 2, "_backward_arccos"},
    {"Arctanh", "arctanh", 32, -0.75, 0.75},
    {"ArctanhBackward", "arctanh", 32, -0.75, 0.75, 2, "_backward_arctanh"},
    {"Erfinv", "erfinv", 32, -0.75, 0.75},
    {"ErfinvBackward", "erfinv", 32, -0.75, 0.75, 2, "_backward_erfinv"},
    {"Arccosh", "arccosh", 32, 1.25, 4},
    {"ArccoshBackward", "arccosh", 32, 1.25, 4, 2, "_backward_arccosh"},
    {"Gamma", "gamma", 64, 0.5, 4},
    {"GammaBackward", "gamma", 64, 0.5, 4, 2, "_backward_gamma"},
    {"Gammaln", "gammaln", 64, 0.5, 4},
    {"GammalnBackward", "gammaln", 64, 0.5, 4, 2, "_backward_gammaln"},
};
INSTANTIATE_TEST_SUITE_P(Unary, FunctionCudaTest, ::testing::ValuesIn(kUnary),
                         [](const auto& info) { return std::string(info.param.name); });

const FunctionCase kBinary[] = {
    {"Add", "elemwise_add", 2, -4, 4, 2},
    {"Sub", "elemwise_sub", 2, -4, 4, 2},
    {"Mul", "elemwise_mul", 2, -4, 4, 2},
    {"Div", "elemwise_div", 4, 0.5, 4, 2},
    {"ScatterDiv", "_scatter_elemwise_div", 4, 0.5, 4, 2},
    {"GradAdd", "_grad_add", 2, -4, 4, 2},
    {"Maximum", "_maximum", 2, -4, 4, 2},
    {"Minimum", "_minimum", 2, -4, 4, 2},
    {"Power", "_power", 64, 0.5, 2, 2},
    {"Mod", "_mod", 4, -4, 4, 2},
    {"Hypot", "_hypot", 8, -4, 4, 2},
    {"Equal", "_equal", 2, 0, 2, 2},
    {"NotEqual", "_not_equal", 2, 0, 2, 2},
    {"Greater", "_greater", 2, -4, 4, 2},
    {"GreaterEqual", "_greater_equal", 2, -4, 4, 2},
    {"Lesser", "_lesser", 2, -4, 4, 2},
    {"LesserEqual", "_lesser_equal", 2, -4, 4, 2},
    {"And", "_logical_and", 2, -4, 4, 2},
    {"Or", "_logical_or", 2, -4, 4, 2},
    {"Xor", "_logical_xor", 2, -4, 4, 2},
    {"DivRhs", "elemwise_div", 8, 0.5, 4, 3, "_backward_div_rhs"},
    {"MaximumLhs", "_maximum", 2, -4, 4, 3, "_backward_maximum_lhs"},
    {"MaximumRhs", "_maximum", 2, -4, 4, 3, "_backward_maximum_rhs"},
    {"MinimumLhs", "_minimum", 2, -4, 4, 3, "_backward_minimum_lhs"},
    {"MinimumRhs", "_minimum", 2, -4, 4, 3, "_backward_minimum_rhs"},
    {"PowerLhs", "_power", 64, 0.5, 2, 3, "_backward_power_lhs"},
    {"PowerRhs", "_power", 64, 0.5, 2, 3, "_backward_power_rhs"},
    {"ModRhs", "_mod", 4, 0.5, 4, 3, "_backward_mod_rhs"},
    {"HypotLhs", "_hypot", 8, 0.5, 4, 3, "_backward_hypot_lhs"},
    {"HypotRhs", "_hypot", 8, 0.5, 4, 3, "_backward_hypot_rhs"},
};
INSTANTIATE_TEST_SUITE_P(Binary, FunctionCudaTest, ::testing::ValuesIn(kBinary),
                         [](const auto& info) { return std::string(info.param.name); });

// A number that neither integers nor 16-bit floats can represent.
const AttrMap kScalar = {{"scalar", "1.2"}};

const FunctionCase kParametric[] = {
    {"PlusScalar", "_plus_scalar", 2, -4, 4, 1, "", kScalar},
    {"MinusScalar", "_minus_scalar", 2, -4, 4, 1, "", kScalar},
    {"RMinusScalar", "_rminus_scalar", 2, -4, 4, 1, "", kScalar},
    {"MulScalar", "_mul_scalar", 2, -4, 4, 1, "", kScalar},
    {"DivScalar", "_div_scalar", 2, -4, 4, 1, "", kScalar},
    {"RDivScalar", "_rdiv_scalar", 4, 0.5, 4, 1, "", kScalar},
    {"ModScalar", "_mod_scalar", 4, -4, 4, 1, "", kScalar},
    {"RModScalar", "_rmod_scalar", 4, 0.5, 4, 1, "", kScalar},
    {"PowerScalar", "_power_scalar", 64, 0.5, 4, 1, "", kScalar},
    {"RPowerScalar", "_rpower_scalar", 64, -2, 2, 1, "", kScalar},
    {"GreaterScalar", "_greater_scalar", 2, -4, 4, 1, "", kScalar},
    {"RDivBackward", "_rdiv_scalar", 8, 0.5, 4, 2, "_backward_rdiv_scalar", kScalar},
    {"PowerBackward", "_power_scalar", 64, 0.5, 4, 2, "_backward_power_scalar", kScalar},
    {"RPowerBackward", "_rpower_scalar", 64, -2, 2, 2, "_backward_rpower_scalar", kScalar},
    {"HypotBackward", "_hypot_scalar", 8, 0.5, 4, 2, "_backward_hypot_scalar", kScalar},
    {"SmoothL1", "smooth_l1", 8, -4, 4, 1, "", kScalar},
    {"SmoothL1Backward", "smooth_l1", 8, -4, 4, 2, "_backward_smooth_l1", kScalar},
    {"Clip", "clip", 2, -4, 4, 1, "", {{"a_min", "-1"}, {"a_max", "2"}}},
    {"ClipBackward", "clip", 2, -4, 4, 2, "_backward_clip", {{"a_min", "-1"}, {"a_max", "2"}}},
    {"HardSigmoid", "hard_sigmoid", 4, -4, 4},
    {"HardSigmoidBackward", "hard_sigmoid", 4, -4, 4, 2, "_backward_hard_sigmoid"},
    {"DivSqrtDim", "_contrib_div_sqrt_dim", 4, -4, 4},
    {"AddN", "add_n", 16, -4, 4, 5, "", {{"num_args", "5"}}},
    {"SoftRelu", "Activation", 16, -4, 4, 1, "", {{"act_type", "softrelu"}}},
    {"SoftReluBackward",
     "Activation",
     16,
     0.25,
     4,
     2,
     "_backward_Activation",
     {{"act_type", "softrelu"}}},
};
INSTANTIATE_TEST_SUITE_P(Parametric, FunctionCudaTest, ::testing::ValuesIn(kParametric),
                         [](const auto& info) { return std::string(info.param.name); });

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
