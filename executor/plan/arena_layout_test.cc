#include "executor/plan/arena_layout.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "executor/plan/tile_plan.h"
#include "executor/program/kernel.h"
#include "executor/program/program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

COOPER_REGISTER_OP(_test_layout)
    .Describe("Instructions of the tests.")
    .Shape(SameShape)
    .Type(SameType);

// Returns a program with a chain of `steps` instructions over buffers of 64 bytes. The first buffer
// is an argument.
Program ChainOf(int steps) {
  const auto symbol =
      Symbol::Create("_test_layout", {.name = "node", .inputs = {Symbol::Variable("data")}});
  Program p;
  p.contexts = {Context::Cpu()};
  for (int i = 0; i <= steps; ++i) {
    p.buffers.push_back({.bytes = 64});
    p.values.push_back({.shape = {16}, .buffer = i});
    if (i == 0) continue;
    p.instructions.push_back({.node = symbol->outputs()[0].node,
                              .inputs = {i - 1},
                              .outputs = {i},
                              .reqs = {WriteReq::kWrite}});
  }
  p.buffers[0] = {.kind = ProgramBuffer::Kind::kArg, .slot = 0, .bytes = 64};
  p.outputs = {steps};
  return p;
}

TilePlan NoTiles(const Program& p) {
  return {.chains = {}, .slot_of_buffer = std::vector<int>(p.buffers.size(), -1)};
}

TEST(ArenaLayoutTest, BuffersAndWorkspacesShareTheArenaOfTheirContext) {
  Program p = ChainOf(4);
  // The third instruction and its output are on another context.
  p.contexts.push_back(Context::Cpu(1));
  p.instructions[2].context = 1;
  p.buffers[3].context = 1;
  COOPER_ASSERT_OK_AND_ASSIGN(const ArenaLayout layout,
                              LayOutArenas(p, NoTiles(p), {0, 8192, 100, 0}));
  ASSERT_EQ(layout.regions.size(), 2u);
  EXPECT_THAT(layout.range_of_buffer, ElementsAre(-1, 0, 1, 0, 2));
  EXPECT_THAT(layout.range_of_instruction, ElementsAre(-1, 3, 1, -1));
  EXPECT_EQ(layout.num_ranges(), 6);
  // While the second instruction runs, what it reads, what it writes and its workspace are live.
  EXPECT_EQ(layout.regions[0].plan.arena_size, 64 + 64 + 8192);
  EXPECT_EQ(layout.regions[1].plan.arena_size, 64 + 100);
  EXPECT_EQ(layout.OffsetOf(p, 0), -1) << "the caller's";
  EXPECT_EQ(layout.OffsetOf(0, -1), -1);
  for (const int value : {1, 2, 4}) {
    const int64_t offset = layout.OffsetOf(p, value);
    EXPECT_GE(offset, 0);
    EXPECT_LE(offset + 64, layout.regions[0].plan.arena_size);
  }
  EXPECT_NE(layout.OffsetOf(p, 1), layout.OffsetOf(p, 2));
}

TEST(ArenaLayoutTest, APieceOfAValueLiesInIt) {
  Program p = ChainOf(2);
  p.values[1].offset = 32;
  COOPER_ASSERT_OK_AND_ASSIGN(const ArenaLayout layout, LayOutArenas(p, NoTiles(p), {0, 0}));
  EXPECT_EQ(layout.OffsetOf(p, 1), layout.OffsetOf(0, layout.range_of_buffer[1]) + 32);
}

TEST(ArenaLayoutTest, AChainHasTilesInsteadOfArrays) {
  Program p = ChainOf(3);
  for (const int i : {0, 1}) p.instructions[i].tiles = 0;
  TilePlan tiles = NoTiles(p);
  tiles.chains = {
      {.begin = 0, .end = 2, .steps = {0, 1}, .elements = 16, .slots = 1, .slot_bytes = 16}};
  tiles.slot_of_buffer[1] = 0;
  COOPER_ASSERT_OK_AND_ASSIGN(const ArenaLayout layout, LayOutArenas(p, tiles, {0, 0, 0}));
  EXPECT_EQ(layout.OffsetOf(p, 1), -1) << "nowhere as a whole";
  EXPECT_THAT(layout.range_of_chain, ElementsAre(2));
  EXPECT_EQ(layout.regions[0].ranges[2].size, 16);
  EXPECT_EQ(layout.regions[0].ranges[2].last, 1);
}

TEST(ArenaLayoutTest, OtherSizesFitWhereTheyNeedNoMoreRoom) {
  const Program p = ChainOf(2);
  TilePlan tiles = NoTiles(p);
  tiles.chains = {{.begin = 1, .end = 2, .steps = {1}, .slots = 1, .slot_bytes = 32}};
  COOPER_ASSERT_OK_AND_ASSIGN(const ArenaLayout layout, LayOutArenas(p, tiles, {0, 128}));
  COOPER_EXPECT_OK(CheckFits(p, tiles, {0, 128}, layout));
  Program smaller = p, larger = p;
  smaller.buffers[2].bytes = 60;
  larger.buffers[2].bytes = 68;
  TilePlan long_tiles = tiles;
  long_tiles.chains[0].slot_bytes = 48;
  COOPER_EXPECT_OK(CheckFits(smaller, tiles, {0, 100}, layout));
  const struct {
    const Program& program;
    const TilePlan& tiles;
    std::vector<int64_t> workspace_bytes;
    const char* message;
  } cases[] = {
      {p, tiles, {0, 129}, "the workspace of _test_layout 'node' needs 129 bytes, 128 are planned"},
      {p, tiles, {1, 0}, "the workspace of _test_layout 'node' needs 1 bytes, 0 are planned"},
      {larger, tiles, {0, 0}, "output 0 of _test_layout 'node' needs 68 bytes, 64 are planned"},
      {p, long_tiles, {0, 0}, "a chain of element-wise operators needs 48 bytes, 32 are planned"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(CheckFits(c.program, c.tiles, c.workspace_bytes, layout),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
  }
}

}  // namespace
}  // namespace cooper
