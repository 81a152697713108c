#include "tests/cuda_emulator/ptx/run.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/ptx/test_kernel.h"

namespace cooper::ptx {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// %d2 is the address of the thread's output element.
constexpr char kOwn[] = "mul.wide.u32 %d2, %r0, 4; add.s64 %d2, %d0, %d2;\n";

TestKernel Own(const std::string& body, const std::string& declarations = "") {
  return TestKernel(kOwn + body, declarations);
}

TEST(RunTest, ThreadsWriteTheirOwn) {
  TestKernel kernel = Own("mad.lo.s32 %r1, %r0, 3, 7; st.global.u32 [%d2], %r1;");
  kernel.launch.block.x = 4;
  kernel.output.assign(5, 99);
  ASSERT_TRUE(kernel.Run().ok());
  EXPECT_THAT(kernel.output, ElementsAre(7, 10, 13, 16, 99));
}

TEST(RunTest, BranchesJoinAgain) {
  // Odd threads loop tid times; then all vote, so a missing thread would cause a deadlock.
  TestKernel kernel = Own(R"(
    and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; mov.u32 %r2, 100; mov.u32 %r3, 0;
    @%p0 bra JOIN;
    LOOP: add.u32 %r2, %r2, 2; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r0; @%p1 bra LOOP;
    JOIN: activemask.b32 %r4; setp.eq.u32 %p2, %r4, -1; selp.u32 %r5, 1, 0, %p2;
    mad.lo.u32 %r2, %r5, 1000, %r2;
    st.global.u32 [%d2], %r2;)");
  kernel.launch.block.x = 32;
  ASSERT_TRUE(kernel.Run().ok());
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(kernel.output[i], i % 2 == 0 ? 1100 : 1100 + 2 * i) << i;
  }
}

TEST(RunTest, LanesThatWaitForEachOther) {
  // Each lane of the warp takes the lock in turn: spinning lanes must let the holder continue.
  for (uint32_t seed = 0; seed < 4; ++seed) {
    TestKernel kernel(R"(
      SPIN: atom.global.cas.b32 %r1, [%d0], 0, 1; setp.ne.u32 %p0, %r1, 0; @%p0 bra SPIN;
      ld.volatile.global.u32 %r2, [%d0+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d0+4], %r2;
      membar.gl; atom.global.exch.b32 %r1, [%d0], 0;)");
    kernel.launch.block.x = 40;
    kernel.options.seed = seed;
    ASSERT_TRUE(kernel.Run().ok());
    EXPECT_EQ(kernel.output[1], 40u) << seed;
  }
}

TEST(RunTest, BlocksThatWaitForTheOneBefore) {
  // Block i waits until block i - 1 has written: in reverse order (odd seeds) blocks must take
  // turns.
  for (uint32_t seed = 0; seed < 4; ++seed) {
    TestKernel kernel(R"(
      mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE;
      mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d0, %d2; mov.u32 %r2, 1;
      setp.eq.u32 %p0, %r1, 0; @%p0 bra WRITE;
      WAIT: ld.acquire.gpu.global.u32 %r2, [%d2+-4]; setp.eq.u32 %p0, %r2, 0; @%p0 bra WAIT;
      add.u32 %r2, %r2, 1;
      WRITE: st.release.gpu.global.u32 [%d2], %r2;
      DONE:)");
    kernel.launch.block.x = 64;
    kernel.launch.grid.x = 30;
    kernel.options.seed = seed;
    ASSERT_TRUE(kernel.Run().ok());
    for (uint32_t i = 0; i < 30; ++i) EXPECT_EQ(kernel.output[i], i + 1);
  }
}

TEST(RunTest, BarriersOrderSharedMemory) {
  TestKernel kernel = Own(R"(
    .shared .align 4 .b8 s[256];
    mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0;
    bar.sync 0;
    mov.u32 %r4, 252; sub.u32 %r4, %r4, %r2; add.u32 %r4, %r4, %r1; ld.shared.u32 %r5, [%r4];
    st.global.u32 [%d2], %r5;)");
  kernel.launch.block.x = 64;
  for (uint32_t seed = 0; seed < 3; ++seed) {
    kernel.options.seed = seed;
    kernel.options.race_check = kernel.options.unset_check = true;
    ASSERT_TRUE(kernel.Run().ok());
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(kernel.output[i], 63 - i);
  }
  EXPECT_EQ(kernel.counters.barriers, 3);
}

