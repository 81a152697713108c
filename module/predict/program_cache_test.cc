#include "module/predict/program_cache.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/module_fixtures.h"
#include "module/predict/inference_network.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

KnownShapes Rows(int64_t rows) { return {{"data", {rows, 4}}}; }

// A cache that is asked for numbers of rows, and how often it has compiled.
struct Fixture {
  explicit Fixture(size_t capacity = 8) : cache(capacity) {}

  // The rows of what comes.
  int64_t Get(const InferenceNetwork& of, int64_t rows) {
    const auto compiled =
        cache.Get(absl::StrCat(&of == &network, rows), &of == &network, Rows(rows), [&] {
          ++compiles;
          return Executor::Compile(of.symbol, {.shapes = Rows(rows), .grad_req = WriteReq::kNull});
        });
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    last = *compiled;
    return last->program().values[last->program().outputs[0]].shape[0];
  }
  int64_t Get(int64_t rows) { return Get(network, rows); }

  const InferenceNetwork network = {.symbol = TwoLayers()};
  const InferenceNetwork other = {.symbol = TwoLayers()};
  ProgramCache cache;
  ProgramCache::CompiledPtr last;
  int compiles = 0;
};

TEST(ProgramCacheTest, CompilesWhatGrows) {
  Fixture f;
  EXPECT_EQ(f.Get(4), 4);
  EXPECT_EQ(f.compiles, 1);
  EXPECT_EQ(f.Get(2), 2) << "in the plan of 4 rows";
  EXPECT_EQ(f.compiles, 1);
  EXPECT_EQ(f.Get(5), 5);
  EXPECT_EQ(f.compiles, 2);
}

TEST(ProgramCacheTest, KeepsPrograms) {
  Fixture f;
  f.Get(4);
  const ProgramCache::CompiledPtr first = f.last;
  f.Get(2);
  const ProgramCache::CompiledPtr second = f.last;
  f.Get(4);
  EXPECT_EQ(f.last, first);
  f.Get(2);
  EXPECT_EQ(f.last, second);
}

TEST(ProgramCacheTest, NetworksAreApart) {
  Fixture f;
  f.Get(4);
  EXPECT_EQ(f.Get(f.other, 2), 2);
  EXPECT_EQ(f.compiles, 2);
}

TEST(ProgramCacheTest, OtherRanksAreNotSmaller) {
  Fixture f;
  f.Get(4);
  int compiles = 0;
  EXPECT_THAT(f.cache.Get("flat", /*network=*/1, {{"data", {2}}},
                          [&]() -> absl::StatusOr<ProgramCache::CompiledPtr> {
                            ++compiles;
                            return absl::InvalidArgumentError("no such shape");
                          }),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no such shape")));
  EXPECT_EQ(compiles, 1);
}

TEST(ProgramCacheTest, ForgetsWhatWasAskedForFirst) {
  Fixture f(/*capacity=*/1);
  f.Get(4);
  const ProgramCache::CompiledPtr first = f.last;
  f.Get(2);
  f.Get(4);
  EXPECT_NE(f.last, first);
  EXPECT_EQ(f.compiles, 1) << "in the plan that 2 rows have kept";
  f.Get(f.other, 4);
  f.Get(4);
  EXPECT_EQ(f.compiles, 3);
}

// Every number of rows is a program of its own, and more than are kept come one after the other.
TEST(ProgramCacheTest, KeepsThePlanThatOthersUse) {
  Fixture f(/*capacity=*/2);
  for (const int64_t rows : {8, 1, 2, 3, 4, 5, 6, 7, 3, 8}) EXPECT_EQ(f.Get(rows), rows);
  EXPECT_EQ(f.compiles, 1);
}

TEST(ProgramCacheTest, CopiesGoBeforePlansOfQuietNetworks) {
  Fixture f(/*capacity=*/3);
  f.Get(f.other, 8);
  f.Get(8);
  for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 1, 2, 3}) EXPECT_EQ(f.Get(rows), rows);
  EXPECT_EQ(f.Get(f.other, 4), 4) << "after ten others";
  EXPECT_EQ(f.Get(8), 8);
  EXPECT_EQ(f.compiles, 2);
}

TEST(ProgramCacheTest, PlansThatALargerOneReplacesGoFirst) {
  Fixture f(/*capacity=*/4);
  f.Get(f.other, 8);
  for (int64_t rows = 1; rows <= 8; ++rows) EXPECT_EQ(f.Get(rows), rows);
  EXPECT_EQ(f.compiles, 9) << "each is larger than those before";
  EXPECT_EQ(f.Get(f.other, 4), 4);
  for (int64_t rows = 1; rows <= 8; ++rows) EXPECT_EQ(f.Get(rows), rows);
  EXPECT_EQ(f.compiles, 9);
}

}  // namespace
}  // namespace cooper
