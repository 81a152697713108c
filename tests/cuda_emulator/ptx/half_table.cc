#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/instruction_table.h"

namespace cooper::ptx {
namespace {

// f16: 0x3c00 is 1, 0x7c00 infinity, 0x7bff 65504, 0x0001 2^-24; one step at 1 is 2^-10.
// bf16: 0x3f80 is 1, one step there is 2^-7. The NaN of both is 0x7fff.
constexpr InstructionCase kCases[] = {
    {"add.f16 $d, $a, $b", "f16 f16 f16", {0x3c00, 0x4000}, 0x4200},
    {"add.rn.f16 $d, $a, $b", "f16 f16 f16", {0x3c00, 0x1000}, 0x3c00},  // 1 + 2^-11, a tie
    {"add.rn.f16 $d, $a, $b", "f16 f16 f16", {0x3c01, 0x1000}, 0x3c02},
    {"add.f16 $d, $a, $b", "f16 f16 f16", {0x7bff, 0x7bff}, 0x7c00},
    {"add.f16 $d, $a, $b", "f16 f16 f16", {0x7c00, 0xfc00}, 0x7fff},
    {"add.f16 $d, $a, $b", "f16 f16 f16", {0x0001, 0x0001}, 0x0002},
    {"add.ftz.f16 $d, $a, $b", "f16 f16 f16", {0x0001, 0x3c00}, 0x3c00},
    {"add.ftz.f16 $d, $a, $b", "f16 f16 f16", {0x8001, 0x8001}, 0x8000},
    {"add.sat.f16 $d, $a, $b", "f16 f16 f16", {0x3c00, 0x3c00}, 0x3c00},
    {"add.sat.f16 $d, $a, $b", "f16 f16 f16", {0x7e00, 0x3c00}, 0},
    {"sub.f16 $d, $a, $b", "f16 f16 f16", {0x3c00, 0x4000}, 0xbc00},
    {"mul.f16 $d, $a, $b", "f16 f16 f16", {0x4200, 0xc000}, 0xc600},
    {"mul.f16 $d, $a, $b", "f16 f16 f16", {0x0400, 0x3800}, 0x0200},
    // 2^-12 * 2^-13 is half of the least number, a tie that goes to zero; anything greater gives
    // the least number.
    {"mul.f16 $d, $a, $b", "f16 f16 f16", {0x0c00, 0x0800}, 0x0000},
    {"mul.f16 $d, $a, $b", "f16 f16 f16", {0x0c01, 0x0800}, 0x0001},
    {"fma.rn.f16 $d, $a, $b, $c", "f16 f16 f16 f16", {0x3c01, 0x3c01, 0xbc02}, 0x0010},
    // 65504 * 1 + 2^-24: only the small term is lost.
    {"fma.rn.f16 $d, $a, $b, $c", "f16 f16 f16 f16", {0x7bff, 0x3c00, 0x0001}, 0x7bff},
    // 1 + 2^-11 is a tie; 1 + 2^-11 + 2^-21 is above the tie.
    {"fma.rn.f16 $d, $a, $b, $c", "f16 f16 f16 f16", {0x1000, 0x3c00, 0x3c00}, 0x3c00},
    {"fma.rn.f16 $d, $a, $b, $c", "f16 f16 f16 f16", {0x1001, 0x3c00, 0x3c00}, 0x3c01},
    {"fma.rn.relu.f16 $d, $a, $b, $c", "f16 f16 f16 f16", {0xbc00, 0x3c00, 0}, 0},
    {"neg.f16 $d, $a", "f16 f16", {0x3c00}, 0xbc00},
    {"abs.f16 $d, $a", "f16 f16", {0xbc00}, 0x3c00},
    {"min.f16 $d, $a, $b", "f16 f16 f16", {0x7e00, 0x3c00}, 0x3c00},
    {"min.NaN.f16 $d, $a, $b", "f16 f16 f16", {0x7e00, 0x3c00}, 0x7fff},
    {"max.f16 $d, $a, $b", "f16 f16 f16", {0x8000, 0x0000}, 0},
    {"ex2.approx.f16 $d, $a", "f16 f16", {0x4200}, 0x4800},
    {"tanh.approx.f16 $d, $a", "f16 f16", {0xfc00}, 0xbc00},
    {"add.f16x2 $d, $a, $b", "f16x2 f16x2 f16x2", {0x3c004000, 0x3c003c00}, 0x40004200},
    {"mul.f16x2 $d, $a, $b", "f16x2 f16x2 f16x2", {0x40004200, 0xc0003c00}, 0xc4004200},
    {"fma.rn.f16x2 $d, $a, $b, $c",
     "f16x2 f16x2 f16x2 f16x2",
     {0x40003c00, 0x40003c00, 0x3c003c00},
     0x45004000},
    {"neg.f16x2 $d, $a", "f16x2 f16x2", {0x3c00bc00}, 0xbc003c00},
    {"abs.f16x2 $d, $a", "f16x2 f16x2", {0xbc00bc00}, 0x3c003c00},
    {"max.f16x2 $d, $a, $b", "f16x2 f16x2 f16x2", {0x3c00c000, 0x7e00bc00}, 0x3c00bc00},
    {"add.bf16 $d, $a, $b", "bf16 bf16 bf16", {0x3f80, 0x4000}, 0x4040},
    {"add.rn.bf16 $d, $a, $b", "bf16 bf16 bf16", {0x3f80, 0x3b80}, 0x3f80},  // a tie
    {"add.rn.bf16 $d, $a, $b", "bf16 bf16 bf16", {0x3f81, 0x3b80}, 0x3f82},
    {"add.bf16 $d, $a, $b", "bf16 bf16 bf16", {0x7f80, 0xff80}, 0x7fff},
    {"sub.bf16 $d, $a, $b", "bf16 bf16 bf16", {0x3f80, 0x4000}, 0xbf80},
    {"mul.bf16 $d, $a, $b", "bf16 bf16 bf16", {0x4040, 0xc000}, 0xc0c0},
    {"fma.rn.bf16 $d, $a, $b, $c", "bf16 bf16 bf16 bf16", {0x4000, 0x4040, 0x3f80}, 0x40e0},
    // 1 + 2^-8 is a tie; 2^-133 more, far below double's precision, is not.
    {"fma.rn.bf16 $d, $a, $b, $c", "bf16 bf16 bf16 bf16", {0x3b80, 0x3f80, 0x3f80}, 0x3f80},
    {"fma.rn.bf16 $d, $a, $b, $c", "bf16 bf16 bf16 bf16", {0x3b81, 0x3f80, 0x3f80}, 0x3f81},
    {"min.bf16 $d, $a, $b", "bf16 bf16 bf16", {0x3f80, 0x4000}, 0x3f80},
    {"max.NaN.bf16 $d, $a, $b", "bf16 bf16 bf16", {0x7fc0, 0x3f80}, 0x7fff},
    {"add.bf16x2 $d, $a, $b", "bf16x2 bf16x2 bf16x2", {0x3f804000, 0x3f803f80}, 0x40004040},
    {"fma.rn.bf16x2 $d, $a, $b, $c",
     "bf16x2 bf16x2 bf16x2 bf16x2",
     {0x40003f80, 0x40003f80, 0x3f803f80},
     0x40a04000},
    {"fma.rn.relu.bf16x2 $d, $a, $b, $c",
     "bf16x2 bf16x2 bf16x2 bf16x2",
     {0xc0003f80, 0x40003f80, 0x3f803f80},
     0x00004000},
    {"neg.bf16 $d, $a", "bf16 bf16", {0x3f80}, 0xbf80},
    {"abs.bf16x2 $d, $a", "bf16x2 bf16x2", {0xbf80bf80}, 0x3f803f80},
    {"ex2.approx.ftz.bf16 $d, $a", "bf16 bf16", {0x4040}, 0x4100},
};

}  // namespace

absl::Span<const InstructionCase> HalfCases() { return kCases; }

}  // namespace cooper::ptx
