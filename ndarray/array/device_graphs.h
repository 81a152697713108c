#ifndef COOPER_NDARRAY_ARRAY_DEVICE_GRAPHS_H_
#define COOPER_NDARRAY_ARRAY_DEVICE_GRAPHS_H_

// The switch for recordings: whether work that devices run repeatedly is recorded and launched as a
// whole (recording_queue.h). Results have the same bits either way; errors are easier to locate
// without recording.

namespace cooper {

// Returns whether work is recorded: true unless the environment variable COOPER_DEVICE_GRAPHS is 0.
// SetDeviceGraphs overrides the environment. Both are thread-safe.
bool DeviceGraphsAreOn();
void SetDeviceGraphs(bool on);

// Returns whether COOPER_DEVICE_GRAPHS is 2: work is then recorded in its first run instead of a
// later one. Tests set it to find kernels that enqueue work outside their own queue, which a
// recording misses.
bool DeviceGraphsFromFirstRun();

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_DEVICE_GRAPHS_H_
