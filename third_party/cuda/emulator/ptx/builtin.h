#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_BUILTIN_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_BUILTIN_H_

// Functions that device code calls without having them: vprintf, __assertfail.

#include <cstdint>
#include <string_view>

#include "third_party/cuda/emulator/ptx/program.h"

namespace cooper::ptx {

struct Builtin {
  std::string_view name;
  Handler run;
  // Bytes of each argument; 0: no more.
  uint8_t arguments[5];
};

// Null if there is none of that name.
const Builtin* FindBuiltin(std::string_view name);

// Whether the call gives all arguments.
bool HasArguments(const Builtin& builtin, const CallSite& site);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_BUILTIN_H_
