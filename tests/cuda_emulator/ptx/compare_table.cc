#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/instruction_table.h"

namespace cooper::ptx {
namespace {

constexpr InstructionCase kCases[] = {
    {"setp.eq.s32 $d, $a, $b", "pred s32 s32", {5, 5}, 1},
    {"setp.ne.u32 $d, $a, $b", "pred u32 u32", {5, 5}, 0},
    {"setp.lt.s32 $d, $a, $b", "pred s32 s32", {0xffffffff, 0}, 1},
    {"setp.lt.u32 $d, $a, $b", "pred u32 u32", {0xffffffff, 0}, 0},
    {"setp.lo.u32 $d, $a, $b", "pred u32 u32", {1, 2}, 1},
    {"setp.ls.u32 $d, $a, $b", "pred u32 u32", {2, 2}, 1},
    {"setp.hi.u32 $d, $a, $b", "pred u32 u32", {2, 2}, 0},
    {"setp.hs.u32 $d, $a, $b", "pred u32 u32", {2, 2}, 1},
    {"setp.le.s64 $d, $a, $b", "pred s64 s64", {0x8000000000000000, 0}, 1},
    {"setp.gt.u64 $d, $a, $b", "pred u64 u64", {0x8000000000000000, 0}, 1},
    {"setp.ge.s16 $d, $a, $b", "pred s16 s16", {0x8000, 0}, 0},
    {"setp.ge.u16 $d, $a, $b", "pred u16 u16", {0x8000, 0}, 1},
    {"setp.eq.b32 $d, $a, -1", "pred b32", {0xffffffff}, 1},
    // Ordered comparisons are false with NaN, unordered ones true.
    {"setp.eq.f32 $d, $a, $b", "pred f32 f32", {0x00000000, 0x80000000}, 1},
    {"setp.eq.f32 $d, $a, $b", "pred f32 f32", {0x7fc00000, 0x7fc00000}, 0},
    {"setp.ne.f32 $d, $a, $b", "pred f32 f32", {0x7fc00000, 0x3f800000}, 0},
    {"setp.lt.f32 $d, $a, $b", "pred f32 f32", {0x7fc00000, 0x3f800000}, 0},
    {"setp.lt.f32 $d, $a, $b", "pred f32 f32", {0xbf800000, 0x3f800000}, 1},
    {"setp.ge.f32 $d, $a, $b", "pred f32 f32", {0x3f800000, 0x3f800000}, 1},
    {"setp.ge.f32 $d, $a, $b", "pred f32 f32", {0x7fc00000, 0x3f800000}, 0},
    {"setp.equ.f32 $d, $a, $b", "pred f32 f32", {0x7fc00000, 0x3f800000}, 1},
    {"setp.neu.f32 $d, $a, $b", "pred f32 f32", {0x7fc00000, 0x3f800000}, 1},
    {"setp.neu.f32 $d, $a, $b", "pred f32 f32", {0x3f800000, 0x3f800000}, 0},
    {"setp.ltu.f32 $d, $a, $b", "pred f32 f32", {0x40000000, 0x3f800000}, 0},
    {"setp.leu.f32 $d, $a, $b", "pred f32 f32", {0x3f800000, 0x7fc00000}, 1},
    {"setp.gtu.f32 $d, $a, $b", "pred f32 f32", {0x40000000, 0x3f800000}, 1},
    {"setp.geu.f32 $d, $a, $b", "pred f32 f32", {0x3f000000, 0x3f800000}, 0},
    {"setp.num.f32 $d, $a, $b", "pred f32 f32", {0x3f000000, 0x3f800000}, 1},
    {"setp.nan.f32 $d, $a, $b", "pred f32 f32", {0x3f000000, 0x7fc00000}, 1},
    {"setp.eq.ftz.f32 $d, $a, $b", "pred f32 f32", {0x00000001, 0x80000000}, 1},
    {"setp.gt.f32 $d, $a, $b", "pred f32 f32", {0x00000001, 0x80000000}, 1},
    {"setp.gt.f64 $d, $a, $b", "pred f64 f64", {0x4000000000000000, 0x3ff0000000000000}, 1},
    {"setp.lt.f16 $d, $a, $b", "pred f16 f16", {0xbc00, 0x3c00}, 1},
    {"setp.geu.bf16 $d, $a, $b", "pred bf16 bf16", {0x7fc0, 0x3f80}, 1},
    // Combined with a predicate; the second result starts from the opposite comparison.
    {"setp.lt.and.s32 $d, $a, $b, $c", "pred s32 s32 pred", {1, 2, 0}, 0},
    {"setp.lt.or.s32 $d, $a, $b, $c", "pred s32 s32 pred", {3, 2, 1}, 1},
    {"setp.lt.xor.s32 $d, $a, $b, $c", "pred s32 s32 pred", {1, 2, 1}, 0},
    {"setp.lt.and.s32 $d, $a, $b, !$c", "pred s32 s32 pred", {1, 2, 0}, 1},
    {"{.reg .pred %q; setp.lt.s32 %q|$d, $a, $b;}", "pred s32 s32", {1, 2}, 0},
    {"{.reg .pred %q; setp.lt.and.s32 %q|$d, $a, $b, $c;}", "pred s32 s32 pred", {3, 2, 1}, 1},
    {"{.reg .pred %q; setp.gt.f16x2 $d|%q, $a, $b;}",
     "pred f16x2 f16x2",
     {0x3c004000, 0x40003c00},
     1},
    {"{.reg .pred %q; setp.gt.f16x2 %q|$d, $a, $b;}",
     "pred f16x2 f16x2",
     {0x3c004000, 0x40003c00},
     0},
    {"set.lt.u32.s32 $d, $a, $b", "u32 s32 s32", {0xffffffff, 1}, 0xffffffff},
    {"set.gt.u32.f32 $d, $a, $b", "u32 f32 f32", {0x3f800000, 0x40000000}, 0},
    {"set.lt.f32.f32 $d, $a, $b", "f32 f32 f32", {0x3f800000, 0x40000000}, 0x3f800000},
    {"set.eq.and.u32.s32 $d, $a, $b, $c", "u32 s32 s32 pred", {1, 1, 0}, 0},
    {"set.gt.f16x2.f16x2 $d, $a, $b", "f16x2 f16x2 f16x2", {0x3c004000, 0x40003c00}, 0x00003c00},
    {"set.gt.bf16x2.bf16x2 $d, $a, $b",
     "bf16x2 bf16x2 bf16x2",
     {0x40003f80, 0x3f804000},
     0x3f800000},
    {"set.gt.u32.f16x2 $d, $a, $b", "u32 f16x2 f16x2", {0x3c004000, 0x40003c00}, 0x0000ffff},
    {"set.gt.f16.f16 $d, $a, $b", "f16 f16 f16", {0x4000, 0x3c00}, 0x3c00},
};

}  // namespace

absl::Span<const InstructionCase> CompareCases() { return kCases; }

}  // namespace cooper::ptx
