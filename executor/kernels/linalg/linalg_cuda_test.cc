// Compares matrix products and other linear algebra on a GPU with the CPU.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

const std::vector<DType> kFloats32And64 = {DType::kFloat32, DType::kFloat64};

std::string NameOf(const ::testing::TestParamInfo<KernelCase>& info) { return info.param.name; }

// Returns each case, followed by the one of its gradient, which takes the output's gradient and the
// operator's inputs.
std::vector<KernelCase> WithGradients(const std::vector<KernelCase>& cases) {
  std::vector<KernelCase> all;
  for (const KernelCase& forward : cases) {
    KernelCase backward = forward;
    backward.name += "Backward";
    backward.kernel = (forward.op[0] == '_' ? "_backward" : "_backward_") + forward.op;
    backward.inputs.insert(backward.inputs.begin(), forward.outputs[0]);
    backward.outputs = forward.inputs;
    all.insert(all.end(), {forward, backward});
  }
  return all;
}

const AttrMap kTransposeA = {{"transpose_a", "True"}};
const AttrMap kTransposeB = {{"transpose_b", "True"}};
const AttrMap kTransposeBoth = {{"transpose_a", "True"}, {"transpose_b", "True"}};

const KernelCase kProducts[] = {
    {"DotVectors", "dot", "", {}, {{7}, {7}}, {{1}}},
    {"DotAxes", "dot", "", {}, {{2, 3, 7}, {7, 4, 2}}, {{2, 3, 4, 2}}},
    {"DotNothing", "dot", "", {}, {{5, 0}, {0, 3}}, {{5, 3}}},
    {"DotEmpty", "dot", "", {}, {{0, 4}, {4, 3}}, {{0, 3}}},
    {"BatchDot", "batch_dot", "", {}, {{4, 5, 7}, {4, 7, 3}}, {{4, 5, 3}}},
    {"BatchDotBoth", "batch_dot", "", kTransposeBoth, {{4, 7, 5}, {4, 3, 7}}, {{4, 5, 3}}},
    {"Gemm2",
     "_linalg_gemm2",
     "",
     {{"alpha", "2"}, {"transpose_b", "True"}},
     {{2, 4, 5, 7}, {2, 4, 3, 7}},
     {{2, 4, 5, 3}}},
    {"Gemm2Axis",
     "_linalg_gemm2",
     "",
     {{"axis", "1"}},
     {{2, 5, 4, 7}, {2, 7, 4, 3}},
     {{2, 5, 4, 3}}},
    {"Gemm",
     "_linalg_gemm",
     "",
     {{"alpha", "2"}, {"beta", "3"}, {"transpose_a", "True"}},
     {{4, 7, 5}, {4, 7, 3}, {4, 5, 3}},
     {{4, 5, 3}}},
    {"Syrk", "_linalg_syrk", "", {{"alpha", "2"}}, {{3, 5, 7}}, {{3, 5, 5}}},
    {"SyrkTransposed", "_linalg_syrk", "", {{"transpose", "True"}}, {{3, 5, 7}}, {{3, 7, 7}}},
    {"KhatriRao", "khatri_rao", "", {}, {{3, 5}, {2, 5}, {4, 5}}, {{24, 5}}},
};

const std::vector<KernelCase> kProductsAndGradients = WithGradients({
    {"Dot", "dot", "", {}, {{5, 7}, {7, 3}}, {{5, 3}}},
    {"DotA", "dot", "", kTransposeA, {{7, 5}, {7, 3}}, {{5, 3}}},
    {"DotB", "dot", "", kTransposeB, {{5, 7}, {3, 7}}, {{5, 3}}},
    {"DotBoth", "dot", "", kTransposeBoth, {{7, 5}, {3, 7}}, {{5, 3}}},
    {"BatchDotA", "batch_dot", "", kTransposeA, {{4, 7, 5}, {4, 7, 3}}, {{4, 5, 3}}},
});

class ProductCudaTest : public ::testing::TestWithParam<KernelCase> {};

// Sums of products of small integers are exact.
TEST_P(ProductCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  KernelCase test = GetParam();
  test.dtypes = kFloats32And64;
  ExpectEqualKernels(test);
}

INSTANTIATE_TEST_SUITE_P(All, ProductCudaTest, ::testing::ValuesIn(kProducts), NameOf);
INSTANTIATE_TEST_SUITE_P(WithGradients, ProductCudaTest, ::testing::ValuesIn(kProductsAndGradients),
                         NameOf);

