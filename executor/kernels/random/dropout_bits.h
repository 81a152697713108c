#ifndef COOPER_EXECUTOR_KERNELS_RANDOM_DROPOUT_BITS_H_
#define COOPER_EXECUTOR_KERNELS_RANDOM_DROPOUT_BITS_H_

// Decides from random bits which elements Dropout keeps: out = in * mask * DropoutScale(p).
//
// dropout_mask.h draws masks on the CPU with it; dropout.cu and the GPU kernel of RNN use it
// directly. Both devices keep the same elements for the same seed.

#include <algorithm>
#include <cstdint>

#include "ndarray/base/host_device.h"

namespace cooper {

// Returns the threshold for probability p: elements whose 32 random bits are below it are dropped.
// The threshold is p * 2^32, at most 2^32 - 1: the probability differs from p by at most 2^-32.
inline uint32_t DropoutThreshold(double p) {
  return static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1));
}

// Returns whether an element with these random bits is kept.
COOPER_HOST_DEVICE inline bool KeepsElement(uint32_t bits, uint32_t threshold) {
  return bits >= threshold;
}

// Returns 1 / (1 - p), which keeps the expected value; 0 for p = 1, where everything is dropped.
// This is the "inverted" dropout of MXNet: nothing is scaled at inference.
inline double DropoutScale(double p) { return p < 1 ? 1 / (1 - p) : 0; }

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RANDOM_DROPOUT_BITS_H_
