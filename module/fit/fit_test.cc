// Tests Fit and Update beyond plain steps: clipping by the global norm, gradients accumulated over
// several batches, multipliers, and ending on a signal.

#include <cmath>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/metric/classification.h"
#include "module/network/module.h"
#include "module/parameters/gradient_norm.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

ModuleBindOptions Shapes(int64_t rows) {
  return {.data_shapes = {{.name = "data", .shape = {rows, 6}, .layout = "NC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}}};
}

std::unique_ptr<Module> MakeTrainable(const InitOptimizerOptions& optimizer,
                                      ModuleOptions options = {}) {
  auto module = Module::Create(TwoLayers(), std::move(options));
  EXPECT_TRUE(module.ok()) << module.status();
  COOPER_EXPECT_OK((*module)->Bind(Shapes(4)));
  COOPER_EXPECT_OK((*module)->InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_EXPECT_OK((*module)->InitOptimizer(optimizer));
  return *std::move(module);
}

std::unique_ptr<NDArrayIter> MakeIter(int64_t rows, int64_t batch_size) {
  auto iter =
      NDArrayIter::Create({{"data", RandomArray({rows, 6}, 5)}},
                          {{"softmax_label", Classes(rows, 3, 5)}}, {.batch_size = batch_size});
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

std::map<std::string, std::vector<float>> Params(const BaseModule& module) {
  std::map<std::string, std::vector<float>> params;
  const ModuleParams copies = *module.GetParams();
  for (const auto& [name, array] : copies.args) params[name] = Floats(array);
  return params;
}

void ExpectNear(const std::map<std::string, std::vector<float>>& a,
                const std::map<std::string, std::vector<float>>& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, values] : a) {
    EXPECT_THAT(values, Pointwise(FloatNear(tolerance), b.at(name))) << name;
  }
}

TEST(GlobalNormTest, IsTheRootOfAllSquares) {
  const NDArray a = *NDArray::Full({3}, 2);
  const NDArray b = *NDArray::Full({100000}, 0.5, DType::kFloat64);
  EXPECT_NEAR(*GlobalNorm({a, b}), std::sqrt(12 + 25000), 1e-9);
  EXPECT_EQ(*GlobalNorm({}), 0);
}

// A clipped step has the direction of the unclipped one, and at most the length that the norm
// allows.
TEST(UpdateTest, GradientsAreClippedByTheirGlobalNorm) {
  const DataBatch batch = {.data = {RandomArray({4, 6}, 1)}, .label = {Classes(4, 3, 1)}};
  for (int contexts : {1, 2}) {
    ModuleOptions options;
    options.compute.contexts.clear();
    for (int i = 0; i < contexts; ++i) options.compute.contexts.push_back(Context::Cpu(i));
    auto step = [&](double clip) {
      auto module = MakeTrainable(
          {.optimizer_params = {{"learning_rate", "1"}}, .clip_global_norm = clip}, options);
      const auto before = Params(*module);
      COOPER_EXPECT_OK(module->ForwardBackward(batch));
      COOPER_EXPECT_OK(module->Update());
      auto change = Params(*module);
      for (auto& [name, values] : change) {
        for (size_t i = 0; i < values.size(); ++i) values[i] -= before.at(name)[i];
      }
      return change;
    };
    auto norm = [](const std::map<std::string, std::vector<float>>& change) {
      double sum = 0;
      for (const auto& [name, values] : change) {
        for (float v : values) sum += static_cast<double>(v) * v;
      }
      return std::sqrt(sum);
    };
    auto whole = step(0);
    ASSERT_GT(norm(whole), 0.1);
    ExpectNear(step(1e6), whole, 0);
    const auto clipped = step(0.05);
    EXPECT_NEAR(norm(clipped), 0.05, 1e-6);
    const float ratio = static_cast<float>(0.05 / norm(whole));
    for (auto& [name, values] : whole) {
      for (float& v : values) v *= ratio;
    }
    ExpectNear(clipped, whole, 1e-6f);
  }
}

TEST(UpdateTest, MultipliersAreByName) {
  auto module =
      MakeTrainable({.optimizer_params = {{"learning_rate", "1"}}, .lr_mult = {{"fc1_weight", 0}}});
  const auto before = Params(*module);
  COOPER_ASSERT_OK(
      module->ForwardBackward({.data = {RandomArray({4, 6}, 1)}, .label = {Classes(4, 3, 1)}}));
  COOPER_ASSERT_OK(module->Update());
  const auto after = Params(*module);
  EXPECT_EQ(after.at("fc1_weight"), before.at("fc1_weight"));
  EXPECT_NE(after.at("fc2_weight"), before.at("fc2_weight"));
}

// Five batches of 4 accumulated in twos give the updates of batches of 8, 8 and 4.
TEST(FitTest, GradientsOfSeveralBatchesMakeOneUpdate) {
  auto fit = [](int64_t batch_size, int accumulate, std::vector<int64_t>* captured) {
    auto module = *Module::Create(TwoLayers());
    auto iter = MakeIter(20, batch_size);
    COOPER_EXPECT_OK(module->Fit(
        *iter,
        {.capture_point =
             [captured](int, int64_t done) {
               captured->push_back(done);
               return absl::OkStatus();
             },
         .optimizer = {.optimizer_params = {{"learning_rate", "0.5"}, {"rescale_grad", "0.125"}}},
         .params = {.initializer = init::Uniform(0.5)},
         .accumulate_batches = accumulate,
         .num_epoch = 2}));
    return Params(*module);
  };
  std::vector<int64_t> captured, ignored;
  const auto by_twos = fit(4, 2, &captured);
  EXPECT_THAT(captured, testing::ElementsAre(2, 4, 5, 2, 4, 5)) << "after updates only";
  auto module = *Module::Create(TwoLayers());
  COOPER_ASSERT_OK(module->Bind(Shapes(8)));
  COOPER_ASSERT_OK(module->InitParams({.initializer = init::Uniform(0.5)}));
  COOPER_ASSERT_OK(module->InitOptimizer(
      {.optimizer_params = {{"learning_rate", "0.5"}, {"rescale_grad", "0.125"}}}));
  const NDArray data = RandomArray({20, 6}, 5);
  const NDArray label = Classes(20, 3, 5);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const auto& [begin, end] : {std::pair(0, 8), {8, 16}, {16, 20}}) {
      COOPER_ASSERT_OK(module->ForwardBackward(
          {.data = {*data.Slice(begin, end)}, .label = {*label.Slice(begin, end)}}));
      COOPER_ASSERT_OK(module->Update());
    }
  }
  ExpectNear(by_twos, Params(*module), 1e-5f);
  // Unless rescale_grad is given, it is 1 / (batch size * accumulated batches).
  auto rescaled = *Module::Create(TwoLayers());
  auto iter = MakeIter(8, 4);
  COOPER_ASSERT_OK(rescaled->Fit(*iter, {.accumulate_batches = 2, .num_epoch = 1}));
  EXPECT_EQ(rescaled->group()->updater()->optimizer().rescale_grad(), 1.0 / 8);
}

// An update with gradients of two buckets includes the parameters of only one of them, in whichever
// order the buckets were bound.
TEST(FitTest, AddedUpGradientsMayBeOfSeveralBuckets) {
  for (const auto& lengths : {std::vector<int64_t>{2, 3}, std::vector<int64_t>{3, 2}}) {
    auto module = *BucketingModule::Create(
        {.sym_gen = [](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
           const Symbol mean = Op("mean", {.inputs = {Symbol::Variable("data")},
                                           .attrs = {{"axis", "1"}, {"keepdims", "True"}}});
           const Symbol fc = Op(
               "FullyConnected",
               {.name = "fc" + key.ToString(), .inputs = {mean}, .attrs = {{"num_hidden", "2"}}});
           return BucketSymbol{
               .symbol = Op("SoftmaxOutput", {.name = "softmax",
                                              .inputs = {fc, Symbol::Variable("softmax_label")}})};
         },
         .default_bucket_key = 3});
    auto shapes = [](int64_t length) {
      return ModuleBindOptions{.data_shapes = {{.name = "data", .shape = {4, length}}},
                               .label_shapes = {{.name = "softmax_label", .shape = {4}}},
                               .grad_req = WriteReq::kAdd};
    };
    COOPER_ASSERT_OK(module->Bind(shapes(3)));
    COOPER_ASSERT_OK(module->InitParams({.initializer = init::Uniform(0.5)}));
    COOPER_ASSERT_OK(module->InitOptimizer({.optimizer_params = {{"learning_rate", "1"}}}));
    std::vector<std::map<std::string, std::vector<float>>> params;
    for (int64_t length : lengths) {
      DataBatch batch = {.data = {RandomArray({4, length}, length)},
                         .label = {Classes(4, 2, length)}};
      batch.bucket_key = length;
      batch.provide_data = shapes(length).data_shapes;
      batch.provide_label = shapes(length).label_shapes;
      COOPER_ASSERT_OK(module->ForwardBackward(batch));
      params.push_back(Params(*module));
    }
    COOPER_ASSERT_OK(module->Update());
    const auto after = Params(*module);
    for (const char* name : {"fc2_bias", "fc3_bias"}) {
      EXPECT_NE(after.at(name), params.back().at(name)) << name;
    }
  }
}

// Returns the output of a bound module with dropout for an input of ones, in training.
std::vector<float> DropOnes(BaseModule& module) {
  COOPER_EXPECT_OK(module.Forward({.data = {*NDArray::Full({64}, 1)}}, true));
  return Floats((*module.GetOutputs())[0]);
}

Symbol DropHalf() {
  return Op("Dropout",
            {.name = "drop", .inputs = {Symbol::Variable("data")}, .attrs = {{"p", "0.5"}}});
}

TEST(BindTest, TheSeedIsThatOfDropout) {
  ModuleBindOptions bind{.data_shapes = {{.name = "data", .shape = {64}, .layout = "N"}},
                         .force_rebind = true};
  const auto module = *Module::Create(DropHalf(), {.label_names = {}});
  const auto draw = [&](std::optional<uint64_t> seed) {
    bind.seed = seed;
    COOPER_EXPECT_OK(module->Bind(bind));
    COOPER_EXPECT_OK(module->InitParams());
    return DropOnes(*module);
  };
  const std::vector<float> unseeded = draw(std::nullopt);
  const std::vector<float> next = draw(std::nullopt);
  EXPECT_NE(next, unseeded) << "the stream goes on";
  EXPECT_EQ(draw(0), unseeded) << "which has begun with seed 0";
  EXPECT_EQ(draw(std::nullopt), next);
  const std::vector<float> seven = draw(7);
  EXPECT_NE(seven, unseeded);
  EXPECT_EQ(draw(7), seven);
}

TEST(BindTest, AFurtherBucketDrawsOn) {
  const std::vector<DataDesc> data = {{.name = "data", .shape = {64}, .layout = "N"}};
  const SymGen sym_gen = [](const BucketKey&) -> absl::StatusOr<BucketSymbol> {
    return BucketSymbol{.symbol = DropHalf(), .label_names = {}};
  };
  const auto module =
      *BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = BucketKey(1)});
  COOPER_ASSERT_OK(module->Bind({.data_shapes = data, .seed = 7}));
  COOPER_ASSERT_OK(module->InitParams());
  const std::vector<float> first = DropOnes(*module);
  COOPER_ASSERT_OK(module->SwitchBucket(2, data, {}));
  EXPECT_NE(DropOnes(*module), first);
  COOPER_ASSERT_OK(module->Bind({.data_shapes = data, .force_rebind = true, .seed = 7}));
  EXPECT_EQ(DropOnes(*module), first);
}

