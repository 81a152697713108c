#include "executor/compile/program_passes/program_passes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/compile/graph_passes/graph_passes.h"

namespace cooper {

const std::vector<Pass>& AllPasses() {
  static const auto* passes = new std::vector<Pass>{
      {"copies", InsertCopies, true},
      {"gradients", RouteGradients, true},
      {"accumulate", AccumulateGradients, false},
      {"views", MakeViews, false},
      {"pieces", PlacePieces, false},
      {"recompute", Recompute, false},
      {"in_place", ShareInPlace, false},
      {"tiles", TileElementwise, false},
  };
  return *passes;
}

absl::Status RunPasses(Program& program, const std::set<std::string>& disabled) {
  for (const std::string& name : disabled) {
    std::string known;
    bool found = false;
    auto consider = [&](const char* pass) {
      found = found || name == pass;
      absl::StrAppend(&known, known.empty() ? "" : ", ", pass);
    };
    for (const GraphPass& pass : AllGraphPasses()) consider(pass.name);
    for (const Pass& pass : AllPasses()) {
      if (!pass.required) consider(pass.name);
    }
    if (!found) {
      return absl::InvalidArgumentError(
          absl::StrCat("no pass called '", name, "' can be disabled; those are ", known));
    }
  }
  for (const Pass& pass : AllPasses()) {
    if (!disabled.contains(pass.name)) pass.run(program);
  }
  return absl::OkStatus();
}

}  // namespace cooper
