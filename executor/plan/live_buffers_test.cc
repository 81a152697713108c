#include "executor/plan/live_buffers.h"

#include <vector>

#include "executor/plan/tile_plan.h"
#include "executor/program/kernel.h"
#include "executor/program/program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/context.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;

// Returns a program with `count` values of 64 bytes, each in a buffer of its own.
Program WithValues(int count) {
  Program p;
  p.contexts = {Context::Cpu()};
  for (int i = 0; i < count; ++i) {
    p.buffers.push_back({.bytes = 64});
    p.values.push_back({.shape = {16}, .buffer = i});
  }
  return p;
}

void Add(Program& p, const std::vector<int>& inputs, const std::vector<int>& outputs) {
  p.instructions.push_back({.inputs = inputs,
                            .outputs = outputs,
                            .reqs = std::vector<WriteReq>(outputs.size(), WriteReq::kWrite)});
}

// Matches a range of 64 bytes over the steps [first, last] with an alignment of 4.
auto Range(int first, int last) { return FieldsAre(64, first, last, 4); }

TEST(LiveBuffersTest, FromTheFirstUseToTheLast) {
  Program p = WithValues(4);
  p.buffers[0].kind = ProgramBuffer::Kind::kArg;
  Add(p, {0}, {1});
  Add(p, {1}, {2});
  Add(p, {2, 1}, {3});
  p.outputs = {3};
  const LiveBuffers live = FindLiveBuffers(p, nullptr);
  EXPECT_THAT(live.ranges, ElementsAre(ElementsAre(Range(0, 2), Range(1, 2), Range(2, 3))));
  EXPECT_THAT(live.range_of_buffer, ElementsAre(-1, 0, 1, 2));
}

TEST(LiveBuffersTest, WhatIsNotRunOrNotWantedUsesNothing) {
  Program p = WithValues(4);
  Add(p, {}, {0, 1});
  p.instructions[0].reqs[1] = WriteReq::kNull;
  Add(p, {0}, {2});
  p.instructions[1].run = false;
  Add(p, {0}, {3});
  const LiveBuffers live = FindLiveBuffers(p, nullptr);
  EXPECT_THAT(live.ranges, ElementsAre(ElementsAre(Range(0, 2), Range(2, 2))));
  EXPECT_THAT(live.range_of_buffer, ElementsAre(0, -1, -1, 1));
}

TEST(LiveBuffersTest, ValuesOfOneBufferAndOtherContexts) {
  Program p = WithValues(3);
  p.contexts.push_back(Context::Cpu(1));
  p.buffers[2].context = 1;
  p.values.push_back({.shape = {4}, .buffer = 0, .offset = 32});
  Add(p, {}, {0});
  Add(p, {}, {2});
  Add(p, {3}, {1});
  const LiveBuffers live = FindLiveBuffers(p, nullptr);
  EXPECT_THAT(live.ranges,
              ElementsAre(ElementsAre(Range(0, 2), Range(2, 2)), ElementsAre(Range(1, 1))));
  EXPECT_THAT(live.range_of_buffer, ElementsAre(0, 1, 0));
}

TEST(LiveBuffersTest, AChainUsesItsArraysAsLongAsItRuns) {
  Program p = WithValues(5);
  Add(p, {}, {0});
  for (const int i : {1, 2, 3}) {
    Add(p, {i - 1}, {i});
    p.instructions.back().tiles = 0;
  }
  Add(p, {3}, {4});
  TilePlan tiles{.chains = {{.begin = 1, .end = 4}}, .slot_of_buffer = {-1, -1, 0, -1, -1}};
  EXPECT_THAT(FindLiveBuffers(p, &tiles).ranges,
              ElementsAre(ElementsAre(Range(0, 3), Range(1, 3), Range(1, 4), Range(4, 4))));
  EXPECT_THAT(FindLiveBuffers(p, &tiles).range_of_buffer, ElementsAre(0, 1, -1, 2, 3));
  EXPECT_THAT(
      FindLiveBuffers(p, nullptr).ranges,
      ElementsAre(ElementsAre(Range(0, 1), Range(1, 2), Range(2, 3), Range(3, 4), Range(4, 4))));
}

// The alignment of a buffer suits each of its values.
TEST(LiveBuffersTest, TheLargestElementDecides) {
  Program p = WithValues(2);
  p.values.push_back({.shape = {8}, .dtype = DType::kFloat64, .buffer = 0});
  Add(p, {}, {0});
  Add(p, {2}, {1});
  EXPECT_THAT(FindLiveBuffers(p, nullptr).ranges,
              ElementsAre(ElementsAre(FieldsAre(64, 0, 1, 8), FieldsAre(64, 1, 1, 4))));
}

}  // namespace
}  // namespace cooper
