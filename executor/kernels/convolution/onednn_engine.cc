#include "executor/kernels/convolution/onednn_engine.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "oneapi/dnnl/dnnl_debug.h"

namespace cooper {
namespace {

dnnl::stream& ThisThreadsStream() {
  thread_local dnnl::stream stream(OneDnnEngine());
  return stream;
}

// Returns the primitive's kind and oneDNN's implementation, as in "reorder jit:uni". Used in fatal
// messages, so it must not throw.
std::string NameOf(const dnnl::primitive& primitive) {
  const_dnnl_primitive_desc_t desc = nullptr;
  auto kind = dnnl_undefined_primitive;
  const char* implementation = "";
  if (dnnl_primitive_get_primitive_desc(primitive.get(true), &desc) != dnnl_success ||
      dnnl_primitive_desc_query(desc, dnnl_query_primitive_kind, 0, &kind) != dnnl_success ||
      dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &implementation) !=
          dnnl_success) {
    return "an unknown primitive";
  }
  return absl::StrCat(dnnl_prim_kind2str(kind), " ", implementation);
}

}  // namespace

// Never destroyed, because threads may outlive main.
const dnnl::engine& OneDnnEngine() {
  static const auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

// The bodies of parallel loops call both functions. No exception may leave a body because other
// threads are still working on the loop that it would unwind.
dnnl::memory OneDnnMemory(const dnnl::memory::desc& desc, const void* data) {
  try {
    return dnnl::memory(desc, OneDnnEngine(), const_cast<void*>(data));
  } catch (const dnnl::error& error) {
    LOG(FATAL) << "oneDNN makes no memory of " << desc.get_size() << " bytes: " << error.what();
  }
}

void ExecuteOneDnn(const dnnl::primitive& primitive,
                   const std::unordered_map<int, dnnl::memory>& args) {
  try {
    primitive.execute(ThisThreadsStream(), args);
  } catch (const dnnl::error& error) {
    LOG(FATAL) << "oneDNN refuses to run " << NameOf(primitive) << ": " << error.what();
  }
}

void KeptOneDnnArguments::Execute(const dnnl::primitive& primitive,
                                  absl::Span<const Argument> args) const {
  std::unique_ptr<Arguments> own(kept_.exchange(nullptr));
  const bool fresh = own == nullptr;
  if (fresh) own = std::make_unique<Arguments>();
  for (const auto& [number, desc, data] : args) {
    if (fresh) {
      own->emplace(number, OneDnnMemory(desc, data));
      continue;
    }
    try {
      own->at(number).set_data_handle(const_cast<void*>(data));
    } catch (const dnnl::error& error) {
      LOG(FATAL) << "oneDNN does not move argument " << number << " of " << NameOf(primitive)
                 << ": " << error.what();
    }
  }
  ExecuteOneDnn(primitive, *own);
  own.reset(kept_.exchange(own.release()));
}

}  // namespace cooper
