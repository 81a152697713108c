// Tests the numbers that operators draw: moments, frequencies, and independence of the number of
// threads.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/executor.h"
#include "executor/run/invoke.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/each_cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::Lt;

constexpr int64_t kDraws = 100'000;

Symbol Op(const char* op, const OpArgs& args) {
  auto symbol = Symbol::Create(op, args);
  EXPECT_TRUE(symbol.ok()) << symbol.status();
  return *symbol;
}

std::unique_ptr<Executor> Bind(const Symbol& symbol, const BindOptions& options = {}) {
  auto executor = Executor::SimpleBind(symbol, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

std::vector<double> Output(Executor& executor) {
  COOPER_EXPECT_OK(executor.Forward(/*is_train=*/false));
  return *(*(*executor.outputs())[0].AsType(DType::kFloat64)).ToVector<double>();
}

std::vector<double> Drawn(const char* op, AttrMap attrs) {
  attrs.emplace("shape", std::to_string(kDraws));
  attrs.emplace("dtype", "float64");
  return Output(*Bind(Op(op, {.attrs = attrs})));
}

struct Moments {
  const char* op;
  AttrMap attrs;
  double mean;
  double variance;
};

// Checks mean and variance within five standard deviations for this number of draws.
void ExpectMoments(const std::vector<double>& x, double mean, double variance) {
  const double n = static_cast<double>(x.size());
  double sum = 0, squares = 0, fourth = 0;
  for (double v : x) sum += v;
  for (double v : x) squares += (v - sum / n) * (v - sum / n);
  for (double v : x) fourth += std::pow(v - sum / n, 4);
  EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n, variance, 5 * std::sqrt((fourth / n - variance * variance) / n));
}

TEST(DrawTest, MeansAndVariances) {
  const Moments cases[] = {
      {"_random_uniform", {{"low", "-2"}, {"high", "3"}}, 0.5, 25.0 / 12},
      {"_random_normal", {{"loc", "1"}, {"scale", "2"}}, 1, 4},
      {"_random_gamma", {{"alpha", "0.5"}, {"beta", "3"}}, 1.5, 4.5},
      {"_random_gamma", {{"alpha", "1"}, {"beta", "1"}}, 1, 1},
      {"_random_gamma", {{"alpha", "7"}, {"beta", "0.5"}}, 3.5, 1.75},
      {"_random_exponential", {{"lam", "0.25"}}, 4, 16},
      {"_random_poisson", {{"lam", "0"}}, 0, 0},
      {"_random_poisson", {{"lam", "3.5"}}, 3.5, 3.5},
      {"_random_poisson", {{"lam", "10"}}, 10, 10},
      {"_random_poisson", {{"lam", "1e6"}}, 1e6, 1e6},
      {"_random_negative_binomial", {{"k", "3"}, {"p", "0.4"}}, 4.5, 11.25},
      {"_random_negative_binomial", {{"k", "3"}}, 0, 0},
      {"_random_generalized_negative_binomial", {{"mu", "2"}, {"alpha", "0.5"}}, 2, 4},
      {"_random_generalized_negative_binomial", {{"mu", "2"}, {"alpha", "0"}}, 2, 2},
  };
  for (const Moments& test : cases) {
    SCOPED_TRACE(test.op + testing::PrintToString(test.attrs));
    ExpectMoments(Drawn(test.op, test.attrs), test.mean, test.variance);
  }
}

// Compares frequencies of n, for means below and above 10, where the method changes.
TEST(DrawTest, PoissonsFrequencies) {
  for (const double lam : {0.3, 9.9, 10.0, 35.0}) {
    std::map<double, int> counts;
    for (double n : Drawn("_random_poisson", {{"lam", std::to_string(lam)}})) ++counts[n];
    for (int n = 0; n < 100; ++n) {
      const double expected = kDraws * std::exp(n * std::log(lam) - lam - std::lgamma(n + 1.0));
      if (expected < 20) continue;
      EXPECT_NEAR(counts[n], expected, 5 * std::sqrt(expected)) << n << " of mean " << lam;
    }
  }
}

// Compares the share of numbers below some values with the distribution function.
TEST(DrawTest, SharesBelowValues) {
  const auto share = [](const std::vector<double>& x, double end) {
    double count = 0;
    for (double v : x) count += v < end ? 1 : 0;
    return count / kDraws;
  };
  const double tolerance = 5 * std::sqrt(0.25 / kDraws);
  const std::vector<double> normal = Drawn("_random_normal", {});
  const std::vector<double> gamma = Drawn("_random_gamma", {{"alpha", "2"}});
  for (const double x : {-2.0, -0.7, 0.0, 0.4, 1.9}) {
    EXPECT_NEAR(share(normal, x), std::erfc(-x / std::sqrt(2.0)) / 2, tolerance) << x;
  }
  for (const double x : {0.2, 1.0, 2.5, 5.0}) {
    EXPECT_NEAR(share(gamma, x), 1 - (1 + x) * std::exp(-x), tolerance) << x;
  }
}

TEST(DrawTest, Integers) {
  std::map<double, int> counts;
  const std::string shape = std::to_string(kDraws);
  const AttrMap attrs = {{"low", "-3"}, {"high", "4"}, {"shape", shape}};
  for (double x : Output(*Bind(Op("_random_randint", {.attrs = attrs})))) ++counts[x];
  ASSERT_EQ(counts.size(), 7);
  for (const auto& [value, count] : counts) {
    EXPECT_THAT(value, testing::AllOf(Ge(-3), Lt(4)));
    EXPECT_NEAR(count, kDraws / 7.0, 5 * std::sqrt(kDraws / 7.0));
  }
  const auto all = Output(*Bind(Op("_random_randint", {.attrs = {{"low", "-9223372036854775808"},
                                                                 {"high", "9223372036854775807"},
                                                                 {"dtype", "int64"},
                                                                 {"shape", shape}}})));
  const double range = 0x1p64;
  ExpectMoments(all, 0, range / 12 * range);
}

TEST(DrawTest, ADistributionForEachElement) {
  const Symbol mu = Symbol::Variable("mu"), sigma = Symbol::Variable("sigma");
  const auto executor =
      Bind(Op("_sample_normal", {.inputs = {mu, sigma}, .attrs = {{"shape", "100000"}}}),
           {.shapes = {{"mu", {2}}}, .grad_req = WriteReq::kNull});
  COOPER_ASSERT_OK(executor->arg("mu").CopyFrom(*NDArray::FromVector<float>({2}, {-5, 3})));
  COOPER_ASSERT_OK(executor->arg("sigma").CopyFrom(*NDArray::FromVector<float>({2}, {0.5, 2})));
  const std::vector<double> x = Output(*executor);
  ASSERT_EQ(x.size(), 2 * kDraws);
  ExpectMoments({x.begin(), x.begin() + kDraws}, -5, 0.25);
  ExpectMoments({x.begin() + kDraws, x.end()}, 3, 4);
}

// Each element has parameters of its own. Invalid ones do not disturb other elements.
TEST(DrawTest, ElementsOfTheirOwnDistributionsAreTheSameHoweverManyAreDrawn) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double alphas[] = {0.3, 1, 7, 0, 30, kInfinity, 2.5};
  const auto drawn = [&](int64_t n) {
    std::vector<double> alpha(n), beta(n);
    for (int64_t i = 0; i < n; ++i) {
      alpha[i] = alphas[i % std::size(alphas)];
      beta[i] = 1 + static_cast<double>(i) / 10;
    }
    const auto executor =
        Bind(Op("_sample_gamma", {.inputs = {Symbol::Variable("alpha"), Symbol::Variable("beta")},
                                  .attrs = {{"dtype", "float64"}}}),
             {.shapes = {{"alpha", {n}}, {"beta", {n}}},
              .types = {{"alpha", DType::kFloat64}, {"beta", DType::kFloat64}},
              .grad_req = WriteReq::kNull});
    EXPECT_EQ(executor->arg("alpha").CopyFrom(*NDArray::FromVector<double>({n}, alpha)),
              absl::OkStatus());
    EXPECT_EQ(executor->arg("beta").CopyFrom(*NDArray::FromVector<double>({n}, beta)),
              absl::OkStatus());
    std::vector<double> x = Output(*executor);
    for (int64_t i = 0; i < n; ++i) {
      if (alpha[i] > 0) continue;
      EXPECT_TRUE(std::isnan(x[i])) << i;
      x[i] = -1;  // equal to itself, for comparisons
    }
    return x;
  };
  ForEachCpuLevel([&] {
    const std::vector<double> one_by_one = drawn(60), in_vectors = drawn(200);
    EXPECT_TRUE(std::equal(one_by_one.begin(), one_by_one.end(), in_vectors.begin()));
    EXPECT_EQ(in_vectors[5], kInfinity);
  });
}

