// Compares triangular systems and factorizations on a GPU with the CPU, for batch sizes and matrix
// sizes on both sides of the bounds that select the library's function.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/compare_kernels.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

struct Batch {
  int64_t count, n;
};

// Batches of (count, side): one matrix, a few and many small ones, a few and many larger ones, and
// empty batches.
const Batch kBatches[] = {{1, 1},  {1, 7},  {3, 5}, {40, 2}, {1, 65},
                          {2, 64}, {9, 64}, {0, 3}, {2, 0}};

// Kernels of square matrices, with their inputs and outputs in the letters of Shapes().
struct Factorization {
  const char* op;
  const char* kernel;
  const char* inputs;
  const char* outputs;
};

const Factorization kFactorizations[] = {
    {"_linalg_potrf", "", "M", "M"},
    {"_linalg_potrf", "_backward_linalg_potrf", "MM", "M"},
    {"_linalg_potri", "", "M", "M"},
    {"_linalg_potri", "_backward_linalg_potri", "MMM", "M"},
    {"_linalg_sumlogdiag", "", "M", "n"},
    {"_linalg_sumlogdiag", "_backward_linalg_sumlogdiag", "nM", "M"},
    {"_linalg_inverse", "", "M", "M"},
    {"_linalg_slogdet", "", "M", "nn"},
    {"_linalg_slogdet", "_backward_linalg_slogdet", "nM", "M"},
};

// Returns a shape of matrices for each M, and one of numbers for each n.
std::vector<Shape> Shapes(const std::string& letters, const Batch& batch) {
  std::vector<Shape> shapes;
  for (const char letter : letters) {
    shapes.push_back(letter == 'M' ? Shape{batch.count, batch.n, batch.n} : Shape{batch.count});
  }
  return shapes;
}

std::string NameOf(const Batch& batch) { return absl::StrCat(batch.count, "Of", batch.n); }

// Compares the kernels for elements in [-magnitude, magnitude], plus `diagonal` on the diagonal.
void Compare(const Factorization& f, const Batch& batch, double magnitude, double diagonal) {
  ExpectEqualKernels({.name = absl::StrCat(f.op, f.kernel, " ", NameOf(batch)),
                      .op = f.op,
                      .kernel = f.kernel,
                      .inputs = Shapes(f.inputs, batch),
                      .outputs = Shapes(f.outputs, batch),
                      .dtypes = {DType::kFloat32, DType::kFloat64},
                      .roundings = 500,
                      .low = -magnitude,
                      .high = magnitude,
                      .diagonal = diagonal});
}

using FactorizationCase = std::tuple<Factorization, Batch>;

std::string NameOfCase(const ::testing::TestParamInfo<FactorizationCase>& info) {
  const auto& [f, batch] = info.param;
  return absl::StrCat((*f.kernel == 0 ? f.op : f.kernel) + 1, NameOf(batch));
}

class FactorizationCudaTest : public ::testing::TestWithParam<FactorizationCase> {};

TEST_P(FactorizationCudaTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  const auto& [f, batch] = GetParam();
  Compare(f, batch, 1, static_cast<double>(batch.n) + 1);
}

INSTANTIATE_TEST_SUITE_P(All, FactorizationCudaTest,
                         ::testing::Combine(::testing::ValuesIn(kFactorizations),
                                            ::testing::ValuesIn(kBatches)),
                         NameOfCase);

// Kernels for matrices close to the identity, for which the product of many pivots stays within
// float's range and sums cancel little.
const Factorization kNearlyOne[] = {
    {"_linalg_det", "", "M", "n"},
    {"_linalg_det", "_backward_linalg_det", "nM", "M"},
    {"_linalg_inverse", "_backward_linalg_inverse", "MM", "M"},
};

TEST(NearlyOneCudaTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const Batch& batch : kBatches) {
    for (const Factorization& f : kNearlyOne) Compare(f, batch, 0.02, 1);
  }
}

// Compares the kernel of an operator on A and B of the batch, with outputs like B, and that of its
// gradient.
void CompareSystems(const std::string& op, const AttrMap& attrs, const Batch& batch,
                    const Shape& b) {
  const Shape a{batch.count, batch.n, batch.n};
  KernelCase test = {.name = absl::StrCat(op, " ", NameOf(batch), " ", b.ToString()),
                     .op = op,
                     .attrs = attrs,
                     .inputs = {a, b},
                     .outputs = {b},
                     .dtypes = {DType::kFloat32, DType::kFloat64},
                     .roundings = 500,
                     .low = -1,
                     .high = 1,
                     .diagonal = static_cast<double>(batch.n) + 1};
  ExpectEqualKernels(test);
  test.kernel = absl::StrCat("_backward", op);
  test.inputs = {b, a, b};
  test.outputs = {a, b};
  ExpectEqualKernels(test);
}

class SolveCudaTest : public ::testing::TestWithParam<int> {};

