// Calls about captures and graphs. A graph's operations run in the order of their capture.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cuda_runtime_api.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/graph.h"
#include "tests/cuda_emulator/runtime/stream.h"

namespace cooper::cuda_emulator {
namespace {

// Returns an empty string if an instantiated graph can be updated to the operations of another;
// else the reason.
std::string CompareTopology(const CUgraph_st& old_graph, const CUgraph_st& new_graph) {
  if (old_graph.nodes.size() != new_graph.nodes.size()) {
    return absl::StrCat(new_graph.nodes.size(), " nodes, where it has ", old_graph.nodes.size());
  }
  for (size_t i = 0; i < old_graph.nodes.size(); ++i) {
    const CUgraphNode_st &before = old_graph.nodes[i], &now = new_graph.nodes[i];
    if (before.operation.type != now.operation.type) {
      return absl::StrCat("node ", i, " is ", now.operation.name, ", where it has ",
                          before.operation.name);
    }
    if (before.after != now.after) {
      return absl::StrCat("node ", i, " (", now.operation.name, ") depends on other nodes");
    }
  }
  return "";
}

cudaError_t RunGraph(const CUgraph_st& graph) {
  for (const CUgraphNode_st& node : graph.nodes) {
    if (const cudaError_t error = node.operation.run(); error != cudaSuccess) {
      return Fail(error, absl::StrCat("in a graph: ", node.operation.name));
    }
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, "cudaStreamBeginCapture");
  return stream == nullptr ? cudaErrorInvalidResourceHandle : BeginCapture(*stream, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* result) {
  const ApiLock lock;
  *result = nullptr;
  CUstream_st* stream = FindStream(handle, "cudaStreamEndCapture");
  return stream == nullptr ? cudaErrorInvalidResourceHandle : EndCapture(*stream, result);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const ApiLock lock;
  CUstream_st* stream = FindStream(handle, "cudaStreamIsCapturing");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  *status = stream->capture == nullptr ? cudaStreamCaptureStatusNone
            : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  const ApiLock lock;
  if (nodes == nullptr) {
    *count = graph->nodes.size();
    return cudaSuccess;
  }
  *count = std::min(*count, graph->nodes.size());
  for (size_t i = 0; i < *count; ++i) nodes[i] = &graph->nodes[i];
  return cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->operation.type;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* result, cudaGraph_t graph, unsigned long long) {
  const ApiLock lock;
  if (graph == nullptr) return Fail(cudaErrorInvalidValue, "cudaGraphInstantiate: no graph");
  *result = new CUgraphExec_st{*graph};
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* result, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(result, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  const ApiLock lock;
  if (exec == nullptr) return Fail(cudaErrorInvalidValue, "cudaGraphLaunch: no graph");
  CUstream_st* stream = FindStream(handle, "cudaGraphLaunch");
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  // Captures a copy, because an update or destruction of `exec` does not change launched work.
  return Enqueue(*stream, {cudaGraphNodeTypeGraph, "cudaGraphLaunch",
                           [graph = exec->graph] { return RunGraph(graph); }});
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  const ApiLock lock;
  *info = {};
  const std::string difference = CompareTopology(exec->graph, *graph);
  if (!difference.empty()) {
    info->result = cudaGraphExecUpdateErrorTopologyChanged;
    return Fail(cudaErrorGraphExecUpdateFailure, absl::StrCat("cudaGraphExecUpdate: ", difference));
  }
  info->result = cudaGraphExecUpdateSuccess;
  exec->graph = *graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

}  // extern "C"
}  // namespace cooper::cuda_emulator