// Parameters in an array are unknown when a graph is bound, so binding cannot reject them.
TEST(DrawTest, ParametersOfNoDistributionGiveNoNumber) {
  const std::map<std::string, std::vector<float>> cases = {
      {"_sample_gamma", {0, 1}}, {"_sample_poisson", {-1}}, {"_sample_negative_binomial", {1, 2}}};
  for (const auto& [op, values] : cases) {
    OpArgs args;
    BindOptions options{.grad_req = WriteReq::kNull};
    for (size_t i = 0; i < values.size(); ++i) {
      args.inputs.push_back(Symbol::Variable("x" + std::to_string(i)));
      options.shapes["x" + std::to_string(i)] = {1};
    }
    const auto executor = Bind(Op(op.c_str(), args), options);
    for (size_t i = 0; i < values.size(); ++i) {
      COOPER_ASSERT_OK(executor->arg("x" + std::to_string(i)).Fill(values[i]));
    }
    EXPECT_TRUE(std::isnan(Output(*executor)[0])) << op;
  }
}

TEST(DrawTest, NumbersBelowOneAreBelowOneInEachDType) {
  for (const char* dtype : {"float16", "float32", "float64"}) {
    const auto x = Drawn("_random_uniform", {{"dtype", dtype}});
    EXPECT_THAT(x, Each(testing::AllOf(Ge(0), Lt(1)))) << dtype;
    ExpectMoments(x, 0.5, 1.0 / 12);
    const auto above = Drawn("_random_uniform", {{"low", "1"}, {"high", "2"}, {"dtype", dtype}});
    EXPECT_THAT(above, Each(testing::AllOf(Ge(1), Lt(2)))) << dtype;
    EXPECT_THAT(Drawn("_random_uniform", {{"low", "3"}, {"high", "3"}, {"dtype", dtype}}), Each(3));
    // The dtype may have few numbers in this range, which ends at 0.
    EXPECT_THAT(Drawn("_random_uniform", {{"low", "-6e-6"}, {"high", "0"}, {"dtype", dtype}}),
                Each(Lt(0)));
  }
}

