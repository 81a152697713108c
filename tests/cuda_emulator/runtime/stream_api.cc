// Calls that manage streams and events.

#include <memory>
#include <vector>

#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

cudaError_t CreateStream(cudaStream_t* stream, bool blocking) {
  const ApiLock lock;
  if (stream == nullptr) return Fail(cudaErrorInvalidValue, "cudaStreamCreate: no result");
  *stream = MakeStream(blocking);
  return cudaSuccess;
}

cudaError_t CreateEvent(cudaEvent_t* event, unsigned flags) {
  const ApiLock lock;
  if (event == nullptr) return Fail(cudaErrorInvalidValue, "cudaEventCreate: no result");
  *event = MakeEvent((flags & cudaEventDisableTiming) == 0);
  return cudaSuccess;
}

// Runs the queried work after the answer, so that a program that polls makes progress.
cudaError_t Query(const std::vector<std::shared_ptr<Work>>& works) {
  if (StickyError() != cudaSuccess) return Return(StickyError());
  if (IsDone(works)) return cudaSuccess;
  RunAll(works);
  return cudaErrorNotReady;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return CreateStream(stream, true); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return CreateStream(stream, (flags & cudaStreamNonBlocking) == 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const ApiLock lock;
  if (DestroyStream(stream)) return cudaSuccess;
  return Fail(cudaErrorInvalidResourceHandle, "cudaStreamDestroy: no such stream");
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, "cudaStreamSynchronize");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return WaitForStream(*stream, "cudaStreamSynchronize");
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, "cudaStreamQuery");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return Query(stream->last);
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, "cudaStreamGetFlags");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  *flags = stream->blocking ? cudaStreamDefault : cudaStreamNonBlocking;
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, "cudaStreamGetDevice");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  *device = stream->device;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, "cudaStreamWaitEvent");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  CUevent_st* event = FindEvent(event_handle, "cudaStreamWaitEvent");
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  return WaitEvent(*stream, *event);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, "cudaLaunchHostFunc");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return Enqueue(*stream, {cudaGraphNodeTypeHost, "a host function", [function, data] {
                             function(data);
                             return cudaSuccess;
                           }});
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return CreateEvent(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return CreateEvent(event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const ApiLock lock;
  if (DestroyEvent(event)) return cudaSuccess;
  return Fail(cudaErrorInvalidResourceHandle, "cudaEventDestroy: no such event");
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  const ApiLock lock;
  CUevent_st* event = FindEvent(handle, "cudaEventRecord");
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  CUstream_st* stream = FindStream(stream_handle, "cudaEventRecord");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return RecordEvent(*event, *stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  const ApiLock lock;
  CUevent_st* event = FindEvent(handle, "cudaEventSynchronize");
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  return WaitForEvent(*event);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const ApiLock lock;
  CUevent_st* event = FindEvent(handle, "cudaEventQuery");
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  return Query(event->works);
}

// There is no meaningful clock here: the time between two events is 0.
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  const ApiLock lock;
  for (cudaEvent_t handle : {start, end}) {
    CUevent_st* event = FindEvent(handle, "cudaEventElapsedTime");
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (!event->timing || !event->recorded) {
      return Fail(cudaErrorInvalidResourceHandle,
                  "cudaEventElapsedTime: an event without timing, or one that is not recorded");
    }
    if (!IsDone(event->works)) return Return(cudaErrorNotReady);
  }
  *ms = 0;
  return cudaSuccess;
}

}  // extern "C"
}  // namespace cooper::cuda_emulator
