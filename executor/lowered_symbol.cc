#include "executor/lowered_symbol.h"

#include <vector>

#include "executor/compile/graph_passes/graph_passes.h"
#include "executor/compile/program_passes/program_passes.h"
#include "executor/program.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Whether the arrays that there are now and were not then have these shapes and types, and none has
// gone.
bool AsInferred(const ArrayMap& now, const ArrayMap& then, const std::vector<std::string>& names,
                const std::vector<Shape>& shapes, const std::vector<DType>& types) {
  size_t found = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto it = now.find(names[i]);
    if (it == now.end()) {
      if (then.contains(names[i])) return false;
      continue;
    }
    ++found;
    if (it->second.shape() != shapes[i] || it->second.dtype() != types[i]) return false;
  }
  return found == now.size();
}

}  // namespace

bool Executor::Lowered::StillHolds(const Symbol& now, const BindOptions& with) const {
  const Program& p = result.program;
  return now.outputs() == symbol.outputs() && with.context == options.context &&
         with.group2ctx == options.group2ctx && with.shapes == options.shapes &&
         with.types == options.types && with.grad_req == options.grad_req &&
         with.grad_reqs == options.grad_reqs && with.disabled_passes == options.disabled_passes &&
         AsInferred(with.args, options.args, p.arg_names, result.arg_shapes, result.arg_types) &&
         AsInferred(with.auxs, options.auxs, p.aux_names, result.aux_shapes, result.aux_types);
}

absl::StatusOr<LoweredProgram> LowerSymbol(const Symbol& symbol, const BindOptions& options,
                                           const std::set<std::string>& disabled) {
  LowerOptions lower{.shapes = options.shapes,
                     .types = options.types,
                     .context = options.context,
                     .group2ctx = options.group2ctx,
                     .grad_reqs = options.grad_reqs,
                     .disabled_passes = disabled};
  for (const ArrayMap* arrays : {&options.args, &options.auxs}) {
    for (const auto& [name, array] : *arrays) {
      lower.shapes[name] = array.shape();
      lower.types[name] = array.dtype();
    }
  }
  for (const std::string& name : symbol.ListArguments()) {
    lower.grad_reqs.emplace(name, options.grad_req);
  }
  COOPER_ASSIGN_OR_RETURN(LoweredProgram lowered, LowerToProgram(symbol, lower));
  COOPER_RETURN_IF_ERROR(RunPasses(lowered.program, disabled));
  return lowered;
}

std::set<std::string> WithoutRewriting(std::set<std::string> disabled) {
  disabled.insert({"recompute", "tiles"});
  for (const GraphPass& pass : AllGraphPasses()) disabled.insert(pass.name);
  return disabled;
}

}  // namespace cooper