TEST(RunTest, ReducingBarriers) {
  TestKernel kernel = Own(R"(
    setp.lt.u32 %p0, %r0, 10;
    barrier.red.popc.aligned.u32 %r1, 0, %p0;
    bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, %p0; bar.red.and.pred %p3, 0, !%p0;
    selp.u32 %r2, 100, 0, %p1; selp.u32 %r3, 1000, 0, %p2; selp.u32 %r4, 10000, 0, %p3;
    add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;
    st.global.u32 [%d2], %r1;)");
  kernel.launch.block.x = 50;
  kernel.output.assign(50, 0);
  ASSERT_TRUE(kernel.Run().ok());
  EXPECT_THAT(kernel.output, Each(1010));
}

TEST(RunTest, NamedBarriersCountThreads) {
  // Warp 0 produces, warp 1 consumes, with arrive and sync on barrier 3.
  TestKernel kernel = Own(R"(
    .shared .align 4 .b32 s[32];
    mov.u32 %r1, s; and.b32 %r2, %r0, 31; shl.b32 %r2, %r2, 2; add.u32 %r1, %r1, %r2;
    setp.ge.u32 %p0, %r0, 32; @%p0 bra CONSUME;
    st.shared.u32 [%r1], %r0; bar.arrive 3, 64; bra DONE;
    CONSUME: bar.sync 3, 64; ld.shared.u32 %r3, [%r1]; st.global.u32 [%d2], %r3;
    DONE:)");
  kernel.launch.block.x = 64;
  kernel.options.race_check = true;
  for (uint32_t seed = 0; seed < 3; ++seed) {
    kernel.options.seed = seed;
    ASSERT_TRUE(kernel.Run().ok());
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(kernel.output[32 + i], i);
  }
}

TEST(RunTest, CountedBarriersCountWholeWarps) {
  // 40 threads are two warps: lanes that do not exist or have ended count as arrived.
  TestKernel kernel = Own(R"(
    setp.eq.u32 %p0, %r0, 3; @%p0 exit; bar.sync 1, 64; st.global.u32 [%d2], 1;)");
  kernel.launch.block.x = 40;
  ASSERT_THAT(kernel.Run(), IsOk());
  EXPECT_EQ(kernel.output[39], 1u);
}

TEST(RunTest, ThreadsThatEndNeedNotCome) {
  TestKernel kernel = Own(R"(
    setp.ge.u32 %p0, %r0, 20; @%p0 exit; bar.sync 0; st.global.u32 [%d2], 1;)");
  kernel.launch.block.x = 64;
  ASSERT_TRUE(kernel.Run().ok());
  EXPECT_EQ(kernel.output[19], 1u);
  EXPECT_EQ(kernel.output[20], 0u);
}

TEST(RunTest, IndexedBranches) {
  TestKernel kernel = Own(R"(
    T: .branchtargets A, B, C;
    rem.u32 %r1, %r0, 3; brx.idx %r1, T;
    A: mov.u32 %r2, 10; bra E; B: mov.u32 %r2, 20; bra E; C: mov.u32 %r2, 30;
    E: st.global.u32 [%d2], %r2;)");
  kernel.launch.block.x = 4;
  kernel.output.assign(4, 0);
  ASSERT_TRUE(kernel.Run().ok());
  EXPECT_THAT(kernel.output, ElementsAre(10, 20, 30, 10));
}