// Tests all forms of triangles, on the left and on the right of matrices that are not square.
TEST_P(SolveCudaTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  const bool transpose = GetParam() & 1, rightside = GetParam() & 2, lower = GetParam() & 4;
  const auto text = [](bool value) { return value ? "True" : "False"; };
  for (const Batch& batch : kBatches) {
    const Shape b = rightside ? Shape{batch.count, 3, batch.n} : Shape{batch.count, batch.n, 3};
    for (const std::string op : {"_linalg_trsm", "_linalg_trmm"}) {
      CompareSystems(op,
                     {{"transpose", text(transpose)},
                      {"rightside", text(rightside)},
                      {"lower", text(lower)},
                      {"alpha", "2"}},
                     batch, b);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SolveCudaTest, ::testing::Range(0, 8));

TEST(SolveByFactorsCudaTest, IsCloseToTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const Batch& batch : kBatches) {
    for (const int64_t columns : {0, 1, 3}) {
      CompareSystems("_linalg_solve", {}, batch, Shape{batch.count, batch.n, columns});
    }
  }
}

// Returns the arrays of an operator with inputs that all are `a` on a GPU: the inputs, then the
// outputs.
absl::StatusOr<std::vector<NDArray>> RunOnGpu(const std::string& op, const NDArray& a,
                                              std::vector<NDArray> outputs, int num_inputs = 1) {
  std::vector<Symbol> variables;
  variables.reserve(num_inputs);
  for (int i = 0; i < num_inputs; ++i) variables.push_back(Symbol::Variable(absl::StrCat("a", i)));
  const Symbol symbol = *Symbol::Create(op, {.inputs = variables});
  const size_t count = outputs.size();
  return RunKernelOn(Context::Gpu(0), {.kernel = op,
                                       .call = symbol.outputs()[0].node->call(),
                                       .inputs = std::vector<NDArray>(num_inputs, a),
                                       .outputs = std::move(outputs),
                                       .reqs = std::vector<WriteReq>(count, WriteReq::kWrite)});
}

// Returns `count` identity matrices (n, n), of which matrix `matrix` has `value` in its last place.
NDArray Identities(const Batch& batch, int64_t matrix, float value) {
  NDArray a = *NDArray::Empty(Shape{batch.count, batch.n, batch.n}, DType::kFloat32);
  float* const elements = static_cast<float*>(a.raw_data());
  for (int64_t i = 0; i < a.shape().num_elements(); ++i) {
    elements[i] = i / batch.n % batch.n == i % batch.n ? 1 : 0;
  }
  elements[(matrix + 1) * batch.n * batch.n - 1] = value;
  return a;
}

TEST(DenseSolverCudaTest, NamesTheMatrixThatHasNoFactor) {
  COOPER_REQUIRE_GPU();
  for (const Batch& batch : {Batch{3, 4}, Batch{2, 64}, Batch{9, 64}}) {
    SCOPED_TRACE(NameOf(batch));
    for (const float value : {-1.0F, 0.0F, std::numeric_limits<float>::quiet_NaN()}) {
      const NDArray a = Identities(batch, 1, value);
      EXPECT_THAT(RunOnGpu("_linalg_potrf", a, {a}),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr("_linalg_potrf: matrix 1 of input 'A' is not positive")));
    }
    const NDArray a = Identities(batch, 1, 0);
    EXPECT_THAT(RunOnGpu("_linalg_inverse", a, {a}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("_linalg_inverse: matrix 1 of input 'A' is singular")));
    EXPECT_THAT(RunOnGpu("_linalg_solve", a, {a}, /*num_inputs=*/2),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("_linalg_solve: matrix 1 of input 'A' is singular")));
  }
}

TEST(DenseSolverCudaTest, DeterminantOfASingularMatrixIsZero) {
  COOPER_REQUIRE_GPU();
  for (const Batch& batch : {Batch{3, 4}, Batch{2, 64}, Batch{9, 64}}) {
    SCOPED_TRACE(NameOf(batch));
    const NDArray a = Identities(batch, 1, 0);
    const NDArray number = *NDArray::Empty(Shape{batch.count}, DType::kFloat32);
    COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> det,
                                RunOnGpu("_linalg_det", a, {number}));
    COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> slogdet,
                                RunOnGpu("_linalg_slogdet", a, {number, number}));
    const auto at = [](const NDArray& array, int64_t i) {
      return static_cast<const float*>(array.raw_data())[i];
    };
    EXPECT_EQ(at(det[1], 0), 1);
    EXPECT_EQ(at(det[1], 1), 0);
    EXPECT_EQ(at(slogdet[1], 1), 0);
    EXPECT_EQ(at(slogdet[2], 1), -std::numeric_limits<float>::infinity());
    EXPECT_EQ(at(slogdet[2], 0), 0);
  }
}

// As on the CPU, a pivot that is NaN does not count as 0.
TEST(DenseSolverCudaTest, GradientOfNanIsNan) {
  COOPER_REQUIRE_GPU();
  const Symbol symbol = *Symbol::Create("_linalg_slogdet", {.inputs = {Symbol::Variable("a")}});
  const NDArray a = Identities({1, 3}, 0, std::numeric_limits<float>::quiet_NaN());
  const NDArray head = *NDArray::FromVector<float>({1}, {1.0F});
  for (const Context& context : {Context::Cpu(0), Context::Gpu(0)}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const std::vector<NDArray> arrays,
        RunKernelOn(context, {.kernel = "_backward_linalg_slogdet",
                              .call = symbol.outputs()[0].node->call(),
                              .inputs = {head, a},
                              .outputs = {*NDArray::Empty(Shape{1, 3, 3}, DType::kFloat32)},
                              .reqs = {WriteReq::kWrite}}));
    EXPECT_TRUE(std::isnan(static_cast<const float*>(arrays[2].raw_data())[8])) << context;
  }
}

}  // namespace
}  // namespace cooper
