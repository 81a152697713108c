#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_ENGINE_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_ENGINE_H_

// What it takes to run a primitive of oneDNN's on this thread.

#include <unordered_map>

#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {

const dnnl::engine& OneDnnEngine();

// An argument of a primitive. Throws nothing, as ExecuteOneDnn.
dnnl::memory OneDnnMemory(const dnnl::memory::desc& desc, const void* data);

// Runs it on the calling thread alone, where there is a OneDnnOnThisThread. Throws nothing, so that
// the pieces of a loop may call it: that oneDNN refuses arguments which fit the primitive is a bug
// or the end of memory, and ends the program with what it says.
void ExecuteOneDnn(const dnnl::primitive& primitive,
                   const std::unordered_map<int, dnnl::memory>& args);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_ENGINE_H_
