// Compares gradients of products, factors and determinants with central differences, and tests the
// errors of matrices that have no factors.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "tests/operators/gradient_checker.h"
#include "tests/operators/run_operator.h"

namespace cooper {
namespace {

const GradientCase kCases[] = {
    {"Dot", "dot", {}, {{"a", {2, 2, 3}}, {"b", {3, 2, 2}}}},
    {"DotTransposed",
     "dot",
     {{"transpose_a", "True"}, {"transpose_b", "True"}},
     {{"a", {3, 2}}, {"b", {4, 3}}}},
    {"DotOfVectors", "dot", {}, {{"a", {3}}, {"b", {3}}}},
    {"MatrixTimesVector", "dot", {}, {{"a", {2, 3}}, {"b", {3}}}},
    {"BatchDot", "batch_dot", {}, {{"a", {2, 2, 3}}, {"b", {2, 3, 4}}}},
    {"BatchDotTransposed",
     "batch_dot",
     {{"transpose_a", "True"}, {"transpose_b", "True"}},
     {{"a", {2, 3, 2}}, {"b", {2, 4, 3}}}},
    {"Gemm",
     "linalg_gemm",
     {{"alpha", "2"}, {"beta", "0.5"}, {"transpose_a", "True"}},
     {{"A", {2, 3, 2}}, {"B", {2, 3, 4}}, {"C", {2, 2, 4}}}},
    {"Gemm2OfFirstAxis",
     "linalg_gemm2",
     {{"axis", "0"}, {"transpose_b", "True"}},
     {{"A", {2, 2, 3}}, {"B", {4, 2, 3}}}},
    {"Syrk", "linalg_syrk", {{"alpha", "3"}}, {{"A", {2, 2, 3}}}},
    {"SyrkTransposed", "linalg_syrk", {{"transpose", "True"}}, {{"A", {2, 3}}}},
    {"Trmm", "linalg_trmm", {{"alpha", "2"}}, {{"A", {2, 3, 3}}, {"B", {2, 3, 2}}}},
    {"TrmmUpper",
     "linalg_trmm",
     {{"lower", "False"}, {"transpose", "True"}, {"rightside", "True"}},
     {{"A", {3, 3}}, {"B", {2, 3}}}},
    {"Trsm",
     "linalg_trsm",
     {{"alpha", "2"}, {"transpose", "True"}},
     {{"A", {2, 2, 2}}, {"B", {2, 2, 3}}}},
    {"TrsmUpper",
     "linalg_trsm",
     {{"lower", "False"}, {"rightside", "True"}},
     {{"A", {2, 2}}, {"B", {3, 2}}}},
    {"Potri", "linalg_potri", {}, {{"A", {2, 2}}}},
    {"Solve", "_linalg_solve", {}, {{"A", {2, 3, 3}}, {"B", {2, 3, 2}}}},
    {"Inverse", "linalg_inverse", {}, {{"A", {2, 3, 3}}}},
    {"Det", "linalg_det", {}, {{"A", {2, 3, 3}}}},
    {"Slogdet", "linalg_slogdet", {}, {{"A", {3, 3}}}},
    {"ExtractDiag", "linalg_extractdiag", {{"offset", "-1"}}, {{"A", {2, 3, 3}}}},
    {"MakeDiag", "linalg_makediag", {{"offset", "1"}}, {{"A", {2, 3}}}},
    {"ExtractTrian", "linalg_extracttrian", {{"offset", "-1"}}, {{"A", {2, 3, 3}}}},
    {"MakeTrian", "linalg_maketrian", {{"lower", "False"}}, {{"A", {2, 6}}}},
};

TEST(LinalgGradientTest, MatchesDifferences) {
  for (const GradientCase& test : kCases) CheckGradient(test);
}

TEST(LinalgErrorTest, NamesTheMatrixThatHasNoFactor) {
  struct {
    std::string op, error;
    int inputs;
  } const cases[] = {
      {"_linalg_potrf", "_linalg_potrf: matrix 1 of input 'A' is not positive definite", 1},
      {"_linalg_inverse", "_linalg_inverse: matrix 1 of input 'A' is singular", 1},
      {"_linalg_solve", "_linalg_solve: matrix 1 of input 'A' is singular", 2},
  };
  // The second matrix has two equal rows.
  const NDArray a = *NDArray::FromVector<float>({2, 2, 2}, {2, 1, 1, 2, 3, 1, 3, 1});
  for (const auto& test : cases) {
    EXPECT_THAT(RunOperator(test.op, {}, std::vector<NDArray>(test.inputs, a)),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr(test.error)));
  }
}

}  // namespace
}  // namespace cooper
