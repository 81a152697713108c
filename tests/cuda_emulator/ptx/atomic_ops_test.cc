// Tests atom and red: the final value in memory and the result of the first thread.

#include <cstdint>
#include <ostream>
#include <string>

#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/ptx/test_kernel.h"

namespace cooper::ptx {
namespace {

// Some threads run `op` on 8 bytes that hold `before`; %r0 is the thread.
struct Case {
  std::string op;  // "P" stands for the address
  uint64_t before;
  uint64_t after;
  uint32_t threads = 1;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.op; }

const Case kCases[] = {
    {"red.S.add.u32 [P], %r0", 5, 5 + 496, 32},
    {"red.S.add.s32 [P], -1", 5, 0xfffffffd, 8},
    {"red.S.add.u64 [P], %d9", 0xffffffff, 0x100000000 + 8, 9},
    {"red.S.add.f32 [P], 0f3F800000", 0x3f800000, 0x40400000, 2},
    {"red.S.add.f64 [P], 0d3FF0000000000000", 0x3ff0000000000000, 0x4008000000000000, 2},
    {"red.S.add.noftz.f16 [P], %h9", 0x3c00, 0x4200, 2},
    {"red.S.add.noftz.bf16 [P], %h10", 0x3f80, 0x4040, 2},
    {"red.S.add.noftz.f16x2 [P], %r9", 0x3c004000, 0x40004200},
    {"red.S.add.noftz.bf16x2 [P], %r10", 0x3f804000, 0x40004040},
    {"red.S.min.s32 [P], -3", 2, 0xfffffffd},
    {"red.S.min.u32 [P], -3", 2, 2},
    {"red.S.max.s32 [P], -3", 2, 2},
    {"red.S.max.u32 [P], -3", 2, 0xfffffffd},
    {"red.S.max.s64 [P], %d9", 0xffffffffffffffff, 1},
    {"red.S.max.u64 [P], %d9", 0xffffffffffffffff, 0xffffffffffffffff},
    {"red.S.and.b32 [P], 12", 10, 8},
    {"red.S.or.b32 [P], 12", 10, 14},
    {"red.S.xor.b64 [P], %d9", 3, 2},
    {"red.S.inc.u32 [P], 3", 2, 3},
    {"red.S.inc.u32 [P], 3", 3, 0},
    {"red.S.inc.u32 [P], 3", 9, 0},
    {"red.S.dec.u32 [P], 3", 0, 3},
    {"red.S.dec.u32 [P], 3", 2, 1},
    {"red.S.dec.u32 [P], 3", 9, 3},
    {"atom.S.exch.b32 %r8, [P], 7", 5, 7},
    {"atom.S.exch.b64 %d8, [P], %d9", 5, 1},
    {"atom.S.cas.b32 %r8, [P], 5, 9", 5, 9},
    {"atom.S.cas.b32 %r8, [P], 4, 9", 5, 5},
    {"atom.S.cas.b64 %d8, [P], %d7, %d9", 5, 1},
    {"atom.S.cas.b16 %h8, [P], %h7, %h9", 5, 0x3c00},
    {"atom.acq_rel.gpu.S.add.u32 %r8, [P], 2", 5, 7},
    {"atom.relaxed.sys.S.max.s32 %r8, [P], 100", 5, 100},
    {"atom.S.add.u32 _, [P], 2", 5, 7},
};

class AtomicTest : public ::testing::TestWithParam<Case> {};

TEST_P(AtomicTest, ChangesMemory) {
  const Case& c = GetParam();
  for (const std::string space : {"global", "shared", ""}) {
    std::string op = c.op;
    op.replace(op.find(".S."), 3, space.empty() ? "." : "." + space + ".");
    op.replace(op.find("[P]"), 3, space == "shared" ? "[s]" : "[%d0]");
    TestKernel kernel(
        ".shared .align 8 .b8 s[8]; mov.b64 %d9, 1; mov.b64 %d7, 5; mov.b16 %h7, 5;\n"
        "mov.b16 %h9, 0x3c00; mov.b16 %h10, 0x3f80; mov.b32 %r9, 0x3c003c00; "
        "mov.b32 %r10, 0x3f803f80;\n"
        "setp.eq.u32 %p0, %r0, 0; ld.global.u64 %d3, [%d0]; @%p0 st.shared.u64 [s], %d3; "
        "bar.sync 0;\n" +
        op + ";\nbar.sync 0; ld.shared.u64 %d3, [s]; " +
        (space == "shared" ? "@%p0 st.global.u64 [%d0], %d3;" : ""));
    kernel.launch.block.x = c.threads;
    kernel.output = {static_cast<uint32_t>(c.before), static_cast<uint32_t>(c.before >> 32)};
    kernel.options.race_check = true;
    ASSERT_THAT(kernel.Run(), IsOk()) << op;
    EXPECT_EQ(kernel.output[0] | uint64_t{kernel.output[1]} << 32, c.after) << op;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AtomicTest, ::testing::ValuesIn(kCases));

TEST(AtomicsTest, GivesTheOldValue) {
  TestKernel kernel(R"(
    atom.global.add.u32 %r1, [%d0+256], 1;
    mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d0, %d2; red.global.add.u32 [%d2], 1;)");
  kernel.output.assign(65, 0);
  kernel.launch.block.x = 64;
  kernel.options.seed = 7;
  ASSERT_THAT(kernel.Run(), IsOk());
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(kernel.output[i], 1u) << i;  // each number once
}

TEST(AtomicsTest, Vectors) {
  TestKernel kernel("mov.f32 %f0, 0f3F800000; red.global.add.v2.f32 [%d0+8], {%f0, %f0};");
  kernel.launch.block.x = 2;
  ASSERT_THAT(kernel.Run(), IsOk());
  EXPECT_EQ(kernel.output[2], 0x40000000u);
  EXPECT_EQ(kernel.output[3], 0x40000000u);
}

}  // namespace
}  // namespace cooper::ptx
