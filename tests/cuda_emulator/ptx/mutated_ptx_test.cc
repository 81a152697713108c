// Tests that texts that are truncated or changed at random are rejected or run, without memory
// errors. A failure prints its seed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tests/cuda_emulator/ptx/instruction_table.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/run.h"
#include "tests/cuda_emulator/ptx/test_kernel.h"

namespace cooper::ptx {
namespace {

constexpr char kDeclarations[] = R"(
.global .align 8 .u64 table[2] = {other, 7};
.const .align 4 .b32 other[4] = {1, 2, 3, -4};
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 r) f(.param .b32 x, .param .align 8 .b8 y[16])
{ .reg .b32 %a; .local .align 4 .b8 l[16]; ld.param.u32 %a, [x]; st.local.u32 [l+4], %a;
  ld.param.u32 %a, [y+12]; st.param.u32 [r], %a; ret; }
)";

constexpr char kBody[] = R"(
  .shared .align 8 .b8 s[256]; .reg .pred %q; .reg .b64 %z<3>;
  T: .branchtargets A, B;
  P: .callprototype (.param .b32 _) _ (.param .b32 _);
  mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 4, %r1; st.shared.u32 [%r2], %r0; bar.sync 0;
  setp.lt.and.u32 %p0|%p1, %r0, 7, !%p2; @%p0 bra A; brx.idx %r0, T;
  A: shfl.sync.down.b32 %r3|%p3, %r0, 3, 31, -1; vote.sync.ballot.b32 %r4, %p0, -1;
  B: ld.global.v2.u32 {%r5, %r6}, [%d0+8]; atom.global.add.u32 %r7, [%d0], 1;
  { .param .b32 p; .param .align 8 .b8 q[16]; .param .b32 r; st.param.b32 [p], %r0;
    call (r), f, (p, q); ld.param.b32 %r8, [r]; }
  mov.b64 %d3, {%r7, %r8}; cvt.rn.f32.s64 %f1, %d3; fma.rn.ftz.f32 %f2, %f1, 0f3F800000, %f1;
  mov.u64 %d4, table; ld.global.u64 %d5, [%d4]; ld.const.u32 %r9, [other+4];
  cvta.to.shared.u64 %d6, %d4; isspacep.shared %p4, %d6; cp.async.ca.shared.global [s], [%d0], 4;
  barrier.red.popc.aligned.u32 %r9, 0, %p4; mov.u32 %r10, %clock; mov.u64 %d7, %globaltimer;
  @!%p4 st.global.u32 [%d0+4], %r9; prmt.b32 %r11, %r9, %r10, 0x3210; bar.warp.sync -1;
  lop3.b32 %r12, %r9, %r10, %r11, 0x96; add.cc.u32 %r13, %r12, %r11; addc.u32 %r14, %r13, 0;
)";

void ParseAndRun(std::string text) {
  absl::StatusOr<std::unique_ptr<Module>> module = Module::Parse(std::move(text));
  if (!module.ok()) return;
  std::vector<std::vector<uint8_t>> memory;
  std::vector<uint64_t> addresses;
  for (const Variable& variable : (*module)->variables()) {
    if (variable.size > (1 << 20)) return;
    memory.emplace_back(variable.size + 16);
    addresses.push_back((reinterpret_cast<uint64_t>(memory.back().data()) + 15) / 16 * 16);
  }
  std::vector<uint64_t> buffer(64);
  const uint64_t begin = reinterpret_cast<uint64_t>(buffer.data());
  for (const Function& function : (*module)->functions()) {
    if (!(*module)->Describe(function.name).ok() || !function.entry) continue;
    Launch launch;
    launch.block.x = 40;
    launch.dynamic_shared = 64;
    launch.variables = addresses;
    Options options;
    options.max_instructions = 20000;
    options.race_check = options.unset_check = options.count_transactions = true;
    options.print = [](std::string_view) {};
    std::vector<uint64_t> params(function.param_bytes / 8 + 1, begin);
    const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(params.data()),
                                          8 * params.size());
    const FindExtent find = [&](uint64_t) { return Extent{begin, begin + 8 * buffer.size()}; };
    Run(**module, function.name, launch, bytes, find, options).IgnoreError();
  }
}

std::string Sample(uint32_t which) {
  return which % 4 != 0 ? KernelText(kBody, kDeclarations)
                        : InstructionText((which % 8 == 0 ? BitCases() : ConvertCases()));
}

TEST(MutatedPtxTest, IsWholeToBeginWith) {
  absl::StatusOr<std::unique_ptr<Module>> module = Module::Parse(Sample(1));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE((*module)->Describe("k").ok()) << (*module)->Describe("k").status();
}

TEST(MutatedPtxTest, CutOffAnywhere) {
  const std::string text = Sample(1);
  for (size_t length = 0; length < text.size(); length += 3) ParseAndRun(text.substr(0, length));
  // Truncates within the body, and closes it again.
  for (size_t length = text.find("T:"); length < text.size(); length += 5) {
    ParseAndRun(text.substr(0, length) + ";\n}\n");
  }
}

TEST(MutatedPtxTest, ChangedAtRandom) {
  constexpr char kCharacters[] = "0123456789%rdpfx.,;:{}[]()+-@!|<>_ \"/*\n=abus";
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string text = Sample(seed);
    for (uint32_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % text.size();
      const size_t other = random() % text.size();
      const size_t length = 1 + random() % 12;
      switch (random() % 4) {
        case 0:
          text[at] = kCharacters[random() % (sizeof(kCharacters) - 1)];
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, text.substr(other, length));
          break;
        default:
          text.replace(at, length, text.substr(other, length));
          break;
      }
    }
    ParseAndRun(std::move(text));
  }
}

}  // namespace
}  // namespace cooper::ptx
