#ifndef COOPER_NDARRAY_ARRAY_DEVICE_GRAPHS_H_
#define COOPER_NDARRAY_ARRAY_DEVICE_GRAPHS_H_

// Says whether work that devices run repeatedly is recorded and launched as a whole
// (recording_queue.h). Results have the same bits either way; errors are easier to locate without
// recording.

namespace cooper {

// True unless the environment variable COOPER_DEVICE_GRAPHS is 0 or SetDeviceGraphs has set another
// value. Thread-safe.
bool DeviceGraphsAreOn();
void SetDeviceGraphs(bool on);

// True if COOPER_DEVICE_GRAPHS is 2: the first run is recorded already, for tests. A recording
// misses work that a kernel enqueues anywhere but in its own queue.
bool DeviceGraphsFromFirstRun();

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_DEVICE_GRAPHS_H_
