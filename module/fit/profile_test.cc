// Tests the events that a profile records of training steps.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/profiler.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::map<std::string, int> CountSteps(const Profile& profile) {
  std::map<std::string, int> counts;
  for (const ProfileEvent& event : profile.events) {
    if (event.category == ProfileCategory::kStep) ++counts[std::string(event.name)];
  }
  return counts;
}

bool IsOperator(const ProfileEvent& event) {
  return event.category == ProfileCategory::kForward ||
         event.category == ProfileCategory::kBackward;
}

std::vector<const ProfileEvent*> StepsNamed(const Profile& profile, absl::string_view name) {
  std::vector<const ProfileEvent*> steps;
  for (const ProfileEvent& event : profile.events) {
    if (event.category == ProfileCategory::kStep && event.name == name) steps.push_back(&event);
  }
  return steps;
}

bool IsWithin(const ProfileEvent& inner, const ProfileEvent& outer) {
  return inner.start_ns >= outer.start_ns &&
         inner.start_ns + inner.duration_ns <= outer.start_ns + outer.duration_ns;
}

// Checks that each operator is within exactly one span of its pass, and that the spans' flops add
// up to those of the operators.
void ExpectOperatorsWithinSpans(const Profile& profile) {
  std::map<absl::string_view, int64_t> flops;
  for (const ProfileEvent& event : profile.events) {
    if (!IsOperator(event)) continue;
    const absl::string_view pass = ProfileCategoryName(event.category);
    flops[pass] += event.flops;
    int within = 0;
    for (const ProfileEvent* span : StepsNamed(profile, pass)) within += IsWithin(event, *span);
    EXPECT_EQ(within, 1) << event.name << " " << event.detail;
  }
  for (const char* pass : {"forward", "backward"}) {
    int64_t sum = 0;
    for (const ProfileEvent* span : StepsNamed(profile, pass)) sum += span->flops;
    EXPECT_GT(sum, 0) << pass;
    EXPECT_EQ(sum, flops[pass]) << pass;
  }
}

void ExpectDisjointSteps(const Profile& profile) {
  int64_t end = 0;
  for (const ProfileEvent& event : profile.events) {  // sorted by their ends
    if (event.category != ProfileCategory::kStep) continue;
    EXPECT_GE(event.start_ns, end) << event.name;
    end = event.start_ns + event.duration_ns;
  }
}

TEST(ProfileTest, FitIsMadeOfItsParts) {
  for (int contexts : {1, 2}) {
    SCOPED_TRACE(contexts);
    ModuleOptions options;
    options.compute.contexts.clear();
    for (int i = 0; i < contexts; ++i) options.compute.contexts.push_back(Context::Cpu(i));
    COOPER_ASSERT_OK_AND_ASSIGN(auto module, Module::Create(TwoLayers(), std::move(options)));
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto iter, NDArrayIter::Create({{"data", RandomArray({12, 6}, 5)}},
                                       {{"softmax_label", Classes(12, 3, 5)}}, {.batch_size = 4}));
    StartProfile();
    COOPER_ASSERT_OK(module->Fit(*iter, {.num_epoch = 2}));
    const Profile profile = StopProfile();
    // Each epoch calls Next once more, to find its end.
    EXPECT_THAT(
        CountSteps(profile),
        ElementsAre(Pair("backward", 6), Pair("bind", 1), Pair("check finite", 6), Pair("data", 8),
                    Pair("forward", 6), Pair("metric", 6), Pair("update", 6)));
    ExpectDisjointSteps(profile);
    ExpectOperatorsWithinSpans(profile);
    std::map<int, int> products;  // number of matrix products by thread
    for (const ProfileEvent& event : profile.events) {
      // A pass fuses the second layer with its softmax.
      if (event.name == "FullyConnected" || event.name == "_fc_softmax_output") {
        ++products[event.thread];
      }
    }
    EXPECT_EQ(products.size(), static_cast<size_t>(contexts));
    for (const auto& [thread, count] : products) EXPECT_EQ(count, 2 * 6);
  }
}

TEST(ProfileTest, StepsTellTheirBuckets) {
  const auto data = [](int64_t length) {
    return std::vector<DataDesc>{{.name = "data", .shape = {4, length, 3}, .layout = "NTC"}};
  };
  const std::vector<DataDesc> labels = {{.name = "softmax_label", .shape = {4}, .layout = "N"}};
  COOPER_ASSERT_OK_AND_ASSIGN(auto model,
                              BucketingModule::Create({.sym_gen =
                                                           [](const BucketKey&) {
                                                             return absl::StatusOr<BucketSymbol>(
                                                                 {.symbol = MeanOverTime()});
                                                           },
                                                       .default_bucket_key = 8}));
  COOPER_ASSERT_OK(model->Bind({.data_shapes = data(8), .label_shapes = labels}));
  COOPER_ASSERT_OK(model->InitParams());
  StartProfile();
  for (int64_t length : {8, 2, 8}) {
    COOPER_ASSERT_OK(model->Forward({.data = {RandomArray({4, length, 3}, 1)},
                                     .label = {Classes(4, 2, 1)},
                                     .bucket_key = length,
                                     .provide_data = data(length),
                                     .provide_label = labels}));
  }
  const Profile profile = StopProfile();
  std::vector<std::string> buckets;
  for (const ProfileEvent& event : profile.events) {
    if (event.category == ProfileCategory::kBucket) buckets.emplace_back(event.name);
  }
  EXPECT_THAT(buckets, ElementsAre("bucket 8", "bucket 2", "bucket 8"));
  EXPECT_THAT(CountSteps(profile),
              ElementsAre(Pair("bind", 1), Pair("forward", 3), Pair("sym_gen", 1)));
  ExpectDisjointSteps(profile);
}

TEST(ProfileTest, NothingIsRecordedUnlessAskedFor) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto module, Module::Create(TwoLayers()));
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto iter, NDArrayIter::Create({{"data", RandomArray({4, 6}, 5)}},
                                     {{"softmax_label", Classes(4, 3, 5)}}, {.batch_size = 4}));
  COOPER_ASSERT_OK(module->Fit(*iter, {.num_epoch = 1}));
  EXPECT_THAT(StopProfile().events, IsEmpty());
}

}  // namespace
}  // namespace cooper
