#ifndef COOPER_EXECUTOR_RUN_GRAD_ORDER_H_
#define COOPER_EXECUTOR_RUN_GRAD_ORDER_H_

// Finds when each gradient of a program is final, so that work on it can start before the whole
// backward pass is done.

#include <vector>

#include "executor/compile/compiled_program.h"

namespace cooper {

// Returns for each instruction the gradients (positions in Program::gradients) that no later
// instruction reads or writes. Gradients that no instruction of the backward pass touches are with
// its first instruction.
std::vector<std::vector<int>> GradsDoneAfter(const CompiledProgram& compiled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_GRAD_ORDER_H_
