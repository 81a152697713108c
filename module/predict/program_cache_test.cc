#include "module/predict/program_cache.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/predict/network_cache.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/name_manager.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// The number of calls of the operator's shape inference.
int shapes_inferred = 0;

COOPER_REGISTER_OP(CountsShapes)
    .Inputs({"data"})
    .Outputs({"output"})
    .Shape([](ShapeContext& c) {
      ++shapes_inferred;
      return SameShape(c);
    })
    .Type(SameType);
COOPER_REGISTER_KERNEL(CountsShapes, DeviceType::kCpu, kAnyDType,
                       [](const KernelContext&) { return absl::OkStatus(); });

KnownShapes Rows(int64_t rows) { return {{"data", {rows, 4}}}; }

ProgramCache::NetworkPtr Network(const Symbol& symbol, int64_t number) {
  return std::make_shared<const CachedNetwork>(
      CachedNetwork{.inference = {.symbol = symbol}, .number = number});
}

// A cache of programs for numbers of rows; `compiles` counts the compilations.
struct Fixture {
  explicit Fixture(size_t capacity = 8) : cache(capacity) {}

  // Returns the rows of the program for `rows`.
  int64_t Get(const ProgramCache::NetworkPtr& of, int64_t rows) {
    const auto compiled = cache.Get(absl::StrCat(of->number, ",", rows), of, Rows(rows), [&] {
      ++compiles;
      return Executor::Compile(of->inference.symbol,
                               {.shapes = Rows(rows), .grad_req = WriteReq::kNull});
    });
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    last = *compiled;
    return last->program().values[last->program().outputs[0]].shape[0];
  }
  int64_t Get(int64_t rows) { return Get(network, rows); }

  const ProgramCache::NetworkPtr network = Network(TwoLayers(), 0);
  ProgramCache::NetworkPtr other = Network(TwoLayers(), 1);
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
  EXPECT_THAT(f.cache.Get("flat", f.network, {{"data", {2}}},
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

// Each number of rows is a program of its own, and there are more of them than the cache holds.
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

// Programs of a network that is gone cannot be requested again, so they are evicted first.
TEST(ProgramCacheTest, ProgramsOfNetworksThatAreGoneGoFirst) {
  Fixture f(/*capacity=*/3);
  f.Get(8);
  f.Get(4);
  const ProgramCache::CompiledPtr copy = f.last;
  f.Get(f.other, 8);
  std::weak_ptr<const CompiledProgram> lost = f.last;
  f.last = nullptr;
  f.other = nullptr;
  f.Get(2);
  EXPECT_TRUE(lost.expired());
  f.Get(4);
  EXPECT_EQ(f.last, copy);
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

// The outputs are row sums: of tanh(data) without its first row, and of its last row. Their shapes
// are equal if the data has two rows.
TEST(ProgramCacheTest, CopiesAreMadeOfThePlanNotOfEachOther) {
  const NameManager names;
  const Symbol whole = Op("tanh", {.inputs = {Symbol::Variable("data")}});
  std::vector<Symbol> outputs;
  for (const char* begin : {"1", "-1"}) {
    const Symbol part =
        Op("slice_axis",
           {.inputs = {whole}, .attrs = {{"axis", "0"}, {"begin", begin}, {"end", "None"}}});
    outputs.push_back(Op("sum", {.inputs = {part}, .attrs = {{"axis", "1"}}}));
  }
  const ProgramCache::NetworkPtr network = Network(*Symbol::Group(outputs), 2);
  Fixture f;
  for (const int64_t rows : {10, 2, 5, 9}) EXPECT_EQ(f.Get(network, rows), rows - 1);
  EXPECT_EQ(f.compiles, 1);
}

// A plan that refuses a size is tried once, not once for each of its copies.
TEST(ProgramCacheTest, APlanIsTriedOnce) {
  const NameManager names;
  const Symbol weight = Symbol::Variable("weight");
  std::vector<Symbol> towers;
  for (const char* name : {"data", "document"}) {
    towers.push_back(
        Op("FullyConnected",
           {.inputs = {Op("CountsShapes", {.inputs = {Symbol::Variable(name)}}), weight},
            .attrs = {{"num_hidden", "5"}, {"no_bias", "True"}}}));
  }
  const ProgramCache::NetworkPtr network = Network(*Symbol::Group(towers), 0);
  // Returns how often shapes are inferred for other rows, after this many copies.
  const auto inferred = [&](int64_t copies) {
    ProgramCache cache(/*capacity=*/8);
    int compiles = 0;
    const auto get = [&](int64_t data, int64_t document) {
      const KnownShapes shapes = {{"data", {data, 4}}, {"document", {document, 4}}};
      const auto compile = [&] {
        ++compiles;
        return Executor::Compile(network->inference.symbol,
                                 {.shapes = shapes, .grad_req = WriteReq::kNull});
      };
      const std::string name = absl::StrCat(data, ",", document);
      COOPER_EXPECT_OK(cache.Get(name, network, shapes, compile).status());
    };
    for (int64_t i = 0; i <= copies; ++i) get(8 - i, 8 - i);
    EXPECT_EQ(compiles, 1);
    const int before = shapes_inferred;
    get(3, 2);
    EXPECT_EQ(compiles, 2) << "the rows of both would be cut into halves";
    return shapes_inferred - before;
  };
  EXPECT_EQ(inferred(/*copies=*/4), inferred(/*copies=*/0));
}

}  // namespace
}  // namespace cooper
