#include "module/optimizer/optimizer.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/lr_scheduler/create_lr_scheduler.h"
#include "module/optimizer/create_optimizer.h"
#include "module/optimizer/optimizer_registry.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Optimizer> Make(absl::string_view name, const Kwargs& kwargs = {},
                                std::shared_ptr<LRScheduler> scheduler = nullptr) {
  auto optimizer = CreateOptimizer(name, kwargs, std::move(scheduler));
  EXPECT_TRUE(optimizer.ok()) << optimizer.status();
  return *std::move(optimizer);
}

NDArray Vector(const std::vector<float>& values) {
  return *NDArray::FromVector<float>({static_cast<int64_t>(values.size())}, values);
}

// Returns the weight after one update of plain SGD from 1 with gradient 1: 1 - lr * (1 + wd).
double OneStep(Optimizer& optimizer, const std::string& name) {
  const NDArray weight = Vector({1});
  ParameterState state = *optimizer.CreateState(weight);
  EXPECT_THAT(optimizer.Update(name, weight, Vector({1}), &state), IsOk());
  return weight.ToVector<double>()->at(0);
}

// Returns random values, more than one thread's share of a loop.
NDArray RandomValues(uint64_t seed) {
  const Philox philox(seed);
  std::vector<float> values(50'003);
  for (size_t i = 0; i < values.size(); ++i) values[i] = philox.UniformAt(i) - 0.5f;
  return Vector(values);
}

TEST(OptimizerTest, TheTargetOfEachIsKnown) {
  std::vector<std::string> names;
  for (const auto& [name, target] : Optimizers().targets()) names.push_back(name);
  EXPECT_EQ(names, OptimizerNames());
}

TEST(OptimizerTest, TheNumberOfThreadsChangesNoBit) {
  const int threads = NumThreads();
  const NDArray initial = RandomValues(1);
  const NDArray grads[] = {RandomValues(2), RandomValues(3)};
  for (const std::string& name : OptimizerNames()) {
    std::vector<std::vector<float>> results;
    for (int n : {1, 3}) {
      SetNumThreads(n);
      const auto optimizer = Make(name, {{"wd", "0.1"}});
      const NDArray weight = *initial.Copy();
      ParameterState state = *optimizer->CreateState(weight);
      for (const NDArray& grad : grads) {
        COOPER_ASSERT_OK(optimizer->Update("fc_weight", weight, grad, &state));
      }
      results.push_back(*weight.ToVector<float>());
    }
    EXPECT_EQ(results[0], results[1]) << name;
  }
  SetNumThreads(threads);
}

// For every kind of optimizer, one loop over all parameters equals an update of each.
TEST(OptimizerTest, UpdateAllIsUpdateOfEach) {
  const int threads = NumThreads();
  SetNumThreads(3);
  const std::string names[] = {"big_weight", "bias", "small_weight"};
  const NDArray big = RandomValues(1), big_grad = RandomValues(2);
  const NDArray initial[] = {big, Vector({1, -2, 3}), Vector({0.5f})};
  const NDArray grads[] = {big_grad, Vector({0.1f, 0.2f, -0.3f}), Vector({1})};
  for (const std::string& kind : OptimizerNames()) {
    std::vector<std::vector<float>> results[2];
    for (const bool together : {false, true}) {
      const auto optimizer = Make(kind, {{"wd", "0.1"}, {"clip_gradient", "0.4"}});
      std::vector<NDArray> weights;
      std::vector<ParameterState> states;
      for (const NDArray& weight : initial) {
        weights.push_back(*weight.Copy());
        states.push_back(*optimizer->CreateState(weight));
      }
      for (int step = 0; step < 2; ++step) {
        std::vector<Optimizer::Parameter> parameters;
        for (size_t i = 0; i < weights.size(); ++i) {
          parameters.push_back({names[i], weights[i], grads[i], &states[i]});
          if (together) continue;
          COOPER_ASSERT_OK(optimizer->Update(names[i], weights[i], grads[i], &states[i]));
        }
        if (!together) continue;
        COOPER_ASSERT_OK(optimizer->UpdateAll(parameters));
      }
      for (const NDArray& weight : weights) {
        results[together].push_back(*weight.ToVector<float>());
      }
      EXPECT_EQ(optimizer->num_update(), 2) << kind;
    }
    EXPECT_EQ(results[0], results[1]) << kind;
  }
  SetNumThreads(threads);
}

// A recorded update is replayed under its number: no other optimizer may return the same number,
// even with the same arrays.
TEST(OptimizerTest, PreparedUpdatesHaveOneNameOnlyIfTheyAreAlike) {
  const std::string name = "fc_weight";
  const NDArray weight = Vector({1, 2}), grad = Vector({3, 4}), other_grad = Vector({3, 4});
  const auto prepare = [&](Optimizer& optimizer, const NDArray& of, ParameterState* state) {
    const Optimizer::Parameter parameter{name, weight, of, state};
    const absl::StatusOr<int64_t> number = optimizer.PrepareAll({&parameter, 1});
    EXPECT_TRUE(number.ok()) << number.status();
    return number.value_or(-1);
  };
  const auto sgd = [](const char* momentum) { return Make("sgd", {{"momentum", momentum}}); };
  const auto first = sgd("0.9"), second = sgd("0.5");
  ParameterState state = *first->CreateState(weight);
  const int64_t number = prepare(*first, grad, &state);
  EXPECT_EQ(prepare(*first, grad, &state), number);
  EXPECT_NE(prepare(*first, other_grad, &state), number);
  EXPECT_NE(prepare(*second, grad, &state), number) << "another momentum";
  for (const std::string& kind : OptimizerNames()) {
    const auto one = Make(kind), another = Make(kind);
    ParameterState its = *one->CreateState(weight);
    EXPECT_NE(prepare(*one, grad, &its), prepare(*another, grad, &its)) << kind;
  }
}

// A gradient may be zero from the first update on, as for a word that no batch has had yet.
TEST(OptimizerTest, GradientsThatAreZeroMakeNoNaN) {
  for (const std::string& kind : OptimizerNames()) {
    const auto optimizer = Make(kind, {{"wd", "0"}});
    const NDArray weight = *NDArray::Full({4}, 2), grad = *NDArray::Zeros({4});
    ParameterState state = *optimizer->CreateState(weight);
    for (int step = 0; step < 3; ++step) {
      COOPER_ASSERT_OK(optimizer->Update("weight", weight, grad, &state));
    }
    const std::vector<float> values = *weight.ToVector<float>();
    for (const float value : values) {
      EXPECT_TRUE(std::isfinite(value)) << kind;
      if (kind == "adamax") {
        EXPECT_EQ(value, 2);
      }
    }
  }
}

TEST(OptimizerTest, UpdateAllChangesNothingIfOneIsWrong) {
  const auto optimizer = Make("adam");
  const std::string names[] = {"good", "bad"};
  const NDArray good = Vector({1, 2}), bad = Vector({1, 2}), short_grad = Vector({1});
  ParameterState states[] = {*optimizer->CreateState(good), *optimizer->CreateState(bad)};
  const std::vector<Optimizer::Parameter> parameters = {{names[0], good, good, &states[0]},
                                                        {names[1], bad, short_grad, &states[1]}};
  const absl::Status status = optimizer->UpdateAll(parameters);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("parameter 'bad'"));
  EXPECT_EQ(*good.ToVector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(states[0].num_updates, 0);
  EXPECT_EQ(optimizer->num_update(), 0);
}

TEST(OptimizerTest, HalfWeightsFollowTheirFloatCopy) {
  for (const std::string& name : OptimizerNames()) {
    if (name == "sgld") continue;  // each of the two runs has noise of its own
    const auto half = Make(name, {{"multi_precision", "True"}});
    const auto single = Make(name);
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray half_weight,
                                Vector({0.1f, -0.7f, 2}).AsType(DType::kFloat16));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray weight, half_weight.AsType(DType::kFloat32));
    ParameterState half_state = *half->CreateState(half_weight);
    ParameterState state = *single->CreateState(weight);
    for (int step = 0; step < 3; ++step) {
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray half_grad,
                                  Vector({0.5f, -0.25f, 1}).AsType(DType::kFloat16));
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray grad, half_grad.AsType(DType::kFloat32));
      COOPER_ASSERT_OK(half->Update("fc_weight", half_weight, half_grad, &half_state));
      COOPER_ASSERT_OK(single->Update("fc_weight", weight, grad, &state));
    }
    EXPECT_EQ(*half_state.master.ToVector<float>(), *weight.ToVector<float>()) << name;
    EXPECT_EQ(*half_weight.ToVector<float>(), *weight.AsType(DType::kFloat16)->ToVector<float>())
        << name;
  }
}

