#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_INSTRUCTION_TABLE_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_INSTRUCTION_TABLE_H_

// Single instructions with inputs and the expected bits. They follow NVIDIA's description of the
// instruction set, not the interpreter's behaviour. InstructionText() turns them into PTX, which a
// test runs in the interpreter and a GPU could run too.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace cooper::ptx {

// One instruction, its operands' types, inputs and expected result.
struct InstructionCase {
  std::string_view instruction;  // "add.s32 $d, $a, $b"
  std::string_view types;  // types of $d, $a, $b, $c and $e, as far as they occur: "s32 s32 s32"
  uint64_t inputs[4];      // $a, $b, $c, $e; a predicate is 0 or 1
  uint64_t expected;       // $d, truncated to its type
};

// Return the cases of each kind of instruction.
absl::Span<const InstructionCase> IntegerCases();
absl::Span<const InstructionCase> BitCases();
absl::Span<const InstructionCase> FloatCases();
absl::Span<const InstructionCase> HalfCases();
absl::Span<const InstructionCase> CompareCases();
absl::Span<const InstructionCase> ConvertCases();

// Returns a module with a kernel `case<i>` for each case. Its parameters are the addresses of the
// result and of four inputs, 8 bytes each.
std::string InstructionText(absl::Span<const InstructionCase> cases);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_INSTRUCTION_TABLE_H_
