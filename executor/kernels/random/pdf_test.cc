// Compares Dirichlet's density and its gradients with their formulas, for vectors that are shorter
// and longer than a block, and on any number of threads.

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "executor/executor.h"
#include "executor/kernels/loops/vector_gamma.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// The number of distributions, of the vectors of each, and of the elements of a vector.
struct Extents {
  int64_t count, draws, size;
};

struct Densities {
  std::vector<double> values;         // (count, draws)
  std::vector<double> sample, alpha;  // gradients, for head gradients HeadAt
};

double SampleAt(int64_t i) { return 0.05 + 0.01 * static_cast<double>(i * 37 % 89); }
double AlphaAt(int64_t i) { return 0.7 + 0.1 * static_cast<double>(i * 11 % 13); }
double HeadAt(int64_t i) { return static_cast<double>(i % 5) - 1.5; }

template <typename Fn>
NDArray ArrayOf(const Shape& shape, Fn at) {
  std::vector<double> values(shape.num_elements());
  for (size_t i = 0; i < values.size(); ++i) values[i] = at(static_cast<int64_t>(i));
  return *NDArray::FromVector<double>(shape, values);
}

// Runs the operator in float64. The logarithm is what large vectors have a finite density by.
Densities Compute(const Extents& e, bool is_log) {
  const Symbol symbol = *Symbol::Create(
      "_random_pdf_dirichlet", {.inputs = {Symbol::Variable("sample"), Symbol::Variable("alpha")},
                                .attrs = {{"is_log", is_log ? "True" : "False"}}});
  const Shape sample{e.count, e.draws, e.size}, alpha{e.count, e.size}, values{e.count, e.draws};
  auto executor = *Executor::SimpleBind(
      symbol, {.shapes = {{"sample", sample}, {"alpha", alpha}},
               .types = {{"sample", DType::kFloat64}, {"alpha", DType::kFloat64}}});
  COOPER_EXPECT_OK(executor->arg("sample").CopyFrom(ArrayOf(sample, SampleAt)));
  COOPER_EXPECT_OK(executor->arg("alpha").CopyFrom(ArrayOf(alpha, AlphaAt)));
  COOPER_EXPECT_OK(executor->Forward(/*is_train=*/true));
  COOPER_EXPECT_OK(executor->Backward({ArrayOf(values, HeadAt)}));
  return {*(*executor->outputs())[0].ToVector<double>(),
          *executor->grad("sample").ToVector<double>(),
          *executor->grad("alpha").ToVector<double>()};
}

Densities Expected(const Extents& e, bool is_log) {
  Densities expected{std::vector<double>(e.count * e.draws),
                     std::vector<double>(e.count * e.draws * e.size),
                     std::vector<double>(e.count * e.size)};
  for (int64_t i = 0; i < e.count * e.draws; ++i) {
    const int64_t k = i / e.draws;
    double sum = 0, log = 0;
    for (int64_t j = 0; j < e.size; ++j) {
      const double a = AlphaAt(k * e.size + j);
      sum += a;
      log += (a - 1) * std::log(SampleAt(i * e.size + j)) - std::lgamma(a);
    }
    log += std::lgamma(sum);
    expected.values[i] = is_log ? log : std::exp(log);
    const double scale = HeadAt(i) * (is_log ? 1 : expected.values[i]);
    for (int64_t j = 0; j < e.size; ++j) {
      const double a = AlphaAt(k * e.size + j), x = SampleAt(i * e.size + j);
      expected.sample[i * e.size + j] = scale * (a - 1) / x;
      expected.alpha[k * e.size + j] +=
          scale * (std::log(x) + VectorDigamma(sum) - VectorDigamma(a));
    }
  }
  return expected;
}

void ExpectClose(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-11 * (1 + std::fabs(expected[i]))) << i;
  }
}

TEST(PdfTest, DirichletIsItsFormulaOnAnyNumberOfThreads) {
  const int own = NumThreads();
  struct Row {
    Extents extents;
    bool is_log;
  };
  for (const Row& row : {Row{{3, 300, 3}, false}, Row{{2, 70, 8}, true}, Row{{1, 500, 11}, false},
                         Row{{2, 5, 600}, true}, Row{{40, 1, 2}, false}}) {
    SCOPED_TRACE(testing::Message()
                 << row.extents.count << " distributions, vectors of " << row.extents.size);
    SetNumThreads(1);
    const Densities one = Compute(row.extents, row.is_log);
    SetNumThreads(3);
    const Densities three = Compute(row.extents, row.is_log);
    SetNumThreads(own);
    const Densities expected = Expected(row.extents, row.is_log);
    ExpectClose(one.values, expected.values);
    ExpectClose(one.sample, expected.sample);
    ExpectClose(one.alpha, expected.alpha);
    EXPECT_EQ(one.values, three.values);
    EXPECT_EQ(one.sample, three.sample);
    EXPECT_EQ(one.alpha, three.alpha);
  }
}

}  // namespace
}  // namespace cooper
