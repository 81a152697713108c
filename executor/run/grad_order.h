#ifndef COOPER_EXECUTOR_RUN_GRAD_ORDER_H_
#define COOPER_EXECUTOR_RUN_GRAD_ORDER_H_

// When the gradients of a program are done: what waits for one need not wait for the whole backward
// pass.

#include <vector>

#include "executor/compile/compiled_program.h"

namespace cooper {

// For each instruction, the gradients (positions in Program::gradients) that nothing touches after
// it. Those that no instruction of the backward pass touches are with its first.
std::vector<std::vector<int>> GradsDoneAfter(const CompiledProgram& compiled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_GRAD_ORDER_H_
