#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_STREAM_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_STREAM_H_

// Streams, events, and the order of work.
//
// A piece of work knows what has to run before it: what its stream holds, the events that its
// stream waits for, and the implicit order between a device's default stream and its blocking
// streams. It runs when it is queued or, with Settings::lazy, when something waits for it; then
// only what it depends on runs with it, so that a wait that a program lacks shows in its results. A
// stream that is being captured puts its work into a graph instead (graph.h). Callers hold the
// ApiLock.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"

namespace cooper::cuda_emulator {

// One operation: what it is, for messages and for comparing graphs, and how it is done.
struct Operation {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::string name;
  std::function<cudaError_t()> run;
};

struct Work {
  std::vector<std::shared_ptr<Work>> after;  // empty once it has run
  std::function<cudaError_t()> run;
  bool done = false;
};

struct Capture;  // graph.h

}  // namespace cooper::cuda_emulator

// CUDA's names for what its handles point to.
struct CUstream_st {
  int device = 0;
  bool blocking = true;  // ordered with the default stream
  bool is_default = false;
  std::vector<std::shared_ptr<cooper::cuda_emulator::Work>> last;  // next work comes after these
  std::shared_ptr<cooper::cuda_emulator::Capture> capture;
  std::vector<int> captured_last;  // nodes of its graph
};

struct CUevent_st {
  int device = 0;
  bool timing = true;
  bool recorded = false;
  std::vector<std::shared_ptr<cooper::cuda_emulator::Work>> works;  // what it waits for
  std::shared_ptr<cooper::cuda_emulator::Capture> capture;          // if recorded in one
  std::vector<int> captured;
};

namespace cooper::cuda_emulator {

// The stream of a handle: of the current device for the default streams. Null, after Fail(), where
// no such stream lives.
CUstream_st* FindStream(cudaStream_t handle, const char* call);
// As FindStream, for a launch: the stream has to be one of the current device.
CUstream_st* FindLaunchStream(cudaStream_t handle);
CUevent_st* FindEvent(cudaEvent_t handle, const char* call);

cudaStream_t MakeStream(bool blocking);
bool DestroyStream(cudaStream_t handle);
cudaEvent_t MakeEvent(bool timing);
bool DestroyEvent(cudaEvent_t handle);

// Queues `operation`, or captures it. Errors of the work itself are sticky, and come from later
// calls.
cudaError_t Enqueue(CUstream_st& stream, Operation operation);

cudaError_t RecordEvent(CUevent_st& event, CUstream_st& stream);
cudaError_t WaitEvent(CUstream_st& stream, CUevent_st& event);

// Runs what is queued, and returns the sticky error. A capture that the call would break fails.
cudaError_t WaitForStream(CUstream_st& stream, const char* call);
cudaError_t WaitForEvent(CUevent_st& event);
cudaError_t WaitForDevice(int device, const char* call);
bool IsDone(const std::vector<std::shared_ptr<Work>>& works);
void RunAll(const std::vector<std::shared_ptr<Work>>& works);

// Fails where a capture is under way, which a call that waits or allocates may not be part of.
cudaError_t RefuseInCapture(const char* call);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_STREAM_H_
