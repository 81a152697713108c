// Tests buckets of gradients: how they are filled, in which order they are summed, and that neither
// affects the sums. Devices are CPU contexts here; tests/cuda has GPUs.

#include "module/kvstore/gradient_buckets.h"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::IsEmpty;

const std::vector<Context> kContexts = {Context::Cpu(0), Context::Cpu(1), Context::Cpu(2)};

// Logs its sums: "(" and ")" around a group, and the elements of each array.
class Recorder : public Collective {
 public:
  Recorder() : Collective(kContexts), inner_(*MakeCollective(kContexts, nullptr)) {}
  absl::string_view name() const override { return "recorder"; }
  absl::Status GroupStart() override {
    log += "(";
    return inner_->GroupStart();
  }
  absl::Status GroupEnd() override {
    log += ")";
    return inner_->GroupEnd();
  }

  std::string log;

 protected:
  absl::Status Sum(absl::Span<const NDArray> arrays, absl::Span<const NDArray> sums,
                   absl::Span<DeviceQueue* const> queues) override {
    log += std::to_string(arrays[0].size()) + " ";
    return sums.size() == 1 ? inner_->ReduceSum(arrays, sums[0], queues)
                            : inner_->AllReduceSum(arrays, sums, queues);
  }

 private:
  std::unique_ptr<Collective> inner_;
};

