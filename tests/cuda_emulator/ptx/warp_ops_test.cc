#include "tests/cuda_emulator/ptx/warp_ops.h"

#include <cstdint>
#include <ostream>
#include <string>

#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/ptx/test_kernel.h"

namespace cooper::ptx {
namespace {

constexpr uint32_t kPoison = 0xffffffff;

// The body computes %r10 from %r0, the lane; `expected` is its value for each lane.
struct Case {
  std::string name;
  std::string body;
  uint32_t (*expected)(uint32_t lane);
  uint32_t threads = 32;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.body; }

// Sets %r10 = %r11 + 1000 if %p1, else %r11.
#define WITH_PREDICATE " selp.u32 %r10, 1000, 0, %p1; add.u32 %r10, %r10, %r11;"

const Case kCases[] = {
    {"ShflIdx", "shfl.sync.idx.b32 %r11|%p1, %r0, 7, 31, -1;" WITH_PREDICATE,
     [](uint32_t) { return 1007u; }},
    {"ShflUp", "shfl.sync.up.b32 %r11|%p1, %r0, 3, 0, -1;" WITH_PREDICATE,
     [](uint32_t l) { return l < 3 ? l : 1000 + l - 3; }},
    {"ShflDown", "shfl.sync.down.b32 %r11|%p1, %r0, 3, 31, -1;" WITH_PREDICATE,
     [](uint32_t l) { return l > 28 ? l : 1000 + l + 3; }},
    {"ShflBfly", "shfl.sync.bfly.b32 %r11|%p1, %r0, 5, 31, -1;" WITH_PREDICATE,
     [](uint32_t l) { return 1000 + (l ^ 5); }},
    // Segments of 8: c is (32 - 8) << 8, plus a clamp of 7 or 0.
    {"ShflDownInSegments", "shfl.sync.down.b32 %r11|%p1, %r0, 3, 6175, -1;" WITH_PREDICATE,
     [](uint32_t l) { return l % 8 > 4 ? l : 1000 + l + 3; }},
    {"ShflUpInSegments", "shfl.sync.up.b32 %r11|%p1, %r0, 3, 6144, -1;" WITH_PREDICATE,
     [](uint32_t l) { return l % 8 < 3 ? l : 1000 + l - 3; }},
    {"ShflIdxInSegments", "shfl.sync.idx.b32 %r11|%p1, %r0, 13, 6175, -1;" WITH_PREDICATE,
     [](uint32_t l) { return 1000 + l / 8 * 8 + 5; }},
    {"ShflOutsideOfTheMask",
     "setp.ge.u32 %p2, %r0, 16; mov.u32 %r11, 1; @%p2 bra E; "
     "shfl.sync.down.b32 %r11, %r0, 8, 31, 65535; E: mov.u32 %r10, %r11;",
     [](uint32_t l) { return l >= 16 ? 1u
                             : l < 8 ? l + 8
                                     : kPoison; }},
    {"Ballot", "and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 1; vote.sync.ballot.b32 %r10, %p0, -1;",
     [](uint32_t) { return 0xaaaaaaaau; }},
    {"BallotOfSome", "setp.lt.u32 %p0, %r0, 3; vote.sync.ballot.b32 %r10, !%p0, -1;",
     [](uint32_t) { return 0xf8u; }, 8},
    {"VoteAny",
     "setp.eq.u32 %p0, %r0, 9; vote.sync.any.pred %p1, %p0, -1; selp.u32 %r10, 1, 0, %p1;",
     [](uint32_t) { return 1u; }},
    {"VoteAll",
     "setp.ne.u32 %p0, %r0, 9; vote.sync.all.pred %p1, %p0, -1; selp.u32 %r10, 1, 0, %p1;",
     [](uint32_t) { return 0u; }},
    {"VoteUni",
     "setp.gt.u32 %p0, %r0, 99; vote.sync.uni.pred %p1, %p0, -1; selp.u32 %r10, 1, 0, %p1;",
     [](uint32_t) { return 1u; }},
    {"MatchAny", "and.b32 %r1, %r0, 3; match.any.sync.b32 %r10, %r1, -1;",
     [](uint32_t l) { return 0x11111111u << l % 4; }},
    {"MatchAny64", "and.b32 %r1, %r0, 3; mov.b64 %d3, {0, %r1}; match.any.sync.b64 %r10, %d3, -1;",
     [](uint32_t l) { return 0x11111111u << l % 4; }},
    {"MatchAllSame",
     "mov.u32 %r1, 4; match.all.sync.b32 %r11|%p1, %r1, -1; selp.u32 %r10, %r11, 5, %p1;",
     [](uint32_t) { return 0xffffffffu; }},
    {"MatchAllDifferent", "match.all.sync.b32 %r11|%p1, %r0, -1; selp.u32 %r10, 5, %r11, %p1;",
     [](uint32_t) { return 0u; }},
    {"ReduxAdd", "redux.sync.add.u32 %r10, %r0, -1;", [](uint32_t) { return 496u; }},
    {"ReduxMinSigned", "sub.s32 %r1, 5, %r0; redux.sync.min.s32 %r10, %r1, -1;",
     [](uint32_t) { return static_cast<uint32_t>(-26); }},
    {"ReduxMaxUnsigned", "sub.s32 %r1, 5, %r0; redux.sync.max.u32 %r10, %r1, -1;",
     [](uint32_t) { return 0xffffffffu; }},
    {"ReduxXor", "redux.sync.xor.b32 %r10, %r0, -1;", [](uint32_t) { return 0u; }},
    {"ReduxOfHalves",
     "setp.lt.u32 %p0, %r0, 16; selp.b32 %r5, 65535, 4294901760, %p0; "
     "redux.sync.add.u32 %r10, %r0, %r5;",
     [](uint32_t l) { return l < 16 ? 120u : 376u; }},
    {"Elect", "elect.sync %r11|%p1, -1;" WITH_PREDICATE,
     [](uint32_t l) { return l == 0 ? 1000u : 0u; }},
    // The two halves come from different instructions of the same kind.
    {"MeetFromBothBranches",
     "setp.lt.u32 %p0, %r0, 16; @%p0 bra A; shfl.sync.bfly.b32 %r10, %r0, 16, 31, -1; bra E; "
     "A: shfl.sync.bfly.b32 %r10, %r0, 16, 31, -1; E:",
     [](uint32_t l) { return l ^ 16; }},
    {"ActiveMask", "setp.lt.u32 %p0, %r0, 4; mov.u32 %r10, 0; @%p0 activemask.b32 %r10;",
     [](uint32_t l) { return l < 4 ? 15u : 0u; }},
};

class WarpOpsTest : public ::testing::TestWithParam<Case> {};

TEST_P(WarpOpsTest, GivesEachLane) {
  const Case& c = GetParam();
  for (uint32_t seed = 0; seed < 4; ++seed) {
    if (c.name == "ActiveMask" && seed > 0) break;  // lanes are not guaranteed to run together
    TestKernel kernel(c.body +
                      "mul.wide.u32 %d2, %r0, 4; add.s64 %d2, %d0, %d2; "
                      "st.global.u32 [%d2], %r10;");
    kernel.launch.block.x = c.threads;
    kernel.options.seed = seed;
    ASSERT_THAT(kernel.Run(), IsOk());
    for (uint32_t lane = 0; lane < c.threads; ++lane) {
      EXPECT_EQ(kernel.output[lane], c.expected(lane)) << "lane " << lane << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WarpOpsTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cooper::ptx
