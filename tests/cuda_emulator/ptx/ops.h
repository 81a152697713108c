#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_OPS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_OPS_H_

// The instruction tables, one for each kind: the decoder of an opcode, by its first word.

#include <string_view>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/program.h"

namespace cooper::ptx {

class Decoder;

// An opcode and its decoder.
struct Op {
  std::string_view name;  // "ld"
  // Sets `in` from the decoder's current statement.
  void (*decode)(Decoder& decoder, Instr& in);
};

absl::Span<const Op> ArithmeticOps();  // on integers and floats
absl::Span<const Op> BitOps();
absl::Span<const Op> CarryOps();
absl::Span<const Op> MathOps();  // of one float: rcp, sqrt, ex2, ...
absl::Span<const Op> CompareOps();
absl::Span<const Op> MoveOps();
absl::Span<const Op> ConvertOps();
absl::Span<const Op> MemoryOps();
absl::Span<const Op> AtomicOps();
absl::Span<const Op> ControlOps();
absl::Span<const Op> SyncOps();  // barriers, collectives, fences

// Returns the decoder of `name`, or null.
const Op* FindOp(std::string_view name);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_OPS_H_
