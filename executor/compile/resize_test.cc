// Tests CompiledProgram::Resize: programs for smaller shapes in the plan of larger ones compute
// what programs compiled for these shapes do, or are refused.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/compile/compiled_program.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

std::vector<std::vector<float>> Run(Executor& executor) {
  uint64_t seed = 1;
  for (const std::string& name : executor.arg_names()) FillRandom(executor.arg(name), seed++);
  COOPER_EXPECT_OK(executor.Forward(/*is_train=*/false));
  const auto outputs = executor.outputs();
  std::vector<std::vector<float>> values;
  for (const NDArray& output : *outputs) values.push_back(Floats(output));
  return values;
}

// Expects that an executor for the shapes of `plan`, reshaped to each of `sizes` after the other,
// computes what an executor does that is bound for these shapes.
void ExpectReshapes(const Symbol& net, const KnownShapes& plan,
                    const std::vector<KnownShapes>& sizes) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      std::unique_ptr<Executor> executor,
      Executor::SimpleBind(net, {.shapes = plan, .grad_req = WriteReq::kNull}));
  Run(*executor);
  for (const KnownShapes& shapes : sizes) {
    SCOPED_TRACE(shapes.at("data").ToString());
    COOPER_ASSERT_OK_AND_ASSIGN(
        executor, executor->Reshape(shapes, /*partial_shaping=*/true, /*allow_up_sizing=*/true));
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto own, Executor::SimpleBind(net, {.shapes = shapes, .grad_req = WriteReq::kNull}));
    const auto actual = Run(*executor), expected = Run(*own);
    ASSERT_EQ(actual.size(), expected.size());
    // Products of other extents may add in another order.
    for (size_t i = 0; i < actual.size(); ++i) {
      EXPECT_THAT(actual[i], Pointwise(FloatNear(1e-5F), expected[i])) << i;
    }
  }
}

// Returns two towers: one layer, applied to two inputs.
std::vector<Symbol> Towers() {
  const Symbol weight = Symbol::Variable("weight"), bias = Symbol::Variable("bias");
  std::vector<Symbol> towers;
  for (const char* name : {"data", "document"}) {
    towers.push_back(Op("FullyConnected", {.inputs = {Symbol::Variable(name), weight, bias},
                                           .attrs = {{"num_hidden", "5"}}}));
  }
  return towers;
}

KnownShapes Rows(int64_t data, int64_t document) {
  return {{"data", PartialShape({data, 10})}, {"document", PartialShape({document, 10})}};
}

// The pass batched_products concatenates the rows of both towers and splits the result into halves,
// so their numbers of rows must stay equal.
TEST(ResizeTest, TowersKeepTheirRows) {
  const NameManager names;
  const Symbol net = *Symbol::Group(Towers());
  ExpectReshapes(net, Rows(4, 4), {Rows(2, 4), Rows(3, 1), Rows(2, 2)});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto compiled,
                              CompiledProgram::Compile(net, {.shapes = Rows(4, 4)}));
  COOPER_EXPECT_OK(compiled->Resize(Rows(2, 2)).status());
  EXPECT_THAT(compiled->Resize(Rows(2, 4)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'fullyconnected0' has shape (2, 5), but what it was planned as "
                                 "would have (3, 5)")));
}

// Tests towers whose outputs are sums, so that the shapes of outputs do not show different numbers
// of rows.
TEST(ResizeTest, TowersKeepTheirRowsWhereSumsAreTheOutputs) {
  const NameManager names;
  std::vector<Symbol> sums;
  for (const Symbol& tower : Towers()) sums.push_back(Op("sum", {.inputs = {tower}}));
  ExpectReshapes(*Symbol::Group(sums), Rows(4, 4), {Rows(2, 4), Rows(1, 1)});
}

// Returns, for each pair, the sum over rows [begin, end) of tanh(data).
Symbol Slices(const std::vector<std::pair<const char*, const char*>>& rows) {
  const Symbol whole = Op("tanh", {.inputs = {Symbol::Variable("data")}});
  std::vector<Symbol> outputs;
  for (const auto& [begin, end] : rows) {
    const Symbol part =
        Op("slice_axis",
           {.inputs = {whole}, .attrs = {{"axis", "0"}, {"begin", begin}, {"end", end}}});
    outputs.push_back(Op("sum", {.inputs = {part}, .attrs = {{"axis", "1"}}}));
  }
  return *Symbol::Group(outputs);
}

KnownShapes Data(int64_t rows) { return {{"data", PartialShape({rows, 16})}}; }

// The slices [5:] and [-5:] are the same rows of ten, but not of eight.
TEST(ResizeTest, PiecesInOnePlaceByChanceComeApart) {
  const NameManager names;
  const Symbol net = Slices({{"5", "None"}, {"-5", "None"}});
  ExpectReshapes(net, Data(10), {Data(8), Data(10)});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto compiled,
                              CompiledProgram::Compile(net, {.shapes = Data(10)}));
  EXPECT_THAT(compiled->Resize(Data(8)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("where another piece does")));
}

// The slices [1:] and [-1:] are the same row of two, but not the same rows of more.
TEST(ResizeTest, PiecesComeApartWhereAResizedProgramGrowsAgain) {
  const NameManager names;
  const Symbol net = Slices({{"1", "None"}, {"-1", "None"}});
  ExpectReshapes(net, Data(10), {Data(2), Data(5), Data(9)});
}

// A column of an array with one row is contiguous. With several rows it is not.
TEST(ResizeTest, PiecesThatWouldHaveGapsAreRefused) {
  const NameManager names;
  const Symbol whole = Op("tanh", {.inputs = {Symbol::Variable("data")}});
  const Symbol part = Op(
      "slice_axis", {.inputs = {whole}, .attrs = {{"axis", "1"}, {"begin", "0"}, {"end", "16"}}});
  const Symbol net = Op("sum", {.inputs = {part}, .attrs = {{"axis", "1"}}});
  ExpectReshapes(net, {{"data", PartialShape({1, 64})}}, {{{"data", PartialShape({2, 32})}}});
}

// Tiles are as long as the plan allows, even after a Resize to a size with shorter tiles.
TEST(ResizeTest, TilesGrowAgain) {
  const NameManager names;
  const Symbol net = Op("exp", {.inputs = {Op("tanh", {.inputs = {Symbol::Variable("data")}})}});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto planned,
                              CompiledProgram::Compile(net, {.shapes = Data(200)}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto once, planned->Resize(Data(150)));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto small, planned->Resize(Data(1)));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto again, small->Resize(Data(150)));
  ASSERT_EQ(once->tiles().chains.size(), 1u);
  EXPECT_LT(small->tiles().chains[0].tile_elements, once->tiles().chains[0].tile_elements);
  EXPECT_EQ(again->tiles().chains[0].tile_elements, once->tiles().chains[0].tile_elements);
}

}  // namespace
}  // namespace cooper
