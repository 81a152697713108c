#ifndef COOPER_NDARRAY_ARRAY_DEVICE_GRAPHS_H_
#define COOPER_NDARRAY_ARRAY_DEVICE_GRAPHS_H_

// Whether work that devices are given again and again is recorded and put in as a whole
// (recording_queue.h). Results are the same bits either way; what goes wrong is easier to find
// without.

namespace cooper {

// True unless the environment says COOPER_DEVICE_GRAPHS=0, or the last SetDeviceGraphs.
// Thread-safe.
bool DeviceGraphsAreOn();
void SetDeviceGraphs(bool on);

// Whether the first run is recorded already: COOPER_DEVICE_GRAPHS=2, for tests. What a kernel puts
// anywhere but into its queue is not in a recording, and is missed.
bool DeviceGraphsFromFirstRun();

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_DEVICE_GRAPHS_H_
