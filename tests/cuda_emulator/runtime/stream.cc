#include "tests/cuda_emulator/runtime/stream.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tests/cuda_emulator/runtime/faults.h"
#include "tests/cuda_emulator/runtime/graph.h"
#include "tests/cuda_emulator/runtime/memory_map.h"
#include "tests/cuda_emulator/runtime/settings.h"

namespace cooper::cuda_emulator {
namespace {

using Works = std::vector<std::shared_ptr<Work>>;

// Returns all streams in the order of creation, so that runs are reproducible.
std::vector<CUstream_st*>& Streams() {
  static auto* streams = new std::vector<CUstream_st*>;
  return *streams;
}

std::vector<CUstream_st*>::iterator FindAmongStreams(cudaStream_t handle) {
  return std::find(Streams().begin(), Streams().end(), handle);
}

std::set<CUevent_st*>& Events() {
  static auto* events = new std::set<CUevent_st*>;
  return *events;
}

CUstream_st& DefaultStream(int device) {
  static auto* streams = new std::map<int, CUstream_st>;
  CUstream_st& stream = (*streams)[device];
  stream.device = device;
  stream.is_default = true;
  return stream;
}

// Returns a blocking stream of the calling thread and device. It is never destroyed.
CUstream_st& ThreadStream(int device) {
  thread_local std::map<int, cudaStream_t> streams;
  cudaStream_t& stream = streams[device];
  if (stream == nullptr) stream = MakeStream(/*blocking=*/true);
  return *stream;
}

void RunOne(Work& work) {
  if (StickyError() == cudaSuccess) {
    const OpenMemory open;
    SetStickyError(work.run());
  }
  work.done = true;
  work.after.clear();
  work.run = nullptr;
}

// Iterative instead of recursive, because a lazy stream may hold any amount of work.
void RunWith(const std::shared_ptr<Work>& last) {
  Works path = {last};
  while (!path.empty()) {
    const std::shared_ptr<Work> work = path.back();
    if (work->done) {
      path.pop_back();
    } else if (work->after.empty()) {
      path.pop_back();
      RunOne(*work);
    } else {
      const std::shared_ptr<Work> before = work->after.back();
      if (before->done) {
        work->after.pop_back();
      } else {
        path.push_back(before);
      }
    }
  }
}

void Append(const Works& from, Works& to) {
  for (const std::shared_ptr<Work>& work : from) {
    if (!work->done) to.push_back(work);
  }
}

// Returns the kind of an operation, as in Costs::queued.
const char* KindOf(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "kernel";
    case cudaGraphNodeTypeMemcpy:
      return "copy";
    case cudaGraphNodeTypeMemset:
      return "fill";
    case cudaGraphNodeTypeGraph:
      return "graph";
    case cudaGraphNodeTypeHost:
      return "host function";
    default:
      return "other";
  }
}

// Appends to `works` the ends of a device's blocking streams, or of all streams except the default
// one; reverses the whole list for an odd seed.
void AppendStreams(int device, bool all, Works& works) {
  for (const CUstream_st* stream : Streams()) {
    if (stream->device == device && (all || stream->blocking)) Append(stream->last, works);
  }
  if (GetSettings().seed % 2 == 1) std::reverse(works.begin(), works.end());
}

// Returns the work that the next work of `stream` must follow. Among unordered works, the last one
// runs first (RunWith, RunAll): that of the newest stream, which is likely to need results of
// others, or with an odd seed that of the oldest.
Works EndOf(const CUstream_st& stream) {
  Works works;
  Append(stream.last, works);
  if (stream.is_default) {
    AppendStreams(stream.device, /*all=*/false, works);
  } else if (stream.blocking) {
    Append(DefaultStream(stream.device).last, works);
  }
  return works;
}

}  // namespace

CUstream_st* FindStream(cudaStream_t handle, const char* call) {
  NoteContext(CurrentDevice());
  if (handle == nullptr || handle == cudaStreamLegacy) return &DefaultStream(CurrentDevice());
  if (handle == cudaStreamPerThread) return &ThreadStream(CurrentDevice());
  if (FindAmongStreams(handle) != Streams().end()) return handle;
  Fail(cudaErrorInvalidResourceHandle, absl::StrCat(call, ": no such stream, or a destroyed one"));
  return nullptr;
}

CUstream_st* FindLaunchStream(cudaStream_t handle) {
  CUstream_st* stream = FindStream(handle, "a launch");
  if (stream == nullptr || stream->device == CurrentDevice()) return stream;
  Fail(cudaErrorInvalidResourceHandle,
       absl::StrCat("a launch in a stream of device ", stream->device, ", while device ",
                    CurrentDevice(), " is current"));
  return nullptr;
}

CUevent_st* FindEvent(cudaEvent_t handle, const char* call) {
  if (Events().count(handle) != 0) return handle;
  Fail(cudaErrorInvalidResourceHandle, absl::StrCat(call, ": no such event, or a destroyed one"));
  return nullptr;
}

cudaStream_t MakeStream(bool blocking) {
  NoteContext(CurrentDevice());
  auto* stream = new CUstream_st;
  stream->device = CurrentDevice();
  stream->blocking = blocking;
  Streams().push_back(stream);
  return stream;
}

bool DestroyStream(cudaStream_t handle) {
  const auto it = FindAmongStreams(handle);
  if (it == Streams().end()) return false;
  Streams().erase(it);
  RunAll(handle->last);
  delete handle;
  return true;
}

