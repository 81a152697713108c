// Tests device functions, and functions that device code calls but does not define.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/ptx/test_kernel.h"

namespace cooper::ptx {
namespace {

using ::testing::HasSubstr;

constexpr char kFunctions[] = R"(
.func (.param .b32 result) twice(.param .b32 x)
{
  .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [result], %a; ret;
}
.func (.param .b32 result) thrice(.param .b32 x)
{
  .reg .b32 %a; ld.param.b32 %a, [x]; mul.lo.u32 %a, %a, 3; st.param.b32 [result], %a; ret;
}
.func (.param .b32 result) factorial(.param .b32 x)
{
  .reg .b32 %a, %b; .reg .pred %p; .local .align 4 .b32 own;
  ld.param.b32 %a, [x]; st.local.u32 [own], %a; st.param.b32 [result], 1;
  setp.eq.u32 %p, %a, 0; @%p ret;
  sub.u32 %b, %a, 1;
  { .param .b32 p; .param .b32 r; st.param.b32 [p], %b; call (r), factorial, (p);
    ld.param.b32 %b, [r]; }
  ld.local.u32 %a, [own]; mul.lo.u32 %a, %a, %b; st.param.b32 [result], %a; ret;
}
.func (.param .b32 result) also_twice(.param .b32 x);
.alias also_twice, twice;
.func fill(.param .b64 where, .param .align 8 .b8 pair[8])
{
  .reg .b64 %w; .reg .b32 %a, %b; ld.param.u64 %w, [where]; ld.param.v2.u32 {%a, %b}, [pair];
  st.u32 [%w], %a; st.u32 [%w+4], %b;
}
.func (.param .b32 result) forever(.param .b32 x)
{
  .reg .b32 %a;
  { .param .b32 p; .param .b32 r; st.param.b32 [p], 1; call (r), forever, (p);
    ld.param.b32 %a, [r]; }
  st.param.b32 [result], %a;
}
.global .align 8 .u64 table[2] = {twice, thrice};
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,
                           .param .b64 s);
.extern .func missing();
.global .align 1 .b8 format[26] = {37, 100, 32, 37, 53, 46, 50, 102, 32, 37, 108, 108, 117, 32, 37,
                                   115, 32, 37, 99, 37, 37, 10};
.global .align 1 .b8 word[3] = {104, 105};
)";

constexpr char kStore[] =
    "mul.wide.u32 %d2, %r0, 4; add.s64 %d2, %d0, %d2; st.global.u32 [%d2], %r10;";

std::string CallOf(const std::string& callee, const std::string& prototype = "") {
  return "{ .param .b32 p; .param .b32 r; st.param.b32 [p], %r0; call (r), " + callee + ", (p)" +
         prototype + "; ld.param.b32 %r10, [r]; }";
}

TEST(CallsTest, PassAndReturn) {
  for (const char* callee : {"twice", "also_twice"}) {
    TestKernel kernel(CallOf(callee) + kStore, kFunctions);
    kernel.launch.block.x = 40;
    ASSERT_THAT(kernel.Run(), IsOk());
    for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(kernel.output[i], 2 * i);
  }
}

TEST(CallsTest, RecursionHasFramesOfItsOwn) {
  // Each lane recurses as deep as its number.
  for (uint32_t seed = 0; seed < 3; ++seed) {
    TestKernel kernel(CallOf("factorial") + kStore, kFunctions);
    kernel.launch.block.x = 11;
    kernel.options.seed = seed;
    ASSERT_THAT(kernel.Run(), IsOk());
    uint32_t factorial = 1;
    for (uint32_t i = 0; i < 11; factorial *= ++i) EXPECT_EQ(kernel.output[i], factorial);
  }
}

TEST(CallsTest, PredicatedCalls) {
  TestKernel kernel(R"(
    mov.u32 %r10, 1; setp.gt.u32 %p0, %r0, 4;
    { .param .b32 p; .param .b32 r; st.param.b32 [p], %r0; st.param.b32 [r], 77;
      @%p0 call (r), twice, (p); ld.param.b32 %r10, [r]; })" +
                        std::string(kStore),
                    kFunctions);
  kernel.launch.block.x = 8;
  ASSERT_THAT(kernel.Run(), IsOk());
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(kernel.output[i], i > 4 ? 2 * i : 77);
}

TEST(CallsTest, StructuresAndPointers) {
  TestKernel kernel(R"(
    .local .align 8 .b8 own[8]; mov.u64 %d4, own; cvta.local.u64 %d4, %d4; add.u32 %r1, %r0, 100;
    { .param .b64 w; .param .align 8 .b8 pair[8]; st.param.u64 [w], %d4;
      st.param.v2.u32 [pair], {%r0, %r1}; call fill, (w, pair); }
    ld.local.u32 %r10, [own+4];)" +
                        std::string(kStore),
                    kFunctions);
  kernel.launch.block.x = 33;
  ASSERT_THAT(kernel.Run(), IsOk());
  for (uint32_t i = 0; i < 33; ++i) EXPECT_EQ(kernel.output[i], 100 + i);
}

TEST(CallsTest, Indirect) {
  // Odd threads call another function than even ones.
  TestKernel kernel(R"(
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    mov.u64 %d3, table; and.b32 %r1, %r0, 1; mul.wide.u32 %d4, %r1, 8; add.s64 %d3, %d3, %d4;
    ld.global.u64 %d5, [%d3];)" +
                        CallOf("%d5", ", P") + kStore,
                    kFunctions);
  kernel.launch.block.x = 32;
  ASSERT_THAT(kernel.Run(), IsOk());
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(kernel.output[i], i % 2 == 0 ? 2 * i : 3 * i);
}

TEST(CallsTest, NestedTooDeeply) {
  TestKernel kernel(CallOf("forever"), kFunctions);
  EXPECT_THAT(kernel.Run(),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("nested too deeply; in forever")));
}

TEST(CallsTest, FunctionsWithoutABody) {
  TestKernel kernel("call missing;", kFunctions);
  EXPECT_THAT(kernel.Run(), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("missing")));
}

TEST(CallsTest, Printf) {
  TestKernel kernel(R"(
    .local .align 8 .b8 a[40]; setp.ne.u32 %p0, %r0, 0; @%p0 ret;
    mov.u64 %d3, a; cvta.local.u64 %d3, %d3;
    st.local.u32 [a], -5; mov.f64 %g0, 0d4009000000000000; st.local.f64 [a+8], %g0;
    mov.b64 %d4, -1; st.local.u64 [a+16], %d4; mov.u64 %d5, word; st.local.u64 [a+24], %d5;
    st.local.u32 [a+32], 120; mov.u64 %d6, format;
    { .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %d6; st.param.b64 [v], %d3;
      call (r), vprintf, (f, v); })",
                    kFunctions);
  kernel.launch.block.x = 2;
  ASSERT_THAT(kernel.Run(), IsOk());
  EXPECT_EQ(kernel.printed, "-5  3.12 18446744073709551615 hi x%\n");
}

TEST(CallsTest, Assertions) {
  TestKernel kernel(R"(
    mov.u64 %d3, word; mov.b64 %d4, 0;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
      st.param.b64 [m], %d3; st.param.b64 [f], %d3; st.param.b32 [l], 12; st.param.b64 [n], %d3;
      st.param.b64 [s], %d4; call __assertfail, (m, f, l, n, s); })",
                    kFunctions);
  EXPECT_THAT(kernel.Run(),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("assertion failed: hi, hi:12")));
}

}  // namespace
}  // namespace cooper::ptx
