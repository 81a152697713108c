// Tests which errors of kernels a launch reports, and that it reports no false ones.

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/ptx/run.h"
#include "tests/cuda_emulator/ptx/test_kernel.h"

namespace cooper::ptx {
namespace {

using ::testing::HasSubstr;

// In every body, %d2 is the address of the thread's output element, %r1 of its element of `s` in
// shared memory, and %r2 of the next thread's.
constexpr char kPrologue[] = R"(
  .shared .align 16 .b8 s[1024];
  mul.wide.u32 %d2, %r0, 4; add.s64 %d2, %d0, %d2; mov.u32 %r20, s; shl.b32 %r21, %r0, 2;
  add.u32 %r1, %r20, %r21; add.u32 %r2, %r1, 4;
)";

struct Case {
  std::string name;
  std::string body;
  absl::StatusCode code;  // kOk: no error
  std::string message;    // a part of the message
  uint32_t threads = 64;
  bool race_check = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.body; }

constexpr absl::StatusCode kOk = absl::StatusCode::kOk;
constexpr absl::StatusCode kRange = absl::StatusCode::kOutOfRange;
constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr absl::StatusCode kDeadline = absl::StatusCode::kDeadlineExceeded;
constexpr absl::StatusCode kAborted = absl::StatusCode::kAborted;

const Case kCases[] = {
    // Bounds and alignment.
    {"PastTheEnd", "st.global.u32 [%d0], 1; st.global.u32 [%d0+256], 1;", kRange,
     "0 bytes behind an allocation of 256 bytes"},
    {"OverTheEnd", "mov.b64 %d3, 1; st.global.u64 [%d0+252], %d3;", kRange, "a write of 8 bytes"},
    {"BeforeTheStart", "ld.global.u32 %r3, [%d0+-4];", kRange, "no allocation"},
    {"Null", "mov.u64 %d3, 0; ld.u32 %r3, [%d3];", kRange, "a read of 4 bytes at 0x0"},
    {"LastElement", "st.global.u32 [%d0+252], 1;", kOk, ""},
    {"OneThreadOutside", "st.global.u32 [%d2], 1;", kRange, "thread (64, 0, 0)", 65},
    {"Misaligned", "st.global.u32 [%d0+2], 1;", kInvalid, "misaligned"},
    {"MisalignedVector", "ld.global.v2.u32 {%r3, %r4}, [%d0+4];", kInvalid, "misaligned"},
    {"SharedOutside", "st.shared.u32 [s+1024], 1;", kRange, "1024 bytes of shared memory"},
    {"SharedMisaligned", "ld.shared.u16 %h0, [s+1];", kInvalid, "misaligned"},
    {"SharedThroughGeneric",
     "mov.u32 %r3, s; cvt.u64.u32 %d3, %r3; cvta.shared.u64 %d3, %d3; st.u32 [%d3+1024], 1;",
     kRange, "shared memory"},
    {"LocalOutside", ".local .align 4 .b8 l[8]; st.local.u32 [l+8], 1;", kRange,
     "the thread's local memory"},
    {"LocalThroughGeneric",
     ".local .align 8 .b8 l[8]; mov.u64 %d3, l; cvta.local.u64 %d3, %d3; st.u32 [%d3+4], 1;", kOk,
     ""},
    {"BranchIndex", "T: .branchtargets A, B; brx.idx %r0, T; A: B:", kRange, "branch 2 of 2"},
    {"CallOfNoFunction", "P: .callprototype () _ (); mov.u64 %d3, 64; call %d3, P;", kRange,
     "no function"},
    // Races.
    {"NeighbourUnordered", "st.shared.u32 [%r1], %r0; ld.shared.u32 %r3, [%r2];", kPrecondition,
     "wrote at PTX line", 64, true},
    {"NeighbourAfterBarrier", "st.shared.u32 [%r1], %r0; bar.sync 0; ld.shared.u32 %r3, [%r2];",
     kOk, "", 64, true},
    {"WriteAfterRead", "ld.shared.u32 %r3, [%r2]; st.shared.u32 [%r1], %r0;", kPrecondition, "race",
     64, true},
    {"WriteTwice", "st.shared.u32 [s], %r0;", kPrecondition, "race", 2, true},
    {"AtomicTwice", "red.shared.add.u32 [s], 1;", kOk, "", 64, true},
    {"AtomicThenPlain", "red.shared.add.u32 [s], 1; ld.shared.u32 %r3, [s];", kPrecondition, "race",
     64, true},
    {"ReadTwice", "ld.shared.u32 %r3, [s];", kOk, "", 64, true},
    {"GlobalNeighbour",
     "setp.eq.u32 %p0, %r0, 63; @%p0 exit; st.global.u32 [%d2], 1; ld.global.u32 %r3, [%d2+4];",
     kPrecondition, "race", 64, true},
    {"GlobalAfterBarrier", "st.global.u32 [%d2], 1; bar.sync 0; ld.global.u32 %r3, [%d0];", kOk, "",
     64, true},
    {"GlobalVolatile", "ld.volatile.global.u32 %r3, [%d0]; st.volatile.global.u32 [%d0], 1;", kOk,
     "", 64, true},
    {"BytesOfOneWord", "add.u32 %r3, %r20, %r0; cvt.u16.u32 %h0, %r0; st.shared.u8 [%r3], %h0;",
     kOk, "", 64, true},
    {"BytesThenWord",
     "add.u32 %r3, %r20, %r0; cvt.u16.u32 %h0, %r0; st.shared.u8 [%r3], %h0; ld.shared.u32 %r4, "
     "[s];",
     kPrecondition, "race", 64, true},
    {"WarpSyncOrders", "st.shared.u32 [%r1], %r0; bar.warp.sync -1; ld.shared.u32 %r3, [%r2];", kOk,
     "", 32, true},
    {"WarpSyncIsNoBlockBarrier",
     "st.shared.u32 [%r1], %r0; bar.warp.sync -1; ld.shared.u32 %r3, [%r2];", kPrecondition, "race",
     64, true},
    {"HalfWarpsSync",
     // Lanes 0-15 and 16-31 synchronise separately: lane 15 reads the value of lane 16.
     "setp.lt.u32 %p0, %r0, 16; selp.b32 %r5, 65535, 4294901760, %p0; st.shared.u32 [%r1], %r0; "
     "bar.warp.sync %r5; ld.shared.u32 %r3, [%r2];",
     kPrecondition, "race", 32, true},
    {"HalfWarpsWithin",
     "setp.lt.u32 %p0, %r0, 16; selp.b32 %r5, 65535, 4294901760, %p0; st.shared.u32 [%r1], %r0; "
     "bar.warp.sync %r5; xor.b32 %r6, %r21, 4; add.u32 %r6, %r6, %r20; ld.shared.u32 %r3, [%r6];",
     kOk, "", 32, true},
    {"ShuffleOrders",
     "st.shared.u32 [%r1], %r0; shfl.sync.idx.b32 %r3, %r0, 0, 31, -1; ld.shared.u32 %r3, [%r2];",
     kOk, "", 32, true},
    {"OwnData", "st.shared.u32 [%r1], %r0; ld.shared.u32 %r3, [%r1]; st.shared.u32 [%r1], %r3;",
     kOk, "", 64, true},
    // Waiting at barriers.
    {"DivergentBarriers",
     "setp.lt.u32 %p0, %r0, 40; @%p0 bra A; bar.sync 0; bra B; A: bar.sync 0; B:", kPrecondition,
     "different barriers; others at PTX line"},
    {"UnalignedBarriers",
     "setp.lt.u32 %p0, %r0, 40; @%p0 bra A; barrier.sync 0; bra B; A: barrier.sync 0; B:", kOk, ""},
    {"BarrierOfSome", "setp.lt.u32 %p0, %r0, 40; @%p0 bar.sync 0; @!%p0 bar.sync 1;", kDeadline,
     "for ever"},
    {"HalfTheMask",
     "setp.lt.u32 %p0, %r0, 16; @%p0 shfl.sync.idx.b32 %r3, %r0, 0, 31, -1; bar.sync 0;", kDeadline,
     "with mask ffffffff"},
    {"MaskWithoutItself", "shfl.sync.idx.b32 %r3, %r0, 0, 31, 1;", kInvalid,
     "leaves out the thread itself"},
    {"DifferentMasks",
     "setp.lt.u32 %p0, %r0, 16; selp.b32 %r5, -1, 4294901760, %p0; bar.warp.sync %r5; bar.sync 0;",
     kDeadline, "for ever", 32},
    {"EndedLanesAreNotWaitedFor", "setp.gt.u32 %p0, %r0, 9; @%p0 exit; bar.warp.sync -1;", kOk, ""},
    {"CountOfBarrier", "bar.sync 1, 33;", kInvalid, "no multiple of 32"},
    {"NumberOfBarrier", "bar.sync 16;", kInvalid, "16"},
    {"Trap", "setp.eq.u32 %p0, %r0, 33; @%p0 trap;", kAborted,
     "trap; in k, block (0, 0, 0), thread (33"},
    {"Endless", "A: bra A;", kDeadline, "instructions"},
};

class ChecksTest : public ::testing::TestWithParam<Case> {};

TEST_P(ChecksTest, Finds) {
  const Case& c = GetParam();
  for (uint32_t seed = 0; seed < 5; ++seed) {
    TestKernel kernel(kPrologue + c.body);
    kernel.launch.block.x = c.threads;
    kernel.options.seed = seed;
    kernel.options.race_check = c.race_check;
    kernel.options.max_instructions = 1000000;
    const absl::Status status = kernel.Run();
    if (c.code == kOk) {
      EXPECT_THAT(status, IsOk()) << seed;
    } else if (c.name == "OneThreadOutside" || c.name == "Trap" || seed == 0) {
      EXPECT_THAT(status, StatusIs(c.code, HasSubstr(c.message))) << seed;
    } else {  // another thread may be found first, and another half of the race
      EXPECT_EQ(status.code(), c.code) << status;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ChecksTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(UnsetTest, SharedMemoryThatNobodyWrote) {
  TestKernel kernel(std::string(kPrologue) +
                    "setp.lt.u32 %p0, %r0, 8; @%p0 st.shared.u32 [%r1], 5; bar.sync 0; "
                    "ld.shared.u32 %r3, [%r1]; st.global.u32 [%d2], %r3;");
  kernel.launch.block.x = 9;
  ASSERT_THAT(kernel.Run(), IsOk());
  EXPECT_EQ(kernel.output[7], 5u);
  EXPECT_EQ(kernel.output[8], 0xffffffffu);  // a NaN
  kernel.options.unset_check = true;
  EXPECT_THAT(kernel.Run(), StatusIs(kPrecondition, HasSubstr("never written")));
  kernel.launch.block.x = 8;
  EXPECT_THAT(kernel.Run(), IsOk());
}

TEST(ErrorsTest, NameWhereTheyAre) {
  TestKernel kernel("\nmov.u32 %r1, 5;\nst.global.u32 [%d0+400], %r1;");
  kernel.launch.grid.y = 2;
  const absl::Status status = kernel.Run();
  EXPECT_THAT(status, StatusIs(kRange, HasSubstr("in k, block (0, 0, 0), thread (0, 0, 0)")));
  EXPECT_THAT(status, StatusIs(kRange, HasSubstr("PTX line 12: st.global.u32 [%d0+400], %r1")));
}

}  // namespace
}  // namespace cooper::ptx
