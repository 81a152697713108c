#ifndef COOPER_EXECUTOR_RUN_PROGRAM_TEXT_H_
#define COOPER_EXECUTOR_RUN_PROGRAM_TEXT_H_

// A program for people to read.

#include <string>

#include "executor/compile/compiled_program.h"

namespace cooper {

// An instruction a line: what is special about it, operator and node, inputs and outputs with their
// shapes and their offsets in the arena.
std::string ProgramText(const CompiledProgram& compiled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_PROGRAM_TEXT_H_
