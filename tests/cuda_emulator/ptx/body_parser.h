#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_BODY_PARSER_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_BODY_PARSER_H_

// Parses the body of one function and resolves its names. decoder.h interprets the instructions.

#include "absl/status/statusor.h"
#include "tests/cuda_emulator/ptx/declarations.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/syntax.h"

namespace cooper::ptx {

// Returns the offset of a device function's results. Its parameters and then its results are at the
// start of its local memory, where the caller writes and reads them; a kernel's parameters are in
// the launch's buffer.
uint64_t ResultsOffset(const Function& function);

// Parses the body of declarations.functions[index], which must have one. The result holds views of
// the module's text. Errors: kInvalidArgument, with line and token, if it is not well formed.
absl::StatusOr<Body> ParseBody(const Declarations& declarations, int index);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_BODY_PARSER_H_
