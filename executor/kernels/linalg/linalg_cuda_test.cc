// Compares matrix products and other linear algebra on a GPU with the CPU.

#include <string>
#include <vector>

#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

const std::vector<DType> kFloats32And64 = {DType::kFloat32, DType::kFloat64};

struct ProductCase {
  const char* name;
  const char* op;
  const char* kernel;
  AttrMap attrs;
  std::vector<Shape> inputs, outputs;
};

const AttrMap kTransposeA = {{"transpose_a", "True"}};
const AttrMap kTransposeB = {{"transpose_b", "True"}};
const AttrMap kTransposeBoth = {{"transpose_a", "True"}, {"transpose_b", "True"}};

const ProductCase kProducts[] = {
    {"Dot", "dot", "", {}, {{5, 7}, {7, 3}}, {{5, 3}}},
    {"DotA", "dot", "", kTransposeA, {{7, 5}, {7, 3}}, {{5, 3}}},
    {"DotB", "dot", "", kTransposeB, {{5, 7}, {3, 7}}, {{5, 3}}},
    {"DotBoth", "dot", "", kTransposeBoth, {{7, 5}, {3, 7}}, {{5, 3}}},
    {"DotVectors", "dot", "", {}, {{7}, {7}}, {{1}}},
    {"DotAxes", "dot", "", {}, {{2, 3, 7}, {7, 4, 2}}, {{2, 3, 4, 2}}},
    {"DotNothing", "dot", "", {}, {{5, 0}, {0, 3}}, {{5, 3}}},
    {"DotEmpty", "dot", "", {}, {{0, 4}, {4, 3}}, {{0, 3}}},
    {"DotBackward", "dot", "_backward_dot", {}, {{5, 3}, {5, 7}, {7, 3}}, {{5, 7}, {7, 3}}},
    {"DotABackward",
     "dot",
     "_backward_dot",
     kTransposeA,
     {{5, 3}, {7, 5}, {7, 3}},
     {{7, 5}, {7, 3}}},
    {"DotBBackward",
     "dot",
     "_backward_dot",
     kTransposeB,
     {{5, 3}, {5, 7}, {3, 7}},
     {{5, 7}, {3, 7}}},
    {"DotBothBackward",
     "dot",
     "_backward_dot",
     kTransposeBoth,
     {{5, 3}, {7, 5}, {3, 7}},
     {{7, 5}, {3, 7}}},
    {"BatchDot", "batch_dot", "", {}, {{4, 5, 7}, {4, 7, 3}}, {{4, 5, 3}}},
    {"BatchDotBoth", "batch_dot", "", kTransposeBoth, {{4, 7, 5}, {4, 3, 7}}, {{4, 5, 3}}},
    {"BatchDotBackward",
     "batch_dot",
     "_backward_batch_dot",
     kTransposeA,
     {{4, 5, 3}, {4, 7, 5}, {4, 7, 3}},
     {{4, 7, 5}, {4, 7, 3}}},
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

class ProductCudaTest : public ::testing::TestWithParam<ProductCase> {};

// Sums of products of small integers are exact.
TEST_P(ProductCudaTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  const ProductCase& c = GetParam();
  ExpectEqualKernels({.name = c.name,
                      .op = c.op,
                      .kernel = c.kernel,
                      .attrs = c.attrs,
                      .inputs = c.inputs,
                      .outputs = c.outputs,
                      .dtypes = kFloats32And64});
}

INSTANTIATE_TEST_SUITE_P(All, ProductCudaTest, ::testing::ValuesIn(kProducts),
                         [](const auto& info) { return std::string(info.param.name); });

// Triangular matrices whose solutions stay small.
const ProductCase kTriangular[] = {
    {"Trmm", "_linalg_trmm", "", {{"alpha", "2"}}, {{3, 4, 4}, {3, 4, 6}}, {{3, 4, 6}}},
    {"TrmmBackward",
     "_linalg_trmm",
     "_backward_linalg_trmm",
     {{"alpha", "2"}},
     {{3, 4, 6}, {3, 4, 4}, {3, 4, 6}},
     {{3, 4, 4}, {3, 4, 6}}},
    {"TrmmUpper", "_linalg_trmm", "", {{"lower", "False"}}, {{3, 4, 4}, {3, 4, 6}}, {{3, 4, 6}}},
    {"TrmmUpperBackward",
     "_linalg_trmm",
     "_backward_linalg_trmm",
     {{"lower", "False"}},
     {{3, 4, 6}, {3, 4, 4}, {3, 4, 6}},
     {{3, 4, 4}, {3, 4, 6}}},
    {"TrmmTransposed",
     "_linalg_trmm",
     "",
     {{"transpose", "True"}},
     {{3, 4, 4}, {3, 4, 6}},
     {{3, 4, 6}}},
    {"TrmmTransposedBackward",
     "_linalg_trmm",
     "_backward_linalg_trmm",
     {{"transpose", "True"}},
     {{3, 4, 6}, {3, 4, 4}, {3, 4, 6}},
     {{3, 4, 4}, {3, 4, 6}}},
    {"TrmmRight",
     "_linalg_trmm",
     "",
     {{"rightside", "True"}, {"alpha", "2"}},
     {{3, 4, 4}, {3, 6, 4}},
     {{3, 6, 4}}},
    {"TrmmRightBackward",
     "_linalg_trmm",
     "_backward_linalg_trmm",
     {{"rightside", "True"}, {"alpha", "2"}},
     {{3, 6, 4}, {3, 4, 4}, {3, 6, 4}},
     {{3, 4, 4}, {3, 6, 4}}},
    {"TrmmRightUpperTransposed",
     "_linalg_trmm",
     "",
     {{"rightside", "True"}, {"lower", "False"}, {"transpose", "True"}},
     {{3, 4, 4}, {3, 6, 4}},
     {{3, 6, 4}}},
    {"TrmmRightUpperTransposedBackward",
     "_linalg_trmm",
     "_backward_linalg_trmm",
     {{"rightside", "True"}, {"lower", "False"}, {"transpose", "True"}},
     {{3, 6, 4}, {3, 4, 4}, {3, 6, 4}},
     {{3, 4, 4}, {3, 6, 4}}},
    {"Trsm", "_linalg_trsm", "", {{"alpha", "2"}}, {{3, 4, 4}, {3, 4, 6}}, {{3, 4, 6}}},
    {"TrsmBackward",
     "_linalg_trsm",
     "_backward_linalg_trsm",
     {{"alpha", "2"}},
     {{3, 4, 6}, {3, 4, 4}, {3, 4, 6}},
     {{3, 4, 4}, {3, 4, 6}}},
    {"TrsmUpper", "_linalg_trsm", "", {{"lower", "False"}}, {{3, 4, 4}, {3, 4, 6}}, {{3, 4, 6}}},
    {"TrsmUpperBackward",
     "_linalg_trsm",
     "_backward_linalg_trsm",
     {{"lower", "False"}},
     {{3, 4, 6}, {3, 4, 4}, {3, 4, 6}},
     {{3, 4, 4}, {3, 4, 6}}},
    {"TrsmTransposed",
     "_linalg_trsm",
     "",
     {{"transpose", "True"}},
     {{3, 4, 4}, {3, 4, 6}},
     {{3, 4, 6}}},
    {"TrsmTransposedBackward",
     "_linalg_trsm",
     "_backward_linalg_trsm",
     {{"transpose", "True"}},
     {{3, 4, 6}, {3, 4, 4}, {3, 4, 6}},
     {{3, 4, 4}, {3, 4, 6}}},
    {"TrsmRight",
     "_linalg_trsm",
     "",
     {{"rightside", "True"}, {"alpha", "2"}},
     {{3, 4, 4}, {3, 6, 4}},
     {{3, 6, 4}}},
    {"TrsmRightBackward",
     "_linalg_trsm",
     "_backward_linalg_trsm",
     {{"rightside", "True"}, {"alpha", "2"}},
     {{3, 6, 4}, {3, 4, 4}, {3, 6, 4}},
     {{3, 4, 4}, {3, 6, 4}}},
    {"TrsmRightUpperTransposed",
     "_linalg_trsm",
     "",
     {{"rightside", "True"}, {"lower", "False"}, {"transpose", "True"}},
     {{3, 4, 4}, {3, 6, 4}},
     {{3, 6, 4}}},
    {"TrsmRightUpperTransposedBackward",
     "_linalg_trsm",
     "_backward_linalg_trsm",
     {{"rightside", "True"}, {"lower", "False"}, {"transpose", "True"}},
     {{3, 6, 4}, {3, 4, 4}, {3, 6, 4}},
     {{3, 4, 4}, {3, 6, 4}}},
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

class TriangularCudaTest : public ::testing::TestWithParam<ProductCase> {};

TEST_P(TriangularCudaTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  const ProductCase& c = GetParam();
  ExpectEqualKernels({.name = c.name,
                      .op = c.op,
                      .kernel = c.kernel,
                      .attrs = c.attrs,
                      .inputs = c.inputs,
                      .outputs = c.outputs,
                      .dtypes = kFloats32And64,
                      .roundings = 500,
                      .low = 1,
                      .high = 2});
}

INSTANTIATE_TEST_SUITE_P(All, TriangularCudaTest, ::testing::ValuesIn(kTriangular),
                         [](const auto& info) { return std::string(info.param.name); });

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

INSTANTIATE_TEST_SUITE_P(All, MatrixMovesCudaTest, ::testing::ValuesIn(kMoves),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cooper
