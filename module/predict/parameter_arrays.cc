#include "module/predict/parameter_arrays.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<ArrayMap> OnContext(const ArrayMap& arrays, const Context& context) {
  ArrayMap moved;
  for (const auto& [name, array] : arrays) {
    if (array.is_null()) continue;
    if (array.context() == context) {
      moved.emplace(name, array);
    } else {
      COOPER_ASSIGN_OR_RETURN(moved[name], array.CopyTo(context));
    }
  }
  return moved;
}

ArrayMap Among(const ArrayMap& arrays, const std::vector<std::string>& names) {
  ArrayMap found;
  for (const std::string& name : names) {
    const auto it = arrays.find(name);
    if (it != arrays.end()) found.insert(*it);
  }
  return found;
}

bool AllAre(DType dtype, const ArrayMap& arrays) {
  return absl::c_all_of(arrays, [dtype](const auto& each) { return each.second.dtype() == dtype; });
}

void FindInputTypes(const ArrayMap& args, const ArrayMap& auxs, const KnownTypes& named,
                    InferenceNetwork& network) {
  for (const std::string& input : network.inputs) {
    if (const auto it = named.find(input); it != named.end()) network.types.insert(*it);
  }
  const VariableNames names = network.symbol.ListVariables();
  const ArrayMap used_args = Among(args, names.args), used_auxs = Among(auxs, names.auxs);
  if (AllAre(DType::kFloat32, used_args)) return;
  KnownTypes known = network.types;
  for (const ArrayMap* arrays : {&used_args, &used_auxs}) {
    for (const auto& [name, array] : *arrays) known[name] = array.dtype();
  }
  const auto inferred = InferTypePartial(network.symbol, known);
  if (!inferred.ok()) {
    for (const std::string& input : network.inputs) {
      network.types.emplace(input, DType::kFloat32);
    }
    return;
  }
  for (size_t i = 0; i < names.args.size(); ++i) {
    const std::string& name = names.args[i];
    const std::optional<DType> type = inferred->args[i];
    if (!type.has_value() || *type == DType::kFloat32 || !IsFloating(*type)) continue;
    if (known.contains(name) || !absl::c_linear_search(network.inputs, name)) continue;
    network.other_floats[name] = *type;
  }
}

absl::Status ParameterTypes::Convert(const Symbol& symbol, const KnownTypes& inputs, ArrayMap& args,
                                     ArrayMap& auxs) {
  const auto inferred = InferTypePartial(symbol, inputs);
  if (!inferred.ok()) return absl::OkStatus();
  const VariableNames names = symbol.ListVariables();
  const auto convert = [&](const std::vector<std::string>& variables,
                           const std::vector<std::optional<DType>>& types,
                           ArrayMap& arrays) -> absl::Status {
    for (size_t i = 0; i < variables.size(); ++i) {
      const auto it = arrays.find(variables[i]);
      if (it == arrays.end() || !types[i].has_value() || it->second.dtype() == *types[i]) continue;
      NDArray& converted = converted_[{variables[i], *types[i]}];
      if (converted.is_null()) {
        COOPER_ASSIGN_OR_RETURN(
            converted, AddContext(it->second.AsType(*types[i]), "parameter '", variables[i], "'"));
      }
      it->second = converted;
    }
    return absl::OkStatus();
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  COOPER_RETURN_IF_ERROR(convert(names.args, inferred->args, args));
  return convert(names.auxs, inferred->auxs, auxs);
}

}  // namespace cooper
