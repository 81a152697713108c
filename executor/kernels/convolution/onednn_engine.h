#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_ENGINE_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_ENGINE_H_

// Runs oneDNN's primitives on the calling thread. The products of onednn_product.h and the kernel
// of _winograd_weight call it within loops of cooper's own threads.
//
//   const OneDnnOnThisThread this_thread;
//   ExecuteOneDnn(reorder, {{DNNL_ARG_FROM, OneDnnMemory(from_desc, from)},
//                           {DNNL_ARG_TO, OneDnnMemory(to_desc, to)}});

#include <atomic>
#include <unordered_map>

#include "absl/types/span.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {

// Returns the CPU engine, which is never destroyed, because threads may outlive main. Thread-safe.
const dnnl::engine& OneDnnEngine();

// Returns an argument of a primitive that refers to `data`, which must stay valid and which an
// output writes to in spite of `const`. A failure of oneDNN ends the program, as in ExecuteOneDnn.
dnnl::memory OneDnnMemory(const dnnl::memory::desc& desc, const void* data);

// Runs a primitive on the calling thread alone, which must be in the scope of a OneDnnOnThisThread.
// `args` maps oneDNN's argument numbers, such as DNNL_ARG_SRC, to memory. Returns when the
// primitive has run. Throws nothing, so the body of a parallel loop may call it. If oneDNN rejects
// the arguments, which means a bug or a lack of memory, the program ends with oneDNN's message.
// Thread-safe: each thread has a stream of its own.
void ExecuteOneDnn(const dnnl::primitive& primitive,
                   const std::unordered_map<int, dnnl::memory>& args);

// The arguments of a primitive that runs often, kept from run to run: creating oneDNN's memory
// objects takes longer (1.1 us for five) than starting a primitive with them (0.2 us). Thread-safe;
// of several runs at the same time all but one create their own.
class KeptOneDnnArguments {
 public:
  // An argument's number, and what OneDnnMemory takes. `desc` is read during the call only.
  struct Argument {
    int number;
    const dnnl::memory::desc& desc;
    const void* data;
  };

  KeptOneDnnArguments() = default;
  ~KeptOneDnnArguments() { delete kept_.load(); }
  KeptOneDnnArguments(const KeptOneDnnArguments&) = delete;
  KeptOneDnnArguments& operator=(const KeptOneDnnArguments&) = delete;

  // Runs the primitive as ExecuteOneDnn does. Every call must pass the same numbers and layouts;
  // the data need not stay valid after it.
  void Execute(const dnnl::primitive& primitive, absl::Span<const Argument> args) const;

 private:
  using Arguments = std::unordered_map<int, dnnl::memory>;
  mutable std::atomic<Arguments*> kept_ = nullptr;  // null while a run uses them; owned
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_ONEDNN_ENGINE_H_
