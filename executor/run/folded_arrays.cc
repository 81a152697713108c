#include "executor/folded_arrays.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

absl::StatusOr<NDArray> Compute(const Symbol& expression, const ArrayMap& args, Context context) {
  BindOptions options{.context = context, .grad_req = WriteReq::kNull};
  for (const std::string& name : expression.ListArguments()) {
    options.args[name] = FindArray(args, name);
    if (options.args[name].is_null()) {
      return absl::InvalidArgumentError(
          absl::StrCat("constant '", name, "' has no array; constants are given when binding"));
    }
  }
  COOPER_ASSIGN_OR_RETURN(const auto executor, Executor::SimpleBind(expression, options));
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/false));
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor->outputs());
  return outputs[0].Copy();
}

}  // namespace

absl::StatusOr<NDArray> FoldedArrays::Get(const FoldedConstant& folded, const ArrayMap& args,
                                          Context context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = arrays_.find(folded.name);
  if (it != arrays_.end()) return it->second;
  absl::StatusOr<NDArray> array = Compute(folded.expression, args, context);
  COOPER_RETURN_IF_ERROR(AddContext(array.status(), "computing '", folded.name, "' once"));
  return arrays_.emplace(folded.name, *std::move(array)).first->second;
}

}  // namespace cooper
