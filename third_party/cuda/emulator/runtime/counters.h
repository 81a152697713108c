#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_COUNTERS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_COUNTERS_H_

// What the launches of each kernel did in sum. Settings::counters prints it when the program ends.

#include <cstdint>
#include <string>

#include "third_party/cuda/emulator/ptx/run.h"

namespace cooper::cuda_emulator {

// Callers hold the ApiLock.
void CountLaunch(const std::string& kernel, const ptx::Counters& counters);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_COUNTERS_H_
