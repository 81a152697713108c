#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_STREAM_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_STREAM_H_

// Streams, events, and the order of work.
//
// A work item knows its dependencies: the previous work of its stream, the events for which its
// stream waits, and the implicit order between a device's default stream and its blocking streams.
// It runs when it is queued or, with Settings::lazy, when something waits for it; then only its
// dependencies run with it, so that a missing wait changes the results. A stream that is being
// captured adds its work to a graph instead (graph.h). Callers hold the ApiLock.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

// One operation: its type and name, for messages and for comparing graphs, and its function.
struct Operation {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::string name;
  std::function<cudaError_t()> run;
};

// A queued operation and the works that must run before it.
struct Work {
  std::vector<std::shared_ptr<Work>> after;  // empty once it has run
  std::function<cudaError_t()> run;
  bool done = false;
};

struct Capture;  // graph.h

}  // namespace cooper::cuda_emulator

// CUDA's names for the objects that its handles point to.
struct CUstream_st {
  int device = 0;
  bool blocking = true;  // ordered with the default stream
  bool is_default = false;
  std::vector<std::shared_ptr<cooper::cuda_emulator::Work>> last;  // the next work follows these
  std::shared_ptr<cooper::cuda_emulator::Capture> capture;
  std::vector<int> captured_last;  // nodes of the capture's graph
};

// An event: the work that was queued in a stream when it was recorded.
struct CUevent_st {
  int device = 0;
  bool timing = true;
  bool recorded = false;
  std::vector<std::shared_ptr<cooper::cuda_emulator::Work>> works;  // the works that it waits for
  std::shared_ptr<cooper::cuda_emulator::Capture> capture;  // if it was recorded in a capture
  std::vector<int> captured;
};

namespace cooper::cuda_emulator {

// Returns the stream of a handle; default streams are those of the current device. Returns null,
// after Fail(), if the stream does not exist.
CUstream_st* FindStream(cudaStream_t handle, const char* call);
// Returns the stream of a launch, with the errors of FindStream. It must belong to the current
// device.
CUstream_st* FindLaunchStream(cudaStream_t handle);
CUevent_st* FindEvent(cudaEvent_t handle, const char* call);

cudaStream_t MakeStream(bool blocking);
bool DestroyStream(cudaStream_t handle);
cudaEvent_t MakeEvent(bool timing);
bool DestroyEvent(cudaEvent_t handle);

// Queues or captures `operation`. Errors of the work itself are sticky: later calls return them.
cudaError_t Enqueue(CUstream_st& stream, Operation operation);

cudaError_t RecordEvent(CUevent_st& event, CUstream_st& stream);
cudaError_t WaitEvent(CUstream_st& stream, CUevent_st& event);

// Run the queued work and return the sticky error. Fail in a capture that the call would break.
cudaError_t WaitForStream(CUstream_st& stream, const char* call);
cudaError_t WaitForEvent(CUevent_st& event);
cudaError_t WaitForDevice(int device, const char* call);
// Returns whether all works have run.
bool IsDone(const std::vector<std::shared_ptr<Work>>& works);
// Runs the works and all works on which they depend.
void RunAll(const std::vector<std::shared_ptr<Work>>& works);

// Returns an error during a capture, in which calls that wait or allocate are not allowed.
cudaError_t RefuseInCapture(const char* call);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_STREAM_H_