cudaEvent_t MakeEvent(bool timing) {
  auto* event = new CUevent_st;
  event->device = CurrentDevice();
  event->timing = timing;
  Events().insert(event);
  return event;
}

bool DestroyEvent(cudaEvent_t handle) {
  if (Events().erase(handle) == 0) return false;
  delete handle;
  return true;
}

void LeaveCapture(const Capture& capture) {
  for (CUstream_st* stream : Streams()) {
    if (stream->capture.get() != &capture) continue;
    stream->capture = nullptr;
    stream->captured_last.clear();
  }
}

cudaError_t Enqueue(CUstream_st& stream, Operation operation) {
  if (stream.capture != nullptr) return CaptureOperation(stream, std::move(operation));
  if (GetSettings().strict_capture) {
    for (const Capture* capture : ActiveCaptures()) {
      if (capture->thread != std::this_thread::get_id()) continue;
      // The error is sticky, because the program may take a failed capture for one that is not
      // supported.
      SetStickyError(cudaErrorStreamCaptureImplicit);
      return Fail(
          cudaErrorStreamCaptureImplicit,
          absl::StrCat(operation.name, " is put beside the stream that this thread captures"));
    }
  }
  if (stream.is_default) {
    for (Capture* capture : ActiveCaptures()) {
      if (!capture->origin->blocking) continue;
      capture->invalid = true;
      return Fail(cudaErrorStreamCaptureImplicit,
                  absl::StrCat(operation.name,
                               " on the default stream, while a blocking stream is "
                               "captured"));
    }
  }
  if (StickyError() != cudaSuccess) return Return(StickyError());
  if (const cudaError_t fault = TakeFault(operation.name, FaultTime::kCall); fault != cudaSuccess) {
    return Return(fault);
  }
  CountQueued(KindOf(operation.type));
  auto work = std::make_shared<Work>();
  work->run = std::move(operation.run);
  if (const cudaError_t fault = TakeFault(operation.name, FaultTime::kRun); fault != cudaSuccess) {
    work->run = [fault] { return fault; };
  }
  work->after = EndOf(stream);
  stream.last = {work};
  if (!GetSettings().lazy || GetSettings().launch_blocking) RunWith(work);
  return GetSettings().launch_blocking ? Return(StickyError()) : cudaSuccess;
}

cudaError_t RecordEvent(CUevent_st& event, CUstream_st& stream) {
  if (event.device != stream.device) {
    return Fail(cudaErrorInvalidResourceHandle,
                absl::StrCat("cudaEventRecord: an event of device ", event.device,
                             " in a stream of device ", stream.device));
  }
  event.recorded = true;
  event.capture = stream.capture;
  event.captured = stream.captured_last;
  event.works.clear();
  if (stream.capture == nullptr) event.works = EndOf(stream);
  return cudaSuccess;
}

cudaError_t WaitEvent(CUstream_st& stream, CUevent_st& event) {
  if (!event.recorded) return cudaSuccess;
  if (event.capture != nullptr && event.capture->active) {
    if (stream.capture != nullptr && stream.capture != event.capture) {
      return Fail(cudaErrorStreamCaptureUnsupported,
                  "cudaStreamWaitEvent: the stream is part of another capture");
    }
    stream.capture = event.capture;  // the stream joins the capture
    stream.captured_last.insert(stream.captured_last.end(), event.captured.begin(),
                                event.captured.end());
    return cudaSuccess;
  }
  if (stream.capture != nullptr) {
    stream.capture->invalid = true;
    return Fail(cudaErrorStreamCaptureUnsupported,
                "cudaStreamWaitEvent: a captured stream waits for an event from outside");
  }
  // A stream may end with several works: its own last ones and the event's.
  stream.last = EndOf(stream);
  Append(event.works, stream.last);
  return cudaSuccess;
}

cudaError_t RefuseInCapture(const char* call) {
  for (Capture* capture : ActiveCaptures()) {
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    if (capture->mode == cudaStreamCaptureModeThreadLocal &&
        capture->thread != std::this_thread::get_id()) {
      continue;
    }
    capture->invalid = true;
    return Fail(cudaErrorStreamCaptureUnsupported, absl::StrCat(call, " during a capture"));
  }
  return cudaSuccess;
}

cudaError_t WaitForStream(CUstream_st& stream, const char* call) {
  if (stream.capture != nullptr) {
    stream.capture->invalid = true;
    return Fail(cudaErrorStreamCaptureUnsupported,
                absl::StrCat(call, ": the stream is being captured"));
  }
  CountWait(call);
  RunAll(EndOf(stream));
  return Return(StickyError());
}

cudaError_t WaitForEvent(CUevent_st& event) {
  if (event.capture != nullptr && event.capture->active) {
    return Fail(cudaErrorStreamCaptureUnsupported,
                "cudaEventSynchronize: the event was recorded in a capture");
  }
  CountWait("cudaEventSynchronize");
  RunAll(event.works);
  return Return(StickyError());
}

cudaError_t WaitForDevice(int device, const char* call) {
  if (const cudaError_t error = RefuseInCapture(call); error != cudaSuccess) return error;
  CountWait(call);
  Works works;
  Append(DefaultStream(device).last, works);
  AppendStreams(device, /*all=*/true, works);
  RunAll(works);
  return Return(StickyError());
}

bool IsDone(const Works& works) {
  for (const std::shared_ptr<Work>& work : works) {
    if (!work->done) return false;
  }
  return true;
}

void RunAll(const Works& works) {
  for (auto work = works.rbegin(); work != works.rend(); ++work) RunWith(*work);
}

}  // namespace cooper::cuda_emulator