// Returns a gradient for each number of elements: "g0", "g1", ...
std::vector<DeviceGradient> Gradients(const std::vector<int64_t>& sizes, uint64_t seed = 1) {
  RandomGenerator random(seed);
  std::vector<DeviceGradient> gradients;
  for (size_t k = 0; k < sizes.size(); ++k) {
    DeviceGradient gradient{.key = "g" + std::to_string(k), .arrays = {}, .sums = {}};
    for (const Context& context : kContexts) {
      std::vector<float> values(static_cast<size_t>(sizes[k]));
      for (float& value : values) value = static_cast<float>(random.NextNormal());
      gradient.arrays.push_back(*NDArray::FromVector<float>({sizes[k]}, values)->CopyTo(context));
    }
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

struct Buckets {
  explicit Buckets(int64_t bytes) {
    auto made = std::make_unique<Recorder>();
    recorder = made.get();
    sums = std::make_unique<GradientBuckets>(std::move(made), bytes);
  }
  Recorder* recorder;
  std::unique_ptr<GradientBuckets> sums;
};

TEST(GradientBucketsTest, FillFromTheLastGradientOn) {
  const struct {
    const char* name;
    int64_t elements;  // of a bucket
    std::string log;
  } kCases[] = {
      {"EachAlone", 1, "(2 )(8 )(1 )(1 )(4 )"},
      {"TwoFit", 5, "(2 )(8 )(1 1 )(4 )"},
      {"ExactlyFull", 10, "(2 8 )(1 1 4 )"},
      {"AllInOne", 100, "(2 8 1 1 4 )"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    Buckets buckets(c.elements * 4);
    COOPER_ASSERT_OK(buckets.sums->Begin(Gradients({4, 1, 1, 8, 2})));
    COOPER_ASSERT_OK(buckets.sums->Finish());
    EXPECT_EQ(buckets.recorder->log, c.log);
  }
}

std::vector<std::vector<float>> SumsOf(const GradientBuckets& buckets, size_t count) {
  std::vector<std::vector<float>> sums;
  for (size_t k = 0; k < count; ++k) {
    for (const NDArray& sum : buckets.sums(k)) sums.push_back(*sum.ToVector<float>());
  }
  return sums;
}

// The sums depend neither on the bucket size, nor on which gradients are reported before Finish,
// nor on the order of the reports.
TEST(GradientBucketsTest, NothingShowsInTheSums) {
  const std::vector<int64_t> sizes = {40, 3, 7, 100, 1, 1, 60};
  Buckets whole(1 << 20);
  COOPER_ASSERT_OK(whole.sums->Begin(Gradients(sizes)));
  COOPER_ASSERT_OK(whole.sums->Finish());
  const auto expected = SumsOf(*whole.sums, sizes.size());
  RandomGenerator random(5);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    Buckets buckets(4 * static_cast<int64_t>(1 + random.NextBelow(150)));
    const std::vector<DeviceGradient> gradients = Gradients(sizes);
    COOPER_ASSERT_OK(buckets.sums->Begin(gradients));
    std::vector<std::pair<size_t, int>> ready;
    for (size_t k = 0; k < sizes.size(); ++k) {
      for (int device = 0; device < 3; ++device) ready.emplace_back(k, device);
    }
    random.Shuffle(ready);
    ready.resize(random.NextBelow(ready.size() + 1));
    for (const auto& [k, device] : ready) {
      COOPER_ASSERT_OK_AND_ASSIGN(DeviceQueue * queue, GetQueue(kContexts[device]));
      COOPER_ASSERT_OK(buckets.sums->Ready(gradients[k].key, device, *queue));
    }
    COOPER_ASSERT_OK(buckets.sums->Finish());
    EXPECT_EQ(SumsOf(*buckets.sums, sizes.size()), expected);
    // The order of sums is always the same.
    std::string order = buckets.recorder->log;
    std::erase_if(order, [](char c) { return c == '(' || c == ')'; });
    EXPECT_EQ(order, "60 1 1 100 7 3 40 ");
  }
}

TEST(GradientBucketsTest, ABucketIsSummedWhenItIsReadyOnAllDevices) {
  Buckets buckets(3 * 4);
  const std::vector<DeviceGradient> gradients = Gradients({3, 1, 2});
  COOPER_ASSERT_OK(buckets.sums->Begin(gradients));
  EXPECT_EQ(buckets.sums->num_buckets(), 2u);
  const auto tell = [&](const char* key, int device) {
    COOPER_ASSERT_OK(buckets.sums->Ready(key, device, **GetQueue(kContexts[device])));
  };
  for (const int device : {0, 1, 2}) tell("g1", device);
  for (const int device : {0, 2}) tell("g2", device);
  for (const int device : {0, 0, 0}) tell("g2", device);  // repeated reports have no effect
  for (const int device : {0, 1, 2}) tell("g0", device);
  tell("unknown", 1);
  EXPECT_THAT(buckets.recorder->log, IsEmpty()) << "the first bucket is not ready on device 1";
  tell("g2", 1);
  EXPECT_EQ(buckets.recorder->log, "(2 1 )(3 )") << "and the second one waited for it";
  COOPER_ASSERT_OK(buckets.sums->Finish());
  EXPECT_EQ(buckets.recorder->log, "(2 1 )(3 )") << "nothing is left";
}

TEST(GradientBucketsTest, DevicesTellFromTheirOwnThreads) {
  const std::vector<int64_t> sizes(50, 11);
  Buckets whole(1 << 20);
  COOPER_ASSERT_OK(whole.sums->Begin(Gradients(sizes)));
  COOPER_ASSERT_OK(whole.sums->Finish());
  Buckets buckets(11 * 4 * 3);
  for (int step = 0; step < 20; ++step) {
    const std::vector<DeviceGradient> gradients = Gradients(sizes);
    COOPER_ASSERT_OK(buckets.sums->Begin(gradients));
    std::vector<std::thread> threads;
    for (int device = 0; device < 3; ++device) {
      threads.emplace_back([&, device] {
        for (size_t k = sizes.size(); k-- > 0;) {
          COOPER_EXPECT_OK(
              buckets.sums->Ready(gradients[k].key, device, **GetQueue(kContexts[device])));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    COOPER_ASSERT_OK(buckets.sums->Finish());
    EXPECT_EQ(SumsOf(*buckets.sums, sizes.size()), SumsOf(*whole.sums, sizes.size()));
  }
}

TEST(GradientBucketsTest, AStepBeginsAnew) {
  Buckets buckets(4);
  const std::vector<DeviceGradient> first = Gradients({2, 1}), other = Gradients({2, 1}, 9);
  COOPER_ASSERT_OK(buckets.sums->Begin(first));
  EXPECT_TRUE(buckets.sums->IsBegun(first));
  EXPECT_FALSE(buckets.sums->IsBegun(other)) << "other arrays";
  for (int device = 0; device < 3; ++device) {
    COOPER_ASSERT_OK(buckets.sums->Ready("g1", device, **GetQueue(kContexts[device])));
  }
  EXPECT_EQ(buckets.recorder->log, "(1 )");
  // The step has other gradients.
  COOPER_ASSERT_OK(buckets.sums->Begin(other));
  COOPER_ASSERT_OK(buckets.sums->Finish());
  EXPECT_FALSE(buckets.sums->IsBegun(other)) << "finished";
  Buckets fresh(1 << 20);
  COOPER_ASSERT_OK(fresh.sums->Begin(other));
  COOPER_ASSERT_OK(fresh.sums->Finish());
  EXPECT_EQ(SumsOf(*buckets.sums, 2), SumsOf(*fresh.sums, 2));
}

TEST(GradientBucketsTest, SumsGoWhereTheyAreAskedFor) {
  Buckets buckets(1 << 20);
  std::vector<DeviceGradient> gradients = Gradients({2, 3});
  const std::vector<float> before = *gradients[0].arrays[1].ToVector<float>();
  gradients[1].sums = gradients[1].arrays;
  COOPER_ASSERT_OK(buckets.sums->Begin(gradients));
  COOPER_ASSERT_OK(buckets.sums->Finish());
  EXPECT_EQ(*gradients[0].arrays[1].ToVector<float>(), before) << "stays as it was";
  EXPECT_EQ(*gradients[1].arrays[0].ToVector<float>(), *gradients[1].arrays[2].ToVector<float>());
  EXPECT_EQ(buckets.sums->sums(0).size(), 1u) << "where nobody asks for more";
  EXPECT_EQ(buckets.sums->sums(1)[0].raw_data(), gradients[1].arrays[0].raw_data());
}

}  // namespace
}  // namespace cooper
