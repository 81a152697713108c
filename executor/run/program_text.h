#ifndef COOPER_EXECUTOR_RUN_PROGRAM_TEXT_H_
#define COOPER_EXECUTOR_RUN_PROGRAM_TEXT_H_

// A bound program for people to read.

#include <string>

#include "executor/run/bound_program.h"

namespace cooper {

// An instruction a line: what is special about it, operator and node, inputs and outputs with their
// shapes and their offsets in the arena.
std::string ProgramText(const BoundProgram& bound);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_PROGRAM_TEXT_H_