TEST(DrawTest, WideRanges) {
  const auto x = Drawn("_random_uniform", {{"low", "-1e308"}, {"high", "1e308"}});
  EXPECT_THAT(x, Each(testing::AllOf(Ge(-1e308), Lt(1e308))));
  EXPECT_NE(x[0], x[1]);
}

// As in MXNet, the array that is passed determines the dtype, and parameters may be integers.
TEST(DrawTest, DTypesOfOthers) {
  const NDArray doubles = *NDArray::Zeros({3}, DType::kFloat64);
  COOPER_EXPECT_OK(Invoke("normal", {{"shape", "3"}}, {}, {&doubles}));
  EXPECT_NE((*doubles.ToVector<double>())[0], 0);
  const NDArray means = *NDArray::FromVector<int32_t>({2}, {0, 1000});
  const NDArray counts = *NDArray::Zeros({2});
  COOPER_EXPECT_OK(Invoke("sample_poisson", {}, {&means}, {&counts}));
  EXPECT_THAT(*counts.ToVector<float>(), testing::ElementsAre(0, testing::Gt(500)));
}

TEST(DrawTest, TheSameOfEachSeedWhateverTheThreads) {
  const Symbol symbol = *Symbol::Group({Op("_random_gamma", {.attrs = {{"shape", "(7, 1001)"}}}),
                                        Op("_random_gamma", {.attrs = {{"shape", "(7, 1001)"}}})});
  std::vector<std::vector<double>> first;
  const int before = NumThreads();
  for (const int threads : {1, 2, 5}) {
    SetNumThreads(threads);
    const auto executor = Bind(symbol);
    first.push_back(Output(*executor));
    EXPECT_NE(Output(*executor), first.back()) << "the next run";
    EXPECT_NE(*(*executor->outputs())[1].ToVector<float>(),
              *(*executor->outputs())[0].ToVector<float>())
        << "another node";
  }
  SetNumThreads(before);
  EXPECT_EQ(first[0], first[1]);
  EXPECT_EQ(first[0], first[2]);
}

