#include "executor/run/folded_arrays.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/compile/compiled_program.h"
#include "executor/run/bound_program.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::StatusOr<NDArray> Compute(const Symbol& expression, const ArrayMap& args,
                                const ArrayMap& auxs, Context context) {
  CompileOptions options{.context = context};
  ProgramArrays arrays;
  const auto add = [&](const std::string& name, std::vector<NDArray>& to) {
    NDArray& array = to.emplace_back(FindArray(args, name));
    // An auxiliary state of the network may be an argument of the expression.
    if (array.is_null()) array = FindArray(auxs, name);
    if (array.is_null()) {
      return absl::InvalidArgumentError(
          absl::StrCat("constant '", name, "' has no array; constants are given when binding"));
    }
    options.shapes[name] = array.shape();
    options.types[name] = array.dtype();
    return absl::OkStatus();
  };
  for (const std::string& name : expression.ListArguments()) {
    COOPER_RETURN_IF_ERROR(add(name, arrays.args));
  }
  for (const std::string& name : expression.ListAuxiliaryStates()) {
    COOPER_RETURN_IF_ERROR(add(name, arrays.auxs));
  }
  COOPER_ASSIGN_OR_RETURN(auto compiled, CompiledProgram::Compile(expression, options));
  COOPER_ASSIGN_OR_RETURN(const auto run,
                          BoundProgram::Bind(std::move(compiled), std::move(arrays)));
  COOPER_RETURN_IF_ERROR(run->Forward(/*is_train=*/false));
  COOPER_ASSIGN_OR_RETURN(const auto outputs, run->outputs());
  return outputs[0].Copy();
}

}  // namespace

absl::StatusOr<NDArray> FoldedArrays::Get(const FoldedConstant& folded, const ArrayMap& args,
                                          const ArrayMap& auxs, Context context, Context place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = arrays_.find({folded.name, place});
  if (it != arrays_.end()) return it->second;
  absl::StatusOr<NDArray> array = Compute(folded.expression, args, auxs, context);
  if (array.ok() && !SharesMemory(array->context(), place)) array = array->CopyTo(place);
  COOPER_RETURN_IF_ERROR(AddContext(array.status(), "computing '", folded.name, "' once"));
  return arrays_.emplace(std::pair(folded.name, place), *std::move(array)).first->second;
}

absl::Status BindFolded(const CompiledProgram& compiled, BindOptions& options) {
  if (options.folded == nullptr) options.folded = std::make_shared<FoldedArrays>();
  size_t slot = compiled.arg_contexts().size() - compiled.folded().size();
  for (const FoldedConstant& folded : compiled.folded()) {
    COOPER_ASSIGN_OR_RETURN(options.args[folded.name],
                            options.folded->Get(folded, options.args, options.auxs, options.context,
                                                compiled.arg_contexts()[slot++]));
  }
  return absl::OkStatus();
}

}  // namespace cooper
