#include "tests/operators/run_operator.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/symbol.h"

namespace cooper {

absl::StatusOr<OperatorRun> RunOperator(const std::string& op, const AttrMap& attrs,
                                        const std::vector<NDArray>& inputs, Context context) {
  BindOptions options{.context = context};
  std::vector<Symbol> variables;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = absl::StrCat("input", i);
    variables.push_back(Symbol::Variable(name));
    COOPER_ASSIGN_OR_RETURN(options.args[name], inputs[i].CopyTo(context));
  }
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol,
                          Symbol::Create(op, {.inputs = variables, .attrs = attrs}));
  COOPER_ASSIGN_OR_RETURN(const auto executor, Executor::SimpleBind(symbol, options));
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/true));
  OperatorRun run;
  std::vector<NDArray> heads;
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor->outputs());
  for (const NDArray& output : outputs) {
    COOPER_ASSIGN_OR_RETURN(run.outputs.emplace_back(), output.ToVector<float>());
    COOPER_ASSIGN_OR_RETURN(heads.emplace_back(),
                            NDArray::Full(output.shape(), 1, output.dtype(), context));
  }
  COOPER_RETURN_IF_ERROR(executor->Backward(heads));
  for (size_t i = 0; i < inputs.size(); ++i) {
    run.grads.emplace_back();
    const auto found = executor->grad_dict().find(absl::StrCat("input", i));
    if (found == executor->grad_dict().end()) continue;
    COOPER_ASSIGN_OR_RETURN(run.grads.back(), found->second.ToVector<float>());
  }
  return run;
}

}  // namespace cooper
