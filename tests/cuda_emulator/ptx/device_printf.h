#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_DEVICE_PRINTF_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_DEVICE_PRINTF_H_

// Implements printf of device code. Its format and arguments are in device memory, each argument
// aligned to its size.

#include <cstdint>
#include <optional>
#include <string>

#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {

// Returns the output of vprintf(format, arguments) by that lane; none after a failure.
std::optional<std::string> FormatDevicePrintf(Warp& warp, int lane, uint64_t format,
                                              uint64_t arguments);

// Returns the string at a generic address, without its terminating zero, as far as it can be read.
std::string ReadDeviceString(Warp& warp, int lane, uint64_t address);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_DEVICE_PRINTF_H_
