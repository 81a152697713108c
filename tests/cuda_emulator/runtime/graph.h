#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_GRAPH_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_GRAPH_H_

// Graphs of operations: captures create them and launches run them.

#include <thread>
#include <vector>

#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/stream.h"

// CUDA's names for the objects that its handles point to.
struct CUgraphNode_st {
  cooper::cuda_emulator::Operation operation;
  std::vector<int> after;  // earlier nodes of the same graph
};

// A captured graph.
struct CUgraph_st {
  std::vector<CUgraphNode_st> nodes;  // in topological order
};

// An instantiated graph: a copy that can be launched.
struct CUgraphExec_st {
  CUgraph_st graph;
};

namespace cooper::cuda_emulator {

// An active or ended capture; streams and events share it.
struct Capture {
  CUgraph_st graph;
  CUstream_st* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  // the thread that began it
  bool active = true;
  bool invalid = false;
};

// Returns the active captures.
std::vector<Capture*> ActiveCaptures();

// Begin a capture in `stream`, or end it and return its graph, which the caller owns.
cudaError_t BeginCapture(CUstream_st& stream, cudaStreamCaptureMode mode);
cudaError_t EndCapture(CUstream_st& stream, CUgraph_st** result);

// Removes every stream from a capture that ends (stream.cc).
void LeaveCapture(const Capture& capture);

// Adds a node after the nodes at which `stream` ends, and makes it the stream's end.
cudaError_t CaptureOperation(CUstream_st& stream, Operation operation);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_GRAPH_H_
