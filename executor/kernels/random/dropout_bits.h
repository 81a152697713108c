#ifndef COOPER_EXECUTOR_KERNELS_RANDOM_DROPOUT_BITS_H_
#define COOPER_EXECUTOR_KERNELS_RANDOM_DROPOUT_BITS_H_

// Which elements Dropout keeps, from random bits: out = in * mask * DropoutScale(p).

#include <algorithm>
#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// Elements whose 32 bits are below it are dropped: a share p of them.
inline uint32_t DropoutThreshold(double p) {
  return static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1));
}

COOPER_HOST_DEVICE inline bool KeepsElement(uint32_t bits, uint32_t threshold) {
  return bits >= threshold;
}

// Makes up for what is dropped; with p = 1 everything is.
inline double DropoutScale(double p) { return p < 1 ? 1 / (1 - p) : 0; }

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_DROPOUT_BITS_H_
