#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_BUILTIN_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_BUILTIN_H_

// Functions that device code calls but does not define: vprintf, __assertfail.

#include <cstdint>
#include <string_view>

#include "tests/cuda_emulator/ptx/program.h"

namespace cooper::ptx {

// A function that the interpreter implements.
struct Builtin {
  std::string_view name;
  Handler run;
  // The bytes of each argument; 0 ends the list.
  uint8_t arguments[5];
};

// Returns the function of that name, or null.
const Builtin* FindBuiltin(std::string_view name);

// Returns whether the call passes all arguments.
bool HasArguments(const Builtin& builtin, const CallSite& site);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_BUILTIN_H_
