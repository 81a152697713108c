#ifndef COOPER_EXECUTOR_COMPILE_PROGRAM_FLOPS_H_
#define COOPER_EXECUTOR_COMPILE_PROGRAM_FLOPS_H_

// Counts the operations of one run of a program from its shapes, without running it.

#include "executor/compile/compiled_program.h"

namespace cooper {

// Counts as double, since they exceed int64 in large models. They do not depend on the device.
struct ProgramFlops {
  // Operations of matrix products and convolutions, forward and for the requested gradients. A
  // multiplication and an addition count as two.
  double products = 0;
  // Elements that instructions write, or that reductions read: at least one operation for each.
  // Views and copies between contexts count nothing.
  double elements = 0;

  // Returns the operations of both kinds.
  double total() const { return products + elements; }
};

// Counts one training run, forward and backward, if the program was compiled with gradients, and
// one forward run otherwise. All steps of sequences count, including those that sequence lengths
// skip at run time. Parameter updates are not part of a program. Factorizations (potrf, inverse,
// ...) and custom operators without a rule (symbol/schema/op_flops.h) count as elements only. Equal
// programs give equal numbers. O(instructions) time.
ProgramFlops CountFlops(const CompiledProgram& compiled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_PROGRAM_FLOPS_H_
