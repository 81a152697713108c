#include "executor/cpu/nn/onednn_engine.h"

namespace cooper {
namespace {

dnnl::stream& ThisThreadsStream() {
  thread_local dnnl::stream stream(OneDnnEngine());
  return stream;
}

}  // namespace

// Never destroyed: threads may end after main.
const dnnl::engine& OneDnnEngine() {
  static const auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::memory OneDnnMemory(const dnnl::memory::desc& desc, const void* data) {
  return dnnl::memory(desc, OneDnnEngine(), const_cast<void*>(data));
}

void ExecuteOneDnn(const dnnl::primitive& primitive,
                   const std::unordered_map<int, dnnl::memory>& args) {
  primitive.execute(ThisThreadsStream(), args);
}

}  // namespace cooper
