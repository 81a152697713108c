#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_BODY_PARSER_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_BODY_PARSER_H_

// Reads the body of one function. Names are looked up; what instructions mean is decoder.h's.

#include "absl/status/statusor.h"
#include "third_party/cuda/emulator/ptx/declarations.h"
#include "third_party/cuda/emulator/ptx/module.h"
#include "third_party/cuda/emulator/ptx/syntax.h"

namespace cooper::ptx {

// The parameters of a device function and then its results lie at the start of its local memory,
// where its caller puts and finds them; those of a kernel lie in the launch's buffer.
uint64_t ResultsOffset(const Function& function);

// Parses the body of declarations.functions[index], which has one. kInvalidArgument, with line and
// token, if it is not well formed. The result has views of the module's text.
absl::StatusOr<Body> ParseBody(const Declarations& declarations, int index);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_BODY_PARSER_H_