// Returns products with a triangle of each kind, their inverses and the gradients of both.
std::vector<KernelCase> TriangularProducts() {
  const Shape triangle = {3, 4, 4}, right_of_it = {3, 4, 6}, left_of_it = {3, 6, 4};
  std::vector<KernelCase> cases;
  for (const char* op : {"trmm", "trsm"}) {
    const auto add = [&](const char* kind, const AttrMap& attrs, const Shape& matrix) {
      cases.push_back({absl::StrCat(op, kind),
                       absl::StrCat("_linalg_", op),
                       "",
                       attrs,
                       {triangle, matrix},
                       {matrix}});
    };
    add("", {{"alpha", "2"}}, right_of_it);
    add("Upper", {{"lower", "False"}}, right_of_it);
    add("Transposed", {{"transpose", "True"}}, right_of_it);
    add("Right", {{"rightside", "True"}, {"alpha", "2"}}, left_of_it);
    add("RightUpperTransposed", {{"rightside", "True"}, {"lower", "False"}, {"transpose", "True"}},
        left_of_it);
  }
  return WithGradients(cases);
}

// Other functions of triangular matrices.
const KernelCase kTriangular[] = {
    {"PotrfOfOne", "_linalg_potrf", "", {}, {{300, 1, 1}}, {{300, 1, 1}}},
    {"PotrfBackward",
     "_linalg_potrf",
     "_backward_linalg_potrf",
     {},
     {{3, 4, 4}, {3, 4, 4}},
     {{3, 4, 4}}},
    {"Potri", "_linalg_potri", "", {}, {{3, 4, 4}}, {{3, 4, 4}}},
    {"PotriBackward",
     "_linalg_potri",
     "_backward_linalg_potri",
     {},
     {{3, 4, 4}, {3, 4, 4}, {3, 4, 4}},
     {{3, 4, 4}}},
    {"SumLogDiag", "_linalg_sumlogdiag", "", {}, {{300, 4, 4}}, {{300}}},
    {"SumLogDiagBackward",
     "_linalg_sumlogdiag",
     "_backward_linalg_sumlogdiag",
     {},
     {{3}, {3, 4, 4}},
     {{3, 4, 4}}},
};

class TriangularCudaTest : public ::testing::TestWithParam<KernelCase> {};

// The elements are chosen so that solutions stay small.
TEST_P(TriangularCudaTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  KernelCase test = GetParam();
  test.dtypes = kFloats32And64;
  test.roundings = 500;
  test.low = 1;
  test.high = 2;
  ExpectEqualKernels(test);
}

INSTANTIATE_TEST_SUITE_P(All, TriangularCudaTest, ::testing::ValuesIn(kTriangular), NameOf);
INSTANTIATE_TEST_SUITE_P(Products, TriangularCudaTest, ::testing::ValuesIn(TriangularProducts()),
                         NameOf);

const KernelCase kMoves[] = {
    {"ExtractDiag", "_linalg_extractdiag", "", {}, {{3, 5, 5}}, {{3, 5}}},
    {"ExtractDiagBelow", "_linalg_extractdiag", "", {{"offset", "-2"}}, {{3, 5, 5}}, {{3, 3}}},
    {"MakeDiag", "_linalg_makediag", "", {{"offset", "1"}}, {{3, 4}}, {{3, 5, 5}}},
    {"ExtractTrian", "_linalg_extracttrian", "", {}, {{3, 20, 20}}, {{3, 210}}},
    {"ExtractTrianUpper",
     "_linalg_extracttrian",
     "",
     {{"lower", "False"}},
     {{3, 20, 20}},
     {{3, 210}}},
    {"ExtractTrianBelow", "_linalg_extracttrian", "", {{"offset", "-2"}}, {{3, 5, 5}}, {{3, 6}}},
    {"MakeTrian", "_linalg_maketrian", "", {}, {{3, 15}}, {{3, 5, 5}}},
    {"MakeTrianAbove", "_linalg_maketrian", "", {{"offset", "1"}}, {{3, 10}}, {{3, 5, 5}}},
};

class MatrixMovesCudaTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(MatrixMovesCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  ExpectEqualKernels(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, MatrixMovesCudaTest, ::testing::ValuesIn(kMoves), NameOf);

}  // namespace
}  // namespace cooper
