// Tests that a bound module keeps its other options when Fit rebinds it to accumulate gradients,
// and when the next Fit reverts that.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/bucket_key.h"
#include "io/buckets/bucket_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "module/interface/base_module.h"
#include "module/network/module.h"
#include "module/options/sym_gen.h"
#include "module/sequential_module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr int64_t kMaxBytes = 1 << 20;

std::unique_ptr<NDArrayIter> MakeIter() {
  return *NDArrayIter::Create({{"data", RandomArray({16, 6}, 5)}},
                              {{"softmax_label", Classes(16, 3, 5)}}, {.batch_size = 4});
}

// Returns one module of each kind that has parameters.
std::vector<std::unique_ptr<BaseModule>> AllKinds() {
  std::vector<std::unique_ptr<BaseModule>> modules;
  modules.push_back(*Module::Create(TwoLayers()));
  modules.push_back(*BucketingModule::Create(
      {.sym_gen = [](const BucketKey&) { return TwoLayers(); }, .default_bucket_key = 6}));
  auto chain = std::make_unique<SequentialModule>();
  COOPER_EXPECT_OK(chain->Add(*Module::Create(TwoLayers()), {.take_labels = true}));
  modules.push_back(std::move(chain));
  return modules;
}

std::vector<float> Param(const BaseModule& module, const std::string& name) {
  return Floats(module.GetParams()->args.at(name));
}

absl::Status Bind(BaseModule& module, WriteReq grad_req,
                  const std::map<std::string, WriteReq>& grad_reqs) {
  const auto iter = MakeIter();
  return module.Bind({.data_shapes = iter->provide_data(),
                      .label_shapes = iter->provide_label(),
                      .inputs_need_grad = true,
                      .grad_req = grad_req,
                      .grad_reqs = grad_reqs,
                      .max_bytes = kMaxBytes});
}

absl::Status Fit(BaseModule& module, int accumulate_batches) {
  const auto iter = MakeIter();
  return module.Fit(*iter, {.progress = nullptr,
                            .params = {.initializer = init::Uniform(0.5)},
                            .accumulate_batches = accumulate_batches,
                            .num_epoch = 1});
}

TEST(FitBindTest, WhatIsBoundStaysButForTheRequests) {
  for (const auto& module : AllKinds()) {
    COOPER_ASSERT_OK(Bind(*module, WriteReq::kWrite, {{"fc1_weight", WriteReq::kNull}}));
    COOPER_ASSERT_OK(module->InitParams({.initializer = init::Uniform(0.5)}));
    const std::vector<float> frozen = Param(*module, "fc1_weight");
    for (const int accumulate : {4, 1, 2}) {
      SCOPED_TRACE(accumulate);
      const std::vector<float> before = Param(*module, "fc2_weight");
      COOPER_ASSERT_OK(Fit(*module, accumulate));
      EXPECT_EQ(Param(*module, "fc1_weight"), frozen);
      EXPECT_NE(Param(*module, "fc2_weight"), before);
      ASSERT_NE(module->bind_options(), nullptr);
      EXPECT_EQ(module->bind_options()->max_bytes, kMaxBytes);
      EXPECT_EQ(module->grad_req(), accumulate > 1 ? WriteReq::kAdd : WriteReq::kWrite);
      // Gradients of data are never accumulated.
      COOPER_EXPECT_OK(module->GetInputGrads());
      EXPECT_THAT(module->bind_options()->grad_reqs,
                  ElementsAre(Pair("data", WriteReq::kWrite), Pair("fc1_weight", WriteReq::kNull)));
    }
  }
}

// Fit changes a request that was made for a parameter by name, too.
TEST(FitBindTest, AddsUpWhatIsWrittenByName) {
  const auto train = [](const std::map<std::string, WriteReq>& grad_reqs) {
    const auto module = *Module::Create(TwoLayers());
    COOPER_EXPECT_OK(Bind(*module, WriteReq::kAdd, grad_reqs));
    COOPER_EXPECT_OK(Fit(*module, /*accumulate_batches=*/2));
    return Param(*module, "fc2_weight");
  };
  EXPECT_EQ(train({{"fc2_weight", WriteReq::kWrite}}), train({}));
}

// A user's kAdd request stays: Fit reverts only the requests that it changed itself.
TEST(FitBindTest, APlainFitDoesNotBindAgain) {
  const auto module = *Module::Create(TwoLayers());
  COOPER_ASSERT_OK(Bind(*module, WriteReq::kAdd, {}));
  const Executor* const bound = &module->executor_group()->executor(0);
  COOPER_ASSERT_OK(Fit(*module, /*accumulate_batches=*/1));
  EXPECT_EQ(&module->executor_group()->executor(0), bound);
  EXPECT_EQ(module->grad_req(), WriteReq::kAdd);
}

// If several processes train, one may have no sample of the default bucket, which all of them bind.
TEST(FitBindTest, BindsADefaultBucketWithoutSamples) {
  const SymGen sym_gen = [](const BucketKey&) -> BucketSymbol {
    return {.symbol = MeanOverTime()};
  };
  const std::vector<std::vector<int>> sequences = {{1, 2}, {3}};
  const auto iter = *BucketIter::Create({{.name = "data", .values = sequences}},
                                        {{.name = "softmax_label", .values = Classes(2, 2, 1)}},
                                        {.batch_size = 2, .buckets = {2, 4}});
  EXPECT_EQ(iter->default_bucket_key(), BucketKey(2));
  for (const int64_t key : {2, 4}) {
    const auto module = *BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = key});
    COOPER_ASSERT_OK(module->Fit(*iter, {.progress = nullptr, .num_epoch = 1}));
    EXPECT_EQ(module->bind_options()->bucket_key, BucketKey(key));
    EXPECT_EQ(module->bind_options()->data_shapes[0].shape, Shape({2, key}));
    COOPER_ASSERT_OK(iter->Reset());
  }
  const auto module = *BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = 3});
  EXPECT_THAT(module->Fit(*iter, {.progress = nullptr, .num_epoch = 1}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("Bind: the module's default_bucket_key is the integer 3")));
}

}  // namespace
}  // namespace cooper
