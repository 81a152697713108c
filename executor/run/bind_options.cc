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
      if (array.is_null()) continue;  // a null array counts as missing
      compile.shapes[name] = array.shape();
      compile.types[name] = array.dtype();
    }
  }
  // Arguments are listed only if some have gradients, because listing them walks the graph.
  if (options.grad_req != WriteReq::kNull) {
    for (const std::string& name : symbol.ListArguments()) {
      compile.grad_reqs.emplace(name, options.grad_req);
    }
  }
  return compile;
}

BindOptions BindOptionsOf(const CompileOptions& compile) {
  return {.context = compile.context,
          .group2ctx = compile.group2ctx,
          .fallback = compile.fallback,
          .shapes = compile.shapes,
          .types = compile.types,
          .grad_req = WriteReq::kNull,
          .grad_reqs = compile.grad_reqs,
          .unbound_outputs = compile.unbound_outputs,
          .constants = compile.constants,
          .disabled_passes = compile.disabled_passes};
}

std::vector<std::shared_ptr<Arena>> ArenasOf(const std::vector<Context>& contexts,
                                             const BindOptions& options) {
  std::vector<std::shared_ptr<Arena>> arenas = {options.arena};
  for (size_t i = 1; i < contexts.size(); ++i) {
    const auto it = options.group_arenas.find(contexts[i]);
    arenas.push_back(it == options.group_arenas.end() ? nullptr : it->second);
  }
  return arenas;
}

}  // namespace cooper