TEST(FitTest, ASignalEndsTheTrainingInGoodOrder) {
  auto module = *Module::Create(TwoLayers());
  auto iter = MakeIter(20, 4);
  std::vector<std::pair<int, int64_t>> stops;
  const auto note_stop = [&](int epoch, int64_t done) {
    stops.emplace_back(epoch, done);
    return absl::OkStatus();
  };
  int batches = 0;
  const absl::Status status =
      module->Fit(*iter, {.batch_end_callbacks = {[&](const BatchEndParam&) {
                            if (++batches == 7) std::raise(SIGINT);
                            return true;
                          }},
                          .stop_on_signal = true,
                          .stop_point = note_stop,
                          .num_epoch = 100});
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kCancelled,
                       HasSubstr("signal 2 ended the training in epoch 1 after 3 batches")));
  EXPECT_THAT(stops, testing::ElementsAre(std::pair(1, int64_t{3})));
  // A signal after the update of the last batch ends the training too.
  auto other = *Module::Create(TwoLayers());
  COOPER_ASSERT_OK(iter->Reset());
  stops.clear();
  batches = 0;
  EXPECT_THAT(other->Fit(*iter, {.batch_end_callbacks = {[&](const BatchEndParam&) {
                                   if (++batches == 10) std::raise(SIGINT);
                                   return true;
                                 }},
                                 .stop_on_signal = true,
                                 .stop_point = note_stop,
                                 .num_epoch = 2}),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("in epoch 1 after 5 batches")));
  EXPECT_THAT(stops, testing::ElementsAre(std::pair(1, int64_t{5})));
  // With accumulated gradients the training ends only after their update.
  auto adding = *Module::Create(TwoLayers());
  COOPER_ASSERT_OK(iter->Reset());
  stops.clear();
  batches = 0;
  EXPECT_THAT(adding->Fit(*iter, {.batch_end_callbacks = {[&](const BatchEndParam&) {
                                    if (++batches == 2) std::raise(SIGTERM);
                                    return true;
                                  }},
                                  .stop_on_signal = true,
                                  .stop_point = note_stop,
                                  .accumulate_batches = 2,
                                  .num_epoch = 2}),
              StatusIs(absl::StatusCode::kCancelled,
                       HasSubstr("signal 15 ended the training in epoch 0 after 4 batches")));
  EXPECT_THAT(stops, testing::ElementsAre(std::pair(0, int64_t{4})));
  // A signal during the validation ends the training after it.
  auto validated = *Module::Create(TwoLayers());
  auto eval_iter = MakeIter(20, 4);
  COOPER_ASSERT_OK(iter->Reset());
  stops.clear();
  bool raised = false;  // a second signal would end the process
  EXPECT_THAT(validated->Fit(*iter, {.eval_data = eval_iter.get(),
                                     .eval_batch_end_callbacks = {[&](const BatchEndParam&) {
                                       if (!std::exchange(raised, true)) std::raise(SIGINT);
                                       return true;
                                     }},
                                     .stop_on_signal = true,
                                     .stop_point = note_stop,
                                     .num_epoch = 2}),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("in epoch 1 after 0 batches")));
  EXPECT_THAT(stops, testing::ElementsAre(std::pair(1, int64_t{0})));
  // Fit has restored the signal's previous handler.
  struct sigaction action;
  ASSERT_EQ(sigaction(SIGINT, nullptr, &action), 0);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace cooper
