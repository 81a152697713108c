#include "executor/bound_arrays.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// The given array, checked against what the graph needs, or a new one of zeros.
absl::StatusOr<NDArray> TakeOrAllocate(const ArrayMap& given, const char* kind,
                                       const std::string& name, const Shape& shape, DType dtype,
                                       Context context) {
  NDArray array = FindArray(given, name);
  if (array.is_null()) return NDArray::Zeros(shape, dtype, context);
  if (array.shape() == shape && array.dtype() == dtype && SharesMemory(array.context(), context)) {
    return array;
  }
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", name, "' is ", array.ToString(),
                                                 ", expected ", shape.ToString(), " ",
                                                 DTypeName(dtype), " ", context.ToString()));
}

absl::Status CheckUnboundNames(const BindOptions& options, const std::vector<std::string>& names) {
  for (const std::string& name : options.unbound_args) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return absl::NotFoundError(
          absl::StrCat("'", name, "' is no argument; those are ", absl::StrJoin(names, ", ")));
    }
  }
  return absl::OkStatus();
}

}  // namespace

NDArray FindArray(const ArrayMap& arrays, absl::string_view name) {
  const auto it = arrays.find(std::string(name.data(), name.size()));
  return it == arrays.end() ? NDArray() : it->second;
}

ProgramArrays BoundArrays::Of(const Program& program) const {
  ProgramArrays arrays;
  for (const std::string& name : program.arg_names) {
    arrays.args.push_back(FindArray(args, name));
    arrays.grads.push_back(FindArray(grads, name));
  }
  for (const std::string& name : program.aux_names) {
    arrays.auxs.push_back(FindArray(auxs, name));
  }
  return arrays;
}

absl::StatusOr<BoundArrays> BindArrays(const LoweredProgram& lowered, const BindOptions& options) {
  const Program& p = lowered.program;
  COOPER_RETURN_IF_ERROR(CheckUnboundNames(options, p.arg_names));
  BoundArrays arrays;
  for (size_t i = 0; i < p.arg_names.size(); ++i) {
    const std::string& name = p.arg_names[i];
    if (options.unbound_args.contains(name)) continue;
    COOPER_ASSIGN_OR_RETURN(arrays.args[name],
                            TakeOrAllocate(options.args, "argument", name, lowered.arg_shapes[i],
                                           lowered.arg_types[i], lowered.arg_contexts[i]));
  }
  for (size_t i = 0; i < p.aux_names.size(); ++i) {
    const std::string& name = p.aux_names[i];
    COOPER_ASSIGN_OR_RETURN(
        arrays.auxs[name],
        TakeOrAllocate(options.auxs, "auxiliary state", name, lowered.aux_shapes[i],
                       lowered.aux_types[i], lowered.aux_contexts[i]));
  }
  for (const ProgramGradient& g : p.gradients) {
    const std::string& name = p.arg_names[g.arg];
    COOPER_ASSIGN_OR_RETURN(
        arrays.grads[name],
        TakeOrAllocate(options.grads, "gradient of", name, lowered.arg_shapes[g.arg],
                       lowered.arg_types[g.arg], lowered.arg_contexts[g.arg]));
  }
  return arrays;
}

}  // namespace cooper
