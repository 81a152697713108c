#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_DEVICE_RANDOM_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_DEVICE_RANDOM_H_

// Random numbers for kernels whose launches may be recorded once and replayed (CUDA graphs). The
// arguments of a recorded launch are constant, so a replay would repeat the numbers of the first
// run if the kernel received its Philox by value. Instead, a recorded kernel reads the seed and the
// run's part of the stream from device memory, which the executor overwrites before each replay.
// For .cu files.
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

// The argument of a kernel that draws random numbers; passed by value. Without a recording the
// stream is `random`. In a recording it is Philox(words[0], words[1] | random.stream()), in which
// the bits of random.stream() identify the node and those of words[1] the run (RecordedRandom in
// ndarray/array/recording_queue.h).
struct DeviceRandom {
  Philox random;
  const uint64_t* words = nullptr;  // those of RecordedRandom in device memory, or null

  // Returns the stream of this run. Each thread calls it once, before its loop: in a recording it
  // reads 16 bytes of device memory, the same for all threads. Element i of the stream then depends
  // on the stream and i only, so results do not depend on the grid.
  __device__ Philox Get() const {
    return words == nullptr ? random : Philox(words[0], words[1] | random.stream());
  }
};

// Returns the source for one launch; marks the recording, if any, as one that draws, so that the
// executor sets new words before each replay. Call it on the host for each launch, on the thread
// that enqueues. The result is valid for launches to the queue of `c` only.
inline DeviceRandom DeviceRandomOf(const KernelContext& c) {
  const RecordingQueue* const queue = AsRecording(c.queue);
  RecordedRandom* const recorded = queue == nullptr ? nullptr : queue->recorded_random();
  if (recorded == nullptr) return {.random = c.random};
  recorded->drawn = true;
  return {.random = c.random, .words = recorded->words};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_DEVICE_RANDOM_H_
