#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_ENGINE_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_ENGINE_H_

// Runs oneDNN's primitives on the calling thread.

#include <unordered_map>

#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {

// Returns the CPU engine, which is never destroyed.
const dnnl::engine& OneDnnEngine();

// Returns an argument of a primitive that refers to `data`. A failure of oneDNN ends the program,
// as in ExecuteOneDnn.
dnnl::memory OneDnnMemory(const dnnl::memory::desc& desc, const void* data);

// Runs a primitive on the calling thread alone, which must be in the scope of a OneDnnOnThisThread.
// Throws nothing, so the body of a parallel loop may call it. If oneDNN rejects the arguments,
// which means a bug or a lack of memory, the program ends with oneDNN's message.
void ExecuteOneDnn(const dnnl::primitive& primitive,
                   const std::unordered_map<int, dnnl::memory>& args);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_ENGINE_H_
