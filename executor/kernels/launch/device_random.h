#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_DEVICE_RANDOM_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_DEVICE_RANDOM_H_

// The random numbers of a kernel that may be recorded once and run often: for .cu files.
//
//   __global__ void Draw(int64_t n, DeviceRandom source, float* x) {
//     const Philox random = source.Get();
//     ...
//   LaunchElements(c, n, Draw, n, DeviceRandomOf(c), x);

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/array/recording_queue.h"
#include "ndarray/base/philox.h"

namespace cooper {

struct DeviceRandom {
  Philox random;
  const uint64_t* words = nullptr;  // RecordedRandom's, or null

  __device__ Philox Get() const {
    return words == nullptr ? random : Philox(words[0], words[1] | random.stream());
  }
};

inline DeviceRandom DeviceRandomOf(const KernelContext& c) {
  const RecordingQueue* const queue = AsRecording(c.queue);
  RecordedRandom* const recorded = queue == nullptr ? nullptr : queue->recorded_random();
  if (recorded == nullptr) return {.random = c.random};
  recorded->drawn = true;
  return {.random = c.random, .words = recorded->words};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_DEVICE_RANDOM_H_
