#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_DEVICE_PRINTF_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_DEVICE_PRINTF_H_

// printf of device code: its format and its arguments lie in device memory, each argument aligned
// to its size.

#include <cstdint>
#include <optional>
#include <string>

#include "third_party/cuda/emulator/ptx/warp.h"

namespace cooper::ptx {

// What vprintf(format, arguments) of that lane prints; none after a failure.
std::optional<std::string> FormatDevicePrintf(Warp& warp, int lane, uint64_t format,
                                              uint64_t arguments);

// A string at a generic address, without its zero; what can be read of it.
std::string ReadDeviceString(Warp& warp, int lane, uint64_t address);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_DEVICE_PRINTF_H_
