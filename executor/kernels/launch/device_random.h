#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_DEVICE_RANDOM_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_DEVICE_RANDOM_H_

// Random numbers for kernels whose launches may be recorded once and replayed. For .cu files.
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

// The argument of a kernel that draws random numbers.
struct DeviceRandom {
  Philox random;
  const uint64_t* words = nullptr;  // those of RecordedRandom in device memory, or null

  __device__ Philox Get() const {
    return words == nullptr ? random : Philox(words[0], words[1] | random.stream());
  }
};

// Returns the source for one launch; marks the recording, if any, as one that draws.
inline DeviceRandom DeviceRandomOf(const KernelContext& c) {
  const RecordingQueue* const queue = AsRecording(c.queue);
  RecordedRandom* const recorded = queue == nullptr ? nullptr : queue->recorded_random();
  if (recorded == nullptr) return {.random = c.random};
  recorded->drawn = true;
  return {.random = c.random, .words = recorded->words};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_DEVICE_RANDOM_H_
