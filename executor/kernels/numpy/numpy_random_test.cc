// Tests NumPy's random arrays: distributions by the test of Kolmogorov and Smirnov, shapes, and
// independence of the number of threads.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

constexpr int64_t kDraws = 40'000;

struct RandomCase {
  const char* name;
  const char* op;
  AttrMap attrs;
  std::vector<float> input1, input2;  // the parameters of each column; empty: no such input
};

// Columns have the parameters (-1, 2) and (3, 5): low and high, or mean and deviation.
const std::vector<RandomCase>& Cases() {
  static const auto* cases = new std::vector<RandomCase>{
      {"UniformOfInputs", "_npi_uniform", {{"low", "None"}, {"high", "None"}}, {-1, 3}, {2, 5}},
      {"UniformN", "_npi_uniform_n", {{"low", "None"}, {"high", "None"}}, {-1, 3}, {2, 5}},
      {"UniformOfNumber", "_npi_uniform", {{"low", "-1"}, {"high", "None"}}, {2, 2}, {}},
      {"UniformOfNumbers", "_npi_uniform", {{"low", "-1"}, {"high", "2"}}, {}, {}},
      {"NormalOfInputs", "_npi_normal", {{"loc", "None"}, {"scale", "None"}}, {-1, 3}, {2, 5}},
      {"NormalN", "_npi_normal_n", {{"loc", "None"}, {"scale", "None"}}, {-1, 3}, {2, 5}},
      {"NormalOfNumber", "_npi_normal", {{"loc", "None"}, {"scale", "2"}}, {-1, -1}, {}},
      {"NormalOfNumbers", "_npi_normal", {{"loc", "-1"}, {"scale", "2"}}, {}, {}},
  };
  return *cases;
}

// Returns kDraws rows of two columns.
std::vector<float> Draw(const RandomCase& test) {
  const std::string op = test.op;
  AttrMap attrs = test.attrs;
  const bool prepends = op.back() == 'n' && op[op.size() - 2] == '_';
  attrs["size"] = prepends ? std::to_string(kDraws) : "(" + std::to_string(kDraws) + ", 2)";
  OpArgs args{.attrs = attrs};
  BindOptions options;
  for (const auto* values : {&test.input1, &test.input2}) {
    if (values->empty()) continue;
    const std::string name = values == &test.input1 ? "a" : "b";
    args.inputs.push_back(Symbol::Variable(name));
    options.args[name] = *NDArray::FromVector(Shape({2}), *values);
  }
  auto executor = Executor::Bind(*Symbol::Create(op, args), std::move(options));
  EXPECT_TRUE(executor.ok()) << executor.status();
  COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/false));
  const NDArray output = (*(*executor)->outputs())[0];
  EXPECT_EQ(output.shape(), Shape({kDraws, 2}));
  return *output.ToVector<float>();
}

double Cdf(const RandomCase& test, double x, int column) {
  const bool is_uniform = std::string(test.op).find("uniform") != std::string::npos;
  const bool other = column == 1 && !test.input2.empty();
  const double a = other ? 3 : -1, b = other ? 5 : 2;
  if (is_uniform) return std::clamp((x - a) / (b - a), 0.0, 1.0);
  return 0.5 * std::erfc((a - x) / (b * std::sqrt(2)));
}

// The largest distance between the distributions of `draws` and of the case.
double Distance(const RandomCase& test, std::vector<float> draws, int column) {
  std::sort(draws.begin(), draws.end());
  const double n = static_cast<double>(draws.size());
  double distance = 0;
  for (size_t i = 0; i < draws.size(); ++i) {
    const double cdf = Cdf(test, draws[i], column);
    distance = std::max({distance, cdf - i / n, (i + 1) / n - cdf});
  }
  return distance;
}

// A right distribution exceeds the bound in one of 10^8 tests: P(D sqrt(n) > 3.1) = 2 exp(-2 *
// 3.1^2). A wrong one fails surely if it differs by 0.031 anywhere: a mean that is off by 5 % of
// the deviation differs by 0.02, and one that is off by 8 % by 0.032.
TEST(NumpyRandomTest, HasTheDistribution) {
  for (const RandomCase& test : Cases()) {
    SCOPED_TRACE(test.name);
    const std::vector<float> drawn = Draw(test);
    for (int column : {0, 1}) {
      std::vector<float> draws;
      for (size_t i = column; i < drawn.size(); i += 2) draws.push_back(drawn[i]);
      EXPECT_LT(Distance(test, draws, column), 3.1 / std::sqrt(kDraws)) << "column " << column;
    }
  }
}

TEST(NumpyRandomTest, DrawsTheSameOnAnyNumberOfThreads) {
  const int threads = NumThreads();
  for (const RandomCase& test : Cases()) {
    SCOPED_TRACE(test.name);
    std::vector<std::vector<float>> drawn;
    for (int count : {1, 2, 5}) {
      SetNumThreads(count);
      drawn.push_back(Draw(test));
    }
    EXPECT_EQ(drawn[0], drawn[1]);
    EXPECT_EQ(drawn[0], drawn[2]);
  }
  SetNumThreads(threads);
}

}  // namespace
}  // namespace cooper
