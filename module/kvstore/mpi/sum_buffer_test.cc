// Tests the sum over several processes: each process of the run is one copy of this program.

#include "module/kvstore/mpi/sum_buffer.h"

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "module/kvstore/mpi/mpi_world.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

class SumBufferTest : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Sharing, SumBufferTest, ::testing::Bool());

// The sizes grow, shrink, do not divide evenly, and are less than one element per process.
TEST_P(SumBufferTest, AddsWhatAllBring) {
  COOPER_ASSERT_OK_AND_ASSIGN(MpiWorld * world, MpiWorld::Get());
  SumBuffer buffer(world, GetParam());
  const int64_t n = world->size();
  for (const int64_t size : {5, 70001, 1024, 1, 0, 300007}) {
    for (int step = 0; step < 3; ++step) {
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray mine, buffer.Reserve(size));
      COOPER_ASSERT_OK_AND_ASSIGN(const absl::Span<float> values, mine.Data<float>());
      for (int64_t i = 0; i < size; ++i) {
        values[i] = static_cast<float>(world->rank() + (i + step) % 1000);
      }
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray sum, buffer.Sum());
      ASSERT_EQ(sum.shape(), Shape({size}));
      COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<float> got, sum.ToVector<float>());
      for (int64_t i = 0; i < size; ++i) {
        ASSERT_EQ(got[i], static_cast<float>(n * (n - 1) / 2 + n * ((i + step) % 1000))) << i;
      }
    }
  }
  EXPECT_EQ(buffer.is_shared(), GetParam());
}

}  // namespace
}  // namespace cooper
