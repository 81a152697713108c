#ifndef COOPER_EXECUTOR_COMPILE_PROGRAM_FLOPS_H_
#define COOPER_EXECUTOR_COMPILE_PROGRAM_FLOPS_H_

// What a run of a program computes, told from its shapes: nothing is run.

#include "executor/compile/compiled_program.h"

namespace cooper {

struct ProgramFlops {
  // Of matrix products and convolutions, a multiplication and an addition being two: forward, and
  // of the gradients that are asked for.
  double products = 0;
  // Elements that all instructions write, those of reductions read: at least an operation each,
  // whatever is done with them. Views and copies between contexts are none.
  double elements = 0;

  double total() const { return products + elements; }
};

// Of one training run, forward and backward, if gradients were asked for when it was compiled; of
// one forward run otherwise. All steps of sequences count, also those that lengths, which no shape
// tells, will leave out; an update of parameters is not part of a program. Factorizations (potrf,
// inverse, ...) and operators of an embedder's own without a rule (symbol/schema/op_flops.h) count
// as elements alone. Equal programs give equal numbers. O(instructions) time.
ProgramFlops CountFlops(const CompiledProgram& compiled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_PROGRAM_FLOPS_H_
