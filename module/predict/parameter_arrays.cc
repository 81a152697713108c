#include "module/predict/parameter_arrays.h"

#include "ndarray/status_macros.h"

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

}  // namespace cooper