TEST(RunTest, GridsAndBlocksHaveThreeDimensions) {
  TestKernel kernel(R"(
    mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.y;
    mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;
    mad.lo.u32 %r7, %r3, %r6, %r2; mad.lo.u32 %r7, %r7, %r5, %r1;
    mul.wide.u32 %d2, %r7, 4; add.s64 %d2, %d0, %d2;
    mad.lo.u32 %r8, %r4, 100, %r7; st.global.u32 [%d2], %r8;)");
  kernel.launch.block = {1, 2, 3};
  kernel.launch.grid = {1, 2, 1};
  kernel.output.assign(12, 0);
  ASSERT_TRUE(kernel.Run().ok());
  for (uint32_t i = 0; i < 12; ++i) EXPECT_EQ(kernel.output[i], 200 + i);
}

TEST(RunTest, DynamicSharedMemoryLiesBehindTheStatic) {
  TestKernel kernel(R"(
    .shared .align 4 .b8 own[20];
    mov.u32 %r1, own; mov.u32 %r2, dynamic; mov.u32 %r3, %dynamic_smem_size;
    st.global.u32 [%d0], %r1; st.global.u32 [%d0+4], %r2; st.global.u32 [%d0+8], %r3;
    st.shared.u32 [%r2+12], 5;)",
                    ".extern .shared .align 16 .b8 dynamic[];");
  kernel.launch.dynamic_shared = 16;
  kernel.output.assign(3, 9);
  ASSERT_TRUE(kernel.Run().ok());
  EXPECT_THAT(kernel.output, ElementsAre(0, 32, 16));
  kernel.launch.shared_limit = 47;
  EXPECT_THAT(kernel.Run(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("48 bytes")));
}

TEST(RunTest, RefusesLaunches) {
  TestKernel kernel("");
  kernel.launch.block.x = 1025;
  EXPECT_THAT(kernel.Run(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1024")));
  kernel.launch.block.x = 0;
  EXPECT_THAT(kernel.Run(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
}

TEST(RunTest, CountsWhatIsDone) {
  TestKernel kernel = Own(R"(
    ld.global.f32 %f0, [%d1]; fma.rn.f32 %f1, %f0, %f0, %f0; add.f32 %f1, %f1, %f0;
    st.global.f32 [%d2], %f1; red.global.add.u32 [%d0+256], 1;)");
  kernel.input.assign(1, 0x40000000);
  kernel.output.assign(65, 0);
  kernel.launch.block.x = 64;
  kernel.options.count_transactions = true;
  ASSERT_TRUE(kernel.Run().ok());
  EXPECT_EQ(kernel.output[0], 0x41000000u);  // 8
  const Counters& c = kernel.counters;
  EXPECT_EQ(c.instructions, 64 * 11);
  EXPECT_EQ(c.warp_instructions, 2 * 11);
  EXPECT_EQ(c.flops, 64 * 3);
  EXPECT_EQ(c.global_read_bytes, 64 * 8);
  EXPECT_EQ(c.global_written_bytes, 64 * 8);
  EXPECT_EQ(c.global_atomics, 64);
  EXPECT_EQ(c.global_read_sectors, 2 + 2);
  // The 128 bytes of each warp are 4 sectors, or 5 if the buffer starts within one; the atomics are
  // 1.
  EXPECT_GE(c.global_written_sectors, 2 * 4 + 2);
  EXPECT_LE(c.global_written_sectors, 2 * 5 + 2);
}

TEST(RunTest, CountsBankConflicts) {
  // Lanes 8 bytes apart need two passes, those 128 bytes apart 32; all at one word need one.
  TestKernel kernel(R"(
    .shared .align 4 .b8 s[4096];
    mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 8, %r1; st.shared.u32 [%r2], 1;
    mad.lo.u32 %r2, %r0, 128, %r1; st.shared.u32 [%r2], 1; ld.shared.u32 %r3, [s];)");
  kernel.launch.block.x = 32;
  kernel.options.count_transactions = true;
  ASSERT_TRUE(kernel.Run().ok());
  EXPECT_EQ(kernel.counters.shared_wavefronts, 2 + 32 + 1);
  EXPECT_EQ(kernel.counters.shared_bank_conflicts, 1 + 31);
  EXPECT_EQ(kernel.counters.shared_written_bytes, 256);
}

}  // namespace
}  // namespace cooper::ptx
