#include "module/onnx/constant_values.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// Returns the array of a variable, copied if it is on another device.
absl::StatusOr<NDArray> OnCpu(const std::string& name, const NDArray& array) {
  if (array.is_null()) {
    return absl::FailedPreconditionError(absl::StrCat("it depends on '", name, "'"));
  }
  return array.context() == Context::Cpu() ? array : array.CopyTo(Context::Cpu());
}

absl::StatusOr<NDArray> Run(const Symbol& symbol, BindOptions options) {
  COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor,
                          Executor::Bind(symbol, std::move(options)));
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/false));
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor->outputs());
  return outputs[0].Copy();
}

}  // namespace

absl::StatusOr<NDArray> ConstantValue(const NodeEntry& entry, const ArrayMap& args,
                                      const ArrayMap& auxs) {
  if (entry.node->is_variable()) {
    const std::string& name = entry.node->name();
    const NDArray arg = FindArray(args, name);
    return OnCpu(name, arg.is_null() ? FindArray(auxs, name) : arg);
  }
  const Symbol symbol({entry});
  const VariableNames names = symbol.ListVariables();
  BindOptions options;
  const auto take = [](const std::vector<std::string>& wanted, const ArrayMap& given,
                       ArrayMap& taken) -> absl::Status {
    for (const std::string& name : wanted) {
      COOPER_ASSIGN_OR_RETURN(taken[name], OnCpu(name, FindArray(given, name)));
    }
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(take(names.args, args, options.args));
  COOPER_RETURN_IF_ERROR(take(names.auxs, auxs, options.auxs));
  return Run(symbol, std::move(options));
}

absl::StatusOr<NDArray> ValueFromShapes(const Node& node, const std::vector<Shape>& shapes,
                                        const std::vector<DType>& types) {
  Node::Fields fields = node.fields();
  fields.inputs.clear();
  fields.variables = nullptr;
  BindOptions options;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string name = absl::StrCat("input", i);
    fields.inputs.push_back(Symbol::Variable(name).outputs()[0]);
    COOPER_ASSIGN_OR_RETURN(options.args[name], NDArray::Zeros(shapes[i], types[i]));
  }
  return Run(Symbol({NodeEntry{Node::Make(std::move(fields)), 0}}), std::move(options));
}

}  // namespace cooper
