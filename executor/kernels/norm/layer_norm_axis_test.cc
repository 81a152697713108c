// Compares LayerNorm along an inner axis with LayerNorm along the last axis of transposed data.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

Symbol LayerNorm(const Symbol& data, int axis) {
  return Op("LayerNorm", {.name = "norm",
                          .inputs = {data, Symbol::Variable("gamma"), Symbol::Variable("beta")},
                          .attrs = {{"axis", absl::StrCat(axis)}}});
}

Symbol Swapped(const Symbol& data) {
  return Op("SwapAxis", {.inputs = {data}, .attrs = {{"dim1", "1"}, {"dim2", "2"}}});
}

// Returns the output and the gradients of data, gamma and beta of a training step.
std::vector<std::vector<double>> Step(const Symbol& symbol, const Shape& shape) {
  const int64_t n = shape[1];
  const std::vector<NDArray> arrays = RandomArrays({shape, {n}, {n}, shape}, /*seed=*/7);
  BindOptions options;
  const char* const names[] = {"data", "gamma", "beta"};
  for (int i = 0; i < 3; ++i) options.args[names[i]] = *arrays[i].AsType(DType::kFloat64);
  const auto executor = Executor::SimpleBind(symbol, options);
  COOPER_EXPECT_OK(executor.status());
  if (!executor.ok()) return {};
  COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/true));
  std::vector<std::vector<double>> results = {*(*(*executor)->outputs())[0].ToVector<double>()};
  COOPER_EXPECT_OK((*executor)->Backward({*arrays[3].AsType(DType::kFloat64)}));
  for (const char* name : names) {
    results.push_back(*(*executor)->grad(name).ToVector<double>());
  }
  return results;
}

TEST(LayerNormAxisTest, AnInnerAxisIsLikeTheLastOne) {
  const Symbol data = Symbol::Variable("data");
  for (const Shape& shape : {Shape({1, 1, 2}), Shape({2, 5, 3}), Shape({3, 40, 64}),
                             Shape({2, 7, 65}), Shape({1, 3, 5000}), Shape({5, 600, 130})}) {
    SCOPED_TRACE(shape.ToString());
    const auto got = Step(LayerNorm(data, 1), shape);
    const auto expected = Step(Swapped(LayerNorm(Swapped(data), 2)), shape);
    ASSERT_EQ(got.size(), 4u);
    ASSERT_EQ(expected.size(), 4u);
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].size(), expected[i].size());
      for (size_t k = 0; k < got[i].size(); ++k) {
        // Sums of up to 5000 terms, in another order.
        ASSERT_NEAR(got[i][k], expected[i][k], 1e-9) << "result " << i << " at " << k;
      }
    }
  }
}

TEST(LayerNormAxisTest, ThreadsGiveTheSameBits) {
  const Symbol norm = LayerNorm(Symbol::Variable("data"), 1);
  const int threads = NumThreads();
  for (const Shape& shape : {Shape({3, 40, 130}), Shape({1, 3, 50000}), Shape({4, 600, 130})}) {
    SetNumThreads(1);
    const auto one = Step(norm, shape);
    SetNumThreads(3);
    EXPECT_EQ(Step(norm, shape), one) << shape.ToString();
  }
  SetNumThreads(threads);
}

}  // namespace
}  // namespace cooper
