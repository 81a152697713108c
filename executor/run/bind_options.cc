#include "executor/run/bind_options.h"

namespace cooper {

CompileOptions CompileOptionsOf(const Symbol& symbol, const BindOptions& options) {
  CompileOptions compile{.shapes = options.shapes,
                         .types = options.types,
                         .context = options.context,
                         .group2ctx = options.group2ctx,
                         .fallback = options.fallback,
                         .grad_reqs = options.grad_reqs,
                         .constants = options.constants,
                         .unbound_outputs = options.unbound_outputs,
                         .disabled_passes = options.disabled_passes};
  for (const ArrayMap* arrays : {&options.args, &options.auxs}) {
    for (const auto& [name, array] : *arrays) {
      if (array.is_null()) continue;  // allocated, as if it were not there
      compile.shapes[name] = array.shape();
      compile.types[name] = array.dtype();
    }
  }
  // Nothing is said of an argument without a gradient: listing them walks the graph.
  if (options.grad_req != WriteReq::kNull) {
    for (const std::string& name : symbol.ListArguments()) {
      compile.grad_reqs.emplace(name, options.grad_req);
    }
  }
  return compile;
}

std::vector<std::shared_ptr<Arena>> ArenasOf(const std::vector<Context>& contexts,
                                             BindOptions& options) {
  std::vector<std::shared_ptr<Arena>> arenas = {options.arena};
  for (size_t i = 1; i < contexts.size(); ++i) {
    std::shared_ptr<Arena>& arena = options.group_arenas[contexts[i]];
    if (arena == nullptr) arena = std::make_shared<Arena>(contexts[i]);
    arenas.push_back(arena);
  }
  return arenas;
}

}  // namespace cooper
