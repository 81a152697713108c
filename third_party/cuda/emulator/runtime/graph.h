#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_GRAPH_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_GRAPH_H_

// Graphs of operations, which captures make and launches run.

#include <thread>
#include <vector>

#include "cuda_runtime_api.h"
#include "third_party/cuda/emulator/runtime/stream.h"

// CUDA's names for what its handles point to.
struct CUgraphNode_st {
  cooper::cuda_emulator::Operation operation;
  std::vector<int> after;  // earlier nodes of the same graph
};

struct CUgraph_st {
  std::vector<CUgraphNode_st> nodes;  // each after what it depends on
};

struct CUgraphExec_st {
  CUgraph_st graph;
};

namespace cooper::cuda_emulator {

// A capture that is under way or has ended; streams and events share it.
struct Capture {
  CUgraph_st graph;
  CUstream_st* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  // which began it
  bool active = true;
  bool invalid = false;
};

// The captures that are under way.
std::vector<Capture*> ActiveCaptures();

// Begins a capture in `stream`; ends it, and gives its graph to the caller.
cudaError_t BeginCapture(CUstream_st& stream, cudaStreamCaptureMode mode);
cudaError_t EndCapture(CUstream_st& stream, CUgraph_st** result);

// Takes every stream out of a capture that ends (stream.cc).
void LeaveCapture(const Capture& capture);

// Adds a node after those that `stream` ends with, and makes it the stream's end.
cudaError_t CaptureOperation(CUstream_st& stream, Operation operation);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_GRAPH_H_