// Long arrays are drawn in vectors, and the remainder one by one.
TEST(DrawTest, ElementsAreTheSameWhateverIsDrawnWithThemOrHow) {
  const std::pair<const char*, AttrMap> cases[] = {
      {"_random_uniform", {{"low", "-2"}, {"high", "3"}}},
      {"_random_normal", {{"loc", "1"}, {"scale", "3"}}},
      {"_random_exponential", {{"lam", "2"}}},
      {"_random_gamma", {{"alpha", "0.5"}}},
      {"_random_gamma", {{"alpha", "1"}, {"beta", "3"}}},
      {"_random_gamma", {{"alpha", "30"}}},
      {"_random_poisson", {{"lam", "0"}}},
      {"_random_poisson", {{"lam", "0.1"}}},
      {"_random_poisson", {{"lam", "9.9"}}},
      {"_random_poisson", {{"lam", "20"}}},
  };
  for (const auto& test : cases) {
    const char* const op = test.first;
    AttrMap attrs = test.second;
    SCOPED_TRACE(op);
    for (const char* dtype : {"float32", "float64"}) {
      attrs["dtype"] = dtype;
      attrs["shape"] = "1001";
      std::vector<double> all;
      ForEachCpuLevel([&] {
        const std::vector<double> drawn = Output(*Bind(Op(op, {.attrs = attrs})));
        if (all.empty()) all = drawn;
        EXPECT_EQ(drawn, all);
      });
      attrs["shape"] = "11";
      const std::vector<double> few = Output(*Bind(Op(op, {.attrs = attrs})));
      EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
    }
  }
}

// Adds noise of data's shape to data; the noise has no gradient.
TEST(DrawTest, NoiseHasNoGradient) {
  const Symbol data = Symbol::Variable("data");
  const Symbol noise = Op("_random_normal_like", {.inputs = {data}});
  const auto executor =
      Bind(Op("elemwise_mul", {.inputs = {data, noise}}), {.shapes = {{"data", {3, 4}}}});
  COOPER_ASSERT_OK(executor->arg("data").Fill(2));
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
  const std::vector<float> product = *(*executor->outputs())[0].ToVector<float>();
  const NDArray head = *NDArray::Empty({3, 4});
  COOPER_ASSERT_OK(head.Fill(2));
  COOPER_ASSERT_OK(executor->Backward({head}));
  EXPECT_EQ(*executor->grad("data").ToVector<float>(), product);
}

}  // namespace
}  // namespace cooper
