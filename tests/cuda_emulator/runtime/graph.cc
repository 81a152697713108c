#include "tests/cuda_emulator/runtime/graph.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

std::vector<std::shared_ptr<Capture>>& Captures() {
  static auto* captures = new std::vector<std::shared_ptr<Capture>>;
  return *captures;
}

// Returns whether every node is reachable from `ends`, so that the end of the capture waits for it.
bool AllJoined(const CUgraph_st& graph, std::vector<int> ends) {
  std::vector<bool> seen(graph.nodes.size());
  while (!ends.empty()) {
    const int node = ends.back();
    ends.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    ends.insert(ends.end(), graph.nodes[node].after.begin(), graph.nodes[node].after.end());
  }
  return std::find(seen.begin(), seen.end(), false) == seen.end();
}

}  // namespace

std::vector<Capture*> ActiveCaptures() {
  std::vector<Capture*> active;
  for (const std::shared_ptr<Capture>& capture : Captures()) active.push_back(capture.get());
  return active;
}

cudaError_t CaptureOperation(CUstream_st& stream, Operation operation) {
  Capture& capture = *stream.capture;
  if (!capture.active || capture.invalid) {
    return Fail(cudaErrorStreamCaptureInvalidated,
                absl::StrCat(operation.name, " in a capture that has failed or ended"));
  }
  std::vector<int> after = stream.captured_last;
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  capture.graph.nodes.push_back({std::move(operation), std::move(after)});
  stream.captured_last = {static_cast<int>(capture.graph.nodes.size()) - 1};
  return cudaSuccess;
}

cudaError_t BeginCapture(CUstream_st& stream, cudaStreamCaptureMode mode) {
  if (stream.is_default) {
    return Fail(cudaErrorStreamCaptureUnsupported,
                "cudaStreamBeginCapture: the default stream cannot be captured");
  }
  if (stream.capture != nullptr) {
    return Fail(cudaErrorIllegalState, "cudaStreamBeginCapture: it is being captured already");
  }
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = &stream;
  stream.capture->mode = mode;
  stream.capture->thread = std::this_thread::get_id();
  Captures().push_back(stream.capture);
  return cudaSuccess;
}

cudaError_t EndCapture(CUstream_st& stream, CUgraph_st** result) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) {
    return Fail(cudaErrorIllegalState, "cudaStreamEndCapture: the stream is not being captured");
  }
  if (capture->origin != &stream) {
    capture->invalid = true;
    return Fail(cudaErrorStreamCaptureUnmatched,
                "cudaStreamEndCapture: the capture began in another stream");
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return Fail(cudaErrorStreamCaptureWrongThread,
                "cudaStreamEndCapture: another thread has begun the capture");
  }
  const std::vector<int> ends = stream.captured_last;
  capture->active = false;
  LeaveCapture(*capture);
  Captures().erase(std::find(Captures().begin(), Captures().end(), capture));
  if (capture->invalid) {
    return Fail(cudaErrorStreamCaptureInvalidated, "cudaStreamEndCapture: the capture has failed");
  }
  if (!AllJoined(capture->graph, ends)) {
    return Fail(cudaErrorStreamCaptureUnjoined,
                "cudaStreamEndCapture: the stream does not wait for another one that joined");
  }
  *result = new CUgraph_st(std::move(capture->graph));
  return cudaSuccess;
}

}  // namespace cooper::cuda_emulator
