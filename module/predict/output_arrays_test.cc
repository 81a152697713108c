#include "module/predict/output_arrays.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

const Shape kTwoMegabytes({2, 1 << 18});

NDArray TakeOne(OutputArrays& arrays, const Shape& shape = kTwoMegabytes) {
  auto array = arrays.Take(shape, DType::kFloat32);
  EXPECT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->shape(), shape);
  EXPECT_EQ(array->storage()->bytes(), array->size_bytes());
  return *std::move(array);
}

TEST(OutputArraysTest, MemoryIsUsedAgainWhenTheLastHandleIsGone) {
  OutputArrays arrays(Context::Cpu());
  arrays.KeepMore(1);
  NDArray first = TakeOne(arrays);
  const void* const data = first.raw_data();
  NDArray row = *first.At(1);
  first = NDArray();
  EXPECT_NE(TakeOne(arrays).raw_data(), data);  // the row holds it
  row = NDArray();
  EXPECT_EQ(TakeOne(arrays).raw_data(), data);
}

// A caller that requests results of all lengths in turn and holds the previous one.
TEST(OutputArraysTest, AFewBlocksServeAllLengths) {
  OutputArrays arrays(Context::Cpu());
  arrays.KeepMore(2);
  std::set<const void*> places;
  NDArray held;
  for (int pass = 0; pass < 10; ++pass) {
    for (int64_t rows = 1; rows <= 6; ++rows) {
      NDArray array = TakeOne(arrays, Shape({rows, 1 << 19}));
      if (pass >= 3) places.insert(array.raw_data());
      held = std::move(array);
    }
  }
  EXPECT_LE(places.size(), 3);
}

TEST(OutputArraysTest, TheSmallestBlockThatFitsIsTaken) {
  OutputArrays arrays(Context::Cpu());
  arrays.KeepMore(3);
  NDArray large = TakeOne(arrays, Shape({1 << 21})), small = TakeOne(arrays, Shape({1 << 19}));
  const void *const at_large = large.raw_data(), *const at_small = small.raw_data();
  large = small = NDArray();
  EXPECT_EQ(TakeOne(arrays, Shape({(1 << 19) - 7})).raw_data(), at_small);
  EXPECT_EQ(TakeOne(arrays, Shape({(1 << 19) + 7})).raw_data(), at_large);
  EXPECT_NE(TakeOne(arrays, Shape({(1 << 21) + 7})).raw_data(), at_large);
}

// A caller that holds many small results must not hold the large blocks of other results.
TEST(OutputArraysTest, SmallResultsHoldFewLargeBlocks) {
  OutputArrays arrays(Context::Cpu());
  arrays.KeepMore(2);
  std::set<const void*> large;
  std::vector<NDArray> small;
  for (int i = 0; i < 10; ++i) {
    large.insert(TakeOne(arrays, Shape({1 << 22})).raw_data());
    small.push_back(TakeOne(arrays, Shape({1 << 19})));
  }
  EXPECT_LE(large.size(), 3);
  small.clear();
  for (int i = 0; i < 10; ++i) TakeOne(arrays, Shape({1 << 19}));
  EXPECT_EQ(arrays.num_idle(), 2);
}

TEST(OutputArraysTest, KeepsNoMoreThanItWasTold) {
  OutputArrays arrays(Context::Cpu());
  arrays.KeepMore(2);
  std::vector<NDArray> many;
  many.reserve(10);
  for (int i = 0; i < 10; ++i) many.push_back(TakeOne(arrays));
  many.clear();
  EXPECT_EQ(arrays.num_idle(), 2);
  arrays.KeepMore(3);
  for (int i = 0; i < 10; ++i) many.push_back(TakeOne(arrays));
  many.clear();
  EXPECT_EQ(arrays.num_idle(), 5);
}

TEST(OutputArraysTest, ArraysOutliveIt) {
  auto arrays = std::make_unique<OutputArrays>(Context::Cpu());
  arrays->KeepMore(1);
  const NDArray array = TakeOne(*arrays);
  arrays = nullptr;
  COOPER_ASSERT_OK(array.Fill(3));
  EXPECT_EQ((*array.Data<float>())[5], 3.0F);
}

TEST(OutputArraysTest, NoTwoThreadsHaveTheSameMemory) {
  std::optional<OutputArrays> arrays(Context::Cpu());
  arrays->KeepMore(6);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 50; ++k) {
        const NDArray array = TakeOne(*arrays, Shape({2, (1 << 18) + 1000 * (k % 3)}));
        const auto values = *array.Data<float>();
        // Both ends and the middle: pages that another thread would have to share.
        for (size_t at : {size_t{0}, values.size() / 2, values.size() - 1}) {
          values[at] = static_cast<float>(t);
        }
        std::this_thread::yield();
        for (size_t at : {size_t{0}, values.size() / 2, values.size() - 1}) {
          wrong += values[at] != static_cast<float>(t);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(arrays->num_idle(), 6);
}

TEST(OutputArraysTest, FreesWhatIsKeptNoLonger) {
  OutputArrays arrays{Context::Cpu()};
  arrays.KeepMore(2);
  {
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray a, arrays.Take({1 << 20}, DType::kFloat32));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray b, arrays.Take({1 << 21}, DType::kFloat32));
  }
  EXPECT_EQ(arrays.num_idle(), 2);
  arrays.KeepMore(-1);
  EXPECT_EQ(arrays.num_idle(), 1);
  arrays.KeepMore(-1);
  EXPECT_EQ(arrays.num_idle(), 0);
}

}  // namespace
}  // namespace cooper
