#include "module/network/bind_errors.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

std::vector<std::string> NamesOf(const std::vector<DataDesc>& descs) {
  std::vector<std::string> names;
  names.reserve(descs.size());
  for (const DataDesc& desc : descs) names.push_back(desc.name);
  return names;
}

// Says how to declare `names`, which the iterator provides and the module does not declare.
std::string HowToDeclare(const std::vector<std::string>& names, const char* option,
                         const std::vector<std::string>& args) {
  std::string text;
  for (const std::string& name : names) {
    if (absl::c_linear_search(args, name)) {
      absl::StrAppend(&text, "; declare the input '", name, "' in ModuleOptions::", option,
                      " (of a bucket, in the BucketSymbol that sym_gen returns)");
    } else {
      absl::StrAppend(&text, "; the symbol has no argument '", name, "'", DidYouMean(name, args));
    }
  }
  return text;
}

bool IsNamedAsParameter(absl::string_view name) {
  return absl::c_any_of(std::vector<absl::string_view>{"weight", "bias", "gamma", "beta"},
                        [&](absl::string_view end) { return absl::EndsWith(name, end); });
}

}  // namespace

absl::Status CheckInputNames(const std::vector<DataDesc>& data_shapes,
                             const std::vector<DataDesc>& label_shapes,
                             const ModuleOptions& options, const std::vector<std::string>& args) {
  const std::vector<std::string> given = NamesOf(data_shapes);
  const std::vector<std::string>& wanted = options.data_names;
  if (!std::is_permutation(given.begin(), given.end(), wanted.begin(), wanted.end())) {
    std::vector<std::string> undeclared;
    absl::c_copy_if(given, std::back_inserter(undeclared),
                    [&](const std::string& name) { return !absl::c_linear_search(wanted, name); });
    std::string advice = HowToDeclare(undeclared, "data_names", args);
    for (const std::string& name : wanted) {
      if (absl::c_linear_search(given, name)) continue;
      absl::StrAppend(&advice, "; '", name,
                      "' is in data_names, so the iterator's provide_data "
                      "(or the caller of Bind) has to describe it");
    }
    return absl::InvalidArgumentError(absl::StrCat("Bind: data_shapes has (", JoinNames(given),
                                                   "), expected data_names (", JoinNames(wanted),
                                                   ")", advice));
  }
  for (const DataDesc& desc : label_shapes) {
    if (absl::c_linear_search(options.label_names, desc.name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "Bind: label_shapes has '", desc.name, "', expected label_names (",
        JoinNames(options.label_names), ")", HowToDeclare({desc.name}, "label_names", args)));
  }
  return absl::OkStatus();
}

KnownShapes ShapesOfInputs(const std::vector<std::string>& args,
                           const std::vector<DataDesc>& data_shapes,
                           const std::vector<DataDesc>& label_shapes) {
  KnownShapes shapes;
  for (const auto* descs : {&data_shapes, &label_shapes}) {
    for (const DataDesc& desc : *descs) {
      if (absl::c_linear_search(args, desc.name)) shapes[desc.name] = desc.shape;
    }
  }
  return shapes;
}

absl::Status ExplainUnknownShapes(const absl::Status& status, const Symbol& symbol,
                                  const KnownShapes& inputs, const ModuleOptions& options) {
  if (!absl::IsFailedPrecondition(status)) return status;
  const absl::StatusOr<InferredShapes> shapes = InferShapePartial(symbol, inputs);
  if (!shapes.ok()) return status;
  const std::vector<std::string> args = symbol.ListArguments();
  const std::vector<std::string> params = ParamNames(args, options);
  std::vector<std::string> names;
  for (size_t i = 0; i < args.size(); ++i) {
    if (shapes->args[i].IsFull() || IsNamedAsParameter(args[i])) continue;
    if (absl::c_linear_search(params, args[i])) names.push_back(absl::StrCat("'", args[i], "'"));
  }
  if (names.empty()) return status;
  constexpr size_t kMaxNames = 10;
  const bool cut = names.size() > kMaxNames;
  if (cut) names.resize(kMaxNames);
  return absl::FailedPreconditionError(absl::StrCat(
      status.message(), "; ", JoinNames(names), cut ? ", ..." : "",
      names.size() == 1 ? " is" : " are", " in neither data_names (", JoinNames(options.data_names),
      ") nor label_names (", JoinNames(options.label_names),
      "), and taken for a parameter: an input is declared "
      "in ModuleOptions::data_names (of a bucket, in the BucketSymbol that sym_gen "
      "returns), and the "
      "iterator's provide_data describes it"));
}

absl::Status ExplainSharedShapes(const absl::Status& status, const Symbol& symbol,
                                 const KnownShapes& inputs, const Parameters& parameters,
                                 const std::function<std::string(const std::string&)>& owner) {
  if (!absl::IsInvalidArgument(status)) return status;
  const absl::StatusOr<InferredShapes> shapes = InferShapePartial(symbol, inputs);
  if (!shapes.ok()) return status;
  const VariableNames names = symbol.ListVariables();
  const auto differs = [&](ParameterKind kind, const std::vector<std::string>& of_kind,
                           const std::vector<PartialShape>& inferred) {
    for (size_t i = 0; i < of_kind.size(); ++i) {
      const NDArray value = parameters.Value(kind, of_kind[i]);
      if (value.is_null() || !inferred[i].IsFull()) continue;
      if (inferred[i].ToShape() == value.shape()) continue;
      return absl::StrCat("parameter '", of_kind[i], "' is ", inferred[i].ToString(),
                          " for this key, but ", value.shape().ToString(), " for ",
                          owner(of_kind[i]),
                          ": all keys share it, so its shape must not depend on "
                          "the key");
    }
    return std::string();
  };
  std::string found = differs(ParameterKind::kArg, names.args, shapes->args);
  if (found.empty()) found = differs(ParameterKind::kAux, names.auxs, shapes->auxs);
  return found.empty() ? status : AddContext(status, found);
}

}  // namespace cooper
