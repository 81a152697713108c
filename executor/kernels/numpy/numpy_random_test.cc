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

// Columns have the parameters (-1, 2) and (3, 5): low and high, mean and deviation, location and
// scale. A distribution of one parameter has the second of them.
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
      {"ExponentialOfInput", "_npi_exponential", {{"scale", "None"}}, {2, 5}, {}},
      {"ExponentialOfNumber", "_npi_exponential", {{"scale", "2"}}, {}, {}},
      {"RayleighOfInput", "_npi_rayleigh", {{"scale", "None"}}, {2, 5}, {}},
      {"RayleighOfNumber", "_npi_rayleigh", {{"scale", "2"}}, {}, {}},
      {"ParetoOfInput", "_npi_pareto", {}, {2, 5}, {}},
      {"ParetoOfNumber", "_npi_pareto", {{"a", "2"}}, {}, {}},
      {"WeibullOfInput", "_npi_weibull", {}, {2, 5}, {}},
      {"WeibullOfNumber", "_npi_weibull", {{"a", "2"}}, {}, {}},
      {"PowerdOfInput", "_npi_powerd", {}, {2, 5}, {}},
      {"PowerdOfNumber", "_npi_powerd", {{"a", "2"}}, {}, {}},
      {"GumbelOfInputs", "_npi_gumbel", {{"loc", "None"}, {"scale", "None"}}, {-1, 3}, {2, 5}},
      {"GumbelOfNumber", "_npi_gumbel", {{"loc", "-1"}, {"scale", "None"}}, {2, 2}, {}},
      {"LogisticOfInputs", "_npi_logistic", {{"loc", "None"}, {"scale", "None"}}, {-1, 3}, {2, 5}},
      {"LogisticOfNumbers", "_npi_logistic", {{"loc", "-1"}, {"scale", "2"}}, {}, {}},
      {"GammaOfNumbers", "_npi_gamma", {{"shape", "2"}, {"scale", "2"}}, {}, {}},
      {"GammaOfInput", "_npi_gamma", {{"shape", "2"}, {"scale", "None"}}, {2, 5}, {}},
      {"GammaOfInputs", "_npi_gamma", {{"shape", "None"}, {"scale", "None"}}, {2, 2.001}, {2, 5}},
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
  const std::string op = test.op;
  const bool other = column == 1 && !test.input1.empty() && test.input1[0] != test.input1[1];
  const double a = other ? 3 : -1, b = other ? 5 : 2;
  if (op == "_npi_exponential") return 1 - std::exp(-x / b);
  if (op == "_npi_rayleigh") return 1 - std::exp(-x * x / (2 * b * b));
  if (op == "_npi_pareto") return 1 - std::pow(1 + x, -b);
  if (op == "_npi_weibull") return 1 - std::exp(-std::pow(x, b));
  if (op == "_npi_powerd") return std::pow(x, b);
  if (op == "_npi_gumbel") return std::exp(-std::exp((a - x) / b));
  if (op == "_npi_logistic") return 1 / (1 + std::exp((a - x) / b));
  if (op == "_npi_gamma") return 1 - std::exp(-x / b) * (1 + x / b);  // of shape 2
  if (op.find("uniform") != std::string::npos) return std::clamp((x - a) / (b - a), 0.0, 1.0);
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

// The mean of kDraws numbers deviates from p by more than 0.0155 in one of 10^8 tests: 6.2 standard
// deviations of sqrt(p (1 - p) / kDraws) <= 0.0025.
TEST(NumpyRandomTest, BernoulliHasItsProbability) {
  const RandomCase kBernoulli[] = {
      {"prob", "_npi_bernoulli", {{"prob", "0.25"}, {"logit", "None"}, {"is_logit", "False"}}},
      {"logit", "_npi_bernoulli", {{"prob", "None"}, {"logit", "-1.0986"}, {"is_logit", "True"}}},
      {"probs",
       "_npi_bernoulli",
       {{"prob", "None"}, {"logit", "None"}, {"is_logit", "False"}},
       {0.25, 0.25}},
      {"logits",
       "_npi_bernoulli",
       {{"prob", "None"}, {"logit", "None"}, {"is_logit", "True"}},
       {-1.0986f, -1.0986f}},
  };
  for (const RandomCase& test : kBernoulli) {
    SCOPED_TRACE(test.name);
    double sum = 0;
    for (const float value : Draw(test)) {
      ASSERT_TRUE(value == 0 || value == 1) << value;
      sum += value;
    }
    EXPECT_NEAR(sum / (2 * kDraws), 0.25, 0.0155);
  }
}

// The gradient of a drawn number by its parameter follows from the number.
TEST(NumpyRandomTest, ParametersHaveGradients) {
  const struct {
    const char* op;
    AttrMap attrs;
    double (*gradient)(double drawn, double value);
  } kCases[] = {
      {"_npi_exponential", {{"scale", "None"}}, [](double x, double scale) { return x / scale; }},
      {"_npi_rayleigh", {{"scale", "None"}}, [](double x, double scale) { return x / scale; }},
      {"_npi_weibull", {}, [](double x, double a) { return -x * std::log(x) / a; }},
      {"_npi_pareto", {}, [](double x, double a) { return -(x + 1) * std::log1p(x) / a; }},
      {"_npi_gumbel",
       {{"loc", "-1"}, {"scale", "None"}},
       [](double x, double scale) { return (x + 1) / scale; }},
      {"_npi_logistic", {{"loc", "None"}, {"scale", "2"}}, [](double, double) { return 1.0; }},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.op);
    const std::vector<float> values = {1.5, 2, 4};
    BindOptions options;
    options.args["a"] = *NDArray::FromVector(Shape({3}), values);
    options.grads["a"] = *NDArray::Zeros(Shape({3}));
    OpArgs args{.inputs = {Symbol::Variable("a")}, .attrs = test.attrs};
    const Symbol symbol = *Symbol::Create(test.op, args);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::Bind(symbol, std::move(options)));
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, executor->outputs());
    COOPER_ASSERT_OK(executor->Backward({*NDArray::FromVector<float>(Shape({3}), {1, 1, 1})}));
    const std::vector<float> drawn = *outputs[0].ToVector<float>();
    const std::vector<float> got = *executor->grad("a").ToVector<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = test.gradient(drawn[i], values[i]);
      EXPECT_NEAR(got[i], expected, 1e-4 * (1 + std::abs(expected)));
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
