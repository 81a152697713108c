#include "executor/passes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cooper {

const std::vector<Pass>& AllPasses() {
  static const auto* passes = new std::vector<Pass>{
      {"copies", InsertCopies, true},
      {"gradients", RouteGradients, true},
      {"accumulate", AccumulateGradients, false},
      {"views", MakeViews, false},
      {"in_place", ShareInPlace, false},
  };
  return *passes;
}

absl::Status RunPasses(Program& program, const std::set<std::string>& disabled) {
  for (const std::string& name : disabled) {
    std::string known;
    bool found = false;
    for (const Pass& pass : AllPasses()) {
      if (pass.required) continue;
      found = found || name == pass.name;
      absl::StrAppend(&known, known.empty() ? "" : ", ", pass.name);
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