TEST(OptimizerTest, SgldAddsNoiseOfTheRatesVariance) {
  const auto optimizer = Make("sgld", {{"learning_rate", "0.04"}, {"seed", "3"}});
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray weight, NDArray::Zeros({100'000}));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray grad, NDArray::Full({100'000}, 5));
  ParameterState state = *optimizer->CreateState(weight);
  COOPER_ASSERT_OK(optimizer->Update("w", weight, grad, &state));
  double sum = 0, squares = 0;
  const std::vector<double> values = *weight.ToVector<double>();
  for (double w : values) {
    sum += w;
    squares += (w + 0.1) * (w + 0.1);  // -lr / 2 * grad
  }
  EXPECT_NEAR(sum / 100'000, -0.1, 0.003);  // five standard errors
  EXPECT_NEAR(std::sqrt(squares / 100'000), 0.2, 0.003);
}

TEST(OptimizerTest, DecaysWeightsAndGammasOnly) {
  const auto optimizer = Make("sgd", {{"learning_rate", "0.1"}, {"wd", "1"}});
  const std::pair<const char*, double> cases[] = {
      {"fc_weight", 0.8}, {"bn_gamma", 0.8}, {"fc_bias", 0.9}, {"bn_beta", 0.9},
      {"embed", 0.9},     {"weight", 0.9},   {"7", 0.8},
  };
  for (const auto& [name, weight] : cases) {
    EXPECT_NEAR(OneStep(*optimizer, name), weight, 1e-6) << name;
  }
  const auto lars = Make("lars", {{"learning_rate", "0.1"}, {"wd", "1"}});
  EXPECT_NEAR(OneStep(*lars, "bn_gamma"), 0.9, 1e-6);
}

TEST(OptimizerTest, MultipliersComeFromCallsThenAttributesThenNames) {
  const auto optimizer = Make("sgd", {{"learning_rate", "0.1"}, {"wd", "1"}});
  COOPER_ASSERT_OK(
      optimizer->AddSymbolAttributes({{"a_weight", {{"__lr_mult__", "2"}, {"__wd_mult__", "0"}}},
                                      {"a_bias", {{"__wd_mult__", "3"}}}}));
  EXPECT_NEAR(OneStep(*optimizer, "a_weight"), 1 - 0.2, 1e-6);
  EXPECT_NEAR(OneStep(*optimizer, "a_bias"), 1 - 0.1 * (1 + 3), 1e-6);
  optimizer->SetLrMult({{"a_weight", 0.5}});
  optimizer->SetWdMult({{"a_weight", 4}});
  EXPECT_NEAR(OneStep(*optimizer, "a_weight"), 1 - 0.05 * (1 + 4), 1e-6);
  EXPECT_NEAR(OneStep(*optimizer, "a_bias"), 1 - 0.1 * (1 + 3), 1e-6);
  EXPECT_THAT(optimizer->AddSymbolAttributes({{"x", {{"__lr_mult__", "big"}}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'x' is 'big'")));
}

TEST(OptimizerTest, AsksTheScheduleForTheLargestCount) {
  std::shared_ptr<LRScheduler> scheduler =
      *CreateLRScheduler("factor", {{"step", "1"}, {"factor", "0.5"}, {"base_lr", "1"}});
  const auto optimizer = Make("sgd", {}, scheduler);
  EXPECT_EQ(optimizer->learning_rate(), 1);
  const NDArray a = Vector({0});
  const NDArray b = Vector({0});
  ParameterState state_a = *optimizer->CreateState(a);
  ParameterState state_b = *optimizer->CreateState(b);
  COOPER_ASSERT_OK(optimizer->Update("a", a, Vector({1}), &state_a));
  COOPER_ASSERT_OK(optimizer->Update("a", a, Vector({1}), &state_a));
  COOPER_ASSERT_OK(optimizer->Update("b", b, Vector({1}), &state_b));
  EXPECT_EQ(optimizer->num_update(), 2);
  EXPECT_THAT(*a.ToVector<float>(), ElementsAre(-1.5));
  EXPECT_THAT(*b.ToVector<float>(), ElementsAre(-0.5));
  EXPECT_THAT(optimizer->set_learning_rate(1),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("lr_scheduler")));
}

// MXNet's decays and warm-ups continue from the scheduler's own rate.
TEST(OptimizerTest, ARateGivenBesideAScheduleIsItsBaseRate) {
  const std::pair<const char*, Kwargs> kSchedules[] = {
      {"factor", {{"step", "3"}, {"factor", "0.5"}}},
      {"multifactor", {{"step", "(3, 5)"}, {"factor", "0.5"}}},
      {"poly", {{"max_update", "20"}, {"final_lr", "0.001"}}},
      {"cosine", {{"max_update", "20"}, {"final_lr", "0.001"}}}};
  for (const auto& [kind, kwargs] : kSchedules) {
    for (const char* warmup : {"", "linear", "constant"}) {
      SCOPED_TRACE(absl::StrCat(kind, " ", warmup));
      const auto schedule = [&kind = kind, &kwargs = kwargs, warmup](const char* base_lr) {
        Kwargs all = kwargs;
        all["base_lr"] = base_lr;
        if (warmup[0] != '\0') {
          all["warmup_mode"] = warmup;
          all["warmup_steps"] = "2";
          all["warmup_begin_lr"] = "0.1";
        }
        return std::shared_ptr<LRScheduler>(*CreateLRScheduler(kind, all));
      };
      for (const char* optimizer : {"sgd", "adam", "ftrl"}) {
        const auto given = schedule("1"), made = schedule("0.5");
        const auto with_rate = Make(optimizer, {{"learning_rate", "0.5"}}, given);
        EXPECT_EQ(with_rate->learning_rate(), made->LearningRate(0));
        for (const int64_t update : {1, 2, 4, 7, 12, 20}) {
          EXPECT_EQ(given->LearningRate(update), made->LearningRate(update)) << update;
        }
        EXPECT_EQ(Make(optimizer, {}, schedule("1"))->lr_scheduler()->base_lr(), 1);
      }
      if (warmup[0] == '\0') continue;
      EXPECT_THAT(CreateOptimizer("sgd", {{"learning_rate", "0.05"}}, schedule("1")),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr("warmup_begin_lr is 0.1, above base_lr, 0.05")));
    }
  }
}

TEST(OptimizerTest, CountsFromBeginNumUpdate) {
  const auto optimizer = Make("sgd", {{"begin_num_update", "5"}});
  OneStep(*optimizer, "a");
  EXPECT_EQ(optimizer->num_update(), 6);
}

// No kind accepts a rate that is negative or not finite.
TEST(OptimizerTest, RefusesRatesThatAreNone) {
  for (const char* rate : {"nan", "inf", "-0.1"}) {
    SCOPED_TRACE(rate);
    const auto refused =
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr(std::string("optimizer sgd: the learning rate is ") + rate));
    EXPECT_THAT(CreateOptimizer("sgd", {{"learning_rate", rate}}), refused);
    // The schedule itself refuses the last of these rates.
    auto schedule = CreateLRScheduler("factor", {{"step", "10"}, {"base_lr", rate}});
    if (schedule.ok()) {
      EXPECT_THAT(CreateOptimizer("sgd", {}, *std::move(schedule)), refused);
    }
    const auto optimizer = Make("sgd");
    EXPECT_THAT(optimizer->set_learning_rate(std::stod(rate)), refused);
    EXPECT_EQ(optimizer->learning_rate(), 0.01);
  }
  COOPER_EXPECT_OK(CreateOptimizer("sgd", {{"learning_rate", "0"}}));
}

// A schedule that computes NaN from valid options.
class BrokenScheduler : public LRScheduler {
 public:
  BrokenScheduler() : LRScheduler({.base_lr = 1}) {}

 protected:
  double AfterWarmup(int64_t num_update) override { return std::sqrt(2.5 - num_update); }
  absl::string_view kind() const override { return "broken"; }
};

TEST(OptimizerTest, ARateThatBecomesNoneIsTold) {
  for (const char* kind : {"sgd", "adam", "adagrad"}) {
    SCOPED_TRACE(kind);
    const auto optimizer = Make(kind, {}, std::make_shared<BrokenScheduler>());
    const NDArray a = Vector({0}), b = Vector({0}), grad = Vector({1});
    ParameterState state_a = *optimizer->CreateState(a), state_b = *optimizer->CreateState(b);
    const std::string name_a = "a", name_b = "b";
    const auto update = [&] {
      return optimizer->UpdateAll({{{name_a, a, grad, &state_a}, {name_b, b, grad, &state_b}}});
    };
    COOPER_ASSERT_OK(update());
    COOPER_ASSERT_OK(update());
    const std::vector<float> before = *a.ToVector<float>();
    EXPECT_THAT(update(), StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("learning rate is nan in the update of 'a'")));
    EXPECT_EQ(*a.ToVector<float>(), before);
    EXPECT_EQ(state_a.num_updates, 2);
    EXPECT_EQ(state_b.num_updates, 2);
    EXPECT_EQ(optimizer->num_update(), 2);
  }
}

// State shared between parameters covers only completed steps: Nadam's product, the position in
// SGLD's noise, the rate by which LARS corrects.
TEST(OptimizerTest, AStepThatIsNotMadeIsAsIfItHadNotBeenAskedFor) {
  for (const char* kind : {"nadam", "sgld", "lars", "sgd"}) {
    SCOPED_TRACE(kind);
    const auto optimizer = Make(kind, {}, std::make_shared<BrokenScheduler>());
    const NDArray a = Vector({1}), b = Vector({1}), grad = Vector({1});
    ParameterState state_a = *optimizer->CreateState(a), state_b = *optimizer->CreateState(b);
    const std::string name_a = "a", name_b = "b";
    const std::vector<Optimizer::Parameter> first = {{name_a, a, grad, &state_a}};
    const std::vector<Optimizer::Parameter> both = {{name_b, b, grad, &state_b}, first[0]};
    COOPER_ASSERT_OK(optimizer->UpdateAll(first));
    const std::string after_one = optimizer->SaveState();
    COOPER_ASSERT_OK(optimizer->PrepareAll(first).status());
    EXPECT_NE(optimizer->SaveState(), after_one);
    optimizer->ReleasePrepared(first);
    EXPECT_EQ(optimizer->SaveState(), after_one);
    COOPER_ASSERT_OK(optimizer->UpdateAll(first));
    const std::string after_two = optimizer->SaveState();
    EXPECT_THAT(optimizer->UpdateAll(both),  // only b's first update has a valid rate
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in the update of 'a'")));
    EXPECT_EQ(optimizer->SaveState(), after_two);
  }
}

// The rate is the variance of the noise. MXNet fails at the square root.
TEST(OptimizerTest, SgldRefusesRatesThatAMultiplierMakesNegative) {
  for (const char* kind : {"sgld", "sgd"}) {
    SCOPED_TRACE(kind);
    const auto optimizer = Make(kind, {{"learning_rate", "0.5"}});
    optimizer->SetLrMult({{"w", -1}});
    const NDArray weight = Vector({1, 2});
    ParameterState state = *optimizer->CreateState(weight);
    const std::string before = optimizer->SaveState();
    const absl::Status status = optimizer->Update("w", weight, Vector({1, 1}), &state);
    if (kind == std::string("sgd")) {
      COOPER_EXPECT_OK(status);
      EXPECT_THAT(*weight.ToVector<float>(), ElementsAre(1.5, 2.5));
      continue;
    }
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("learning rate is -0.5 in the update of 'w'")));
    EXPECT_THAT(*weight.ToVector<float>(), ElementsAre(1, 2));
    EXPECT_EQ(optimizer->SaveState(), before);
  }
}

TEST(OptimizerTest, NamesWhatDoesNotFit) {
  const auto optimizer = Make("adam");
  const NDArray weight = Vector({1, 2});
  ParameterState state = *optimizer->CreateState(weight);
  EXPECT_THAT(optimizer->Update("fc_weight", weight, Vector({1}), &state),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'fc_weight' is (2,) float32 cpu(0), its gradient (1,)")));
  EXPECT_THAT(optimizer->Update("fc_weight", weight, *weight.AsType(DType::kFloat64), &state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("its gradient float64")));
  EXPECT_THAT(optimizer->Update("fc_weight", Vector({1}), Vector({1}), &state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("its optimizer state (2,)")));
  EXPECT_THAT(optimizer->Update("fc_weight", NDArray(), NDArray(), &state),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("'fc_weight'")));
}

TEST(CreateOptimizerTest, NamesWhatIsWrong) {
  EXPECT_THAT(CreateOptimizer("sdg"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'sdg', expected one of adadelta")));
  EXPECT_THAT(
      CreateOptimizer("SGD", {{"momentun", "0.9"}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'momentun', expected one of")));
  EXPECT_THAT(CreateOptimizer("sgd", {{"learning_rate", "fast"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("optimizer sgd: learning_rate is 'fast'")));
  for (const char* text : {"-1", "9223372036854775807"}) {
    EXPECT_THAT(CreateOptimizer("sgd", {{"begin_num_update", text}}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("begin_num_update is '", text, "'"))));
  }
  for (const auto& [name, text] : {std::pair("beta1", "1.5"), std::pair("schedule_decay", "-1")}) {
    EXPECT_THAT(CreateOptimizer("nadam", {{name, text}}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("optimizer nadam: ", name, " is '", text, "'"))));
  }
  EXPECT_THAT(CreateOptimizer("lbsgd", {{"warmup_strategy", "cubic"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'cubic'")));
  EXPECT_THAT(CreateOptimizer("signum", {{"momentum", "0"}, {"wd_lh", "0.1"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("optimizer signum: wd_lh is 0.1, expected 0 where momentum is")));
  for (const char* name : {"warmup_epochs", "updates_per_epoch", "begin_epoch"}) {
    for (const char* text : {"-1", "9223372036854775807"}) {
      EXPECT_THAT(CreateOptimizer("lbsgd", {{name, text}}),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr(absl::StrCat(name, " is '", text, "'"))));
    }
  }
}

}  // namespace
}  // namespace cooper
