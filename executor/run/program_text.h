#ifndef COOPER_EXECUTOR_RUN_PROGRAM_TEXT_H_
#define COOPER_EXECUTOR_RUN_PROGRAM_TEXT_H_

// Prints programs for debugging.

#include <string>

#include "executor/compile/compiled_program.h"

namespace cooper {

// Returns one line per instruction: flags such as views and requests, operator and node, and inputs
// and outputs with their shapes and their offsets in the arena. The format is for people and may
// change.
std::string ProgramText(const CompiledProgram& compiled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_PROGRAM_TEXT_H_
