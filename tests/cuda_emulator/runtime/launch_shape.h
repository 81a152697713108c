#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_LAUNCH_SHAPE_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_LAUNCH_SHAPE_H_

// Checks which grids a device can run.

#include <string>

#include "vector_types.h"

namespace cooper::cuda_emulator {

// Returns an empty string if the device can run a grid of that shape for a kernel whose blocks may
// have `max_threads` threads; else the reason.
std::string CheckShape(const dim3& grid, const dim3& block, int max_threads);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_LAUNCH_SHAPE_H_
