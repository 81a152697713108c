#include "executor/run/reshape_options.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {
namespace {

// Removes arrays that do not have the new shape from `arrays`, and adds their dtypes to the known
// ones.
absl::Status KeepShared(const std::vector<std::string>& names,
                        const std::vector<PartialShape>& inferred, const KnownShapes& given,
                        bool partial_shaping, bool allow_up_sizing, ArrayMap& arrays,
                        KnownTypes& types) {
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const auto it = arrays.find(name);
    if (it == arrays.end() || it->second.is_null()) continue;
    const NDArray array = it->second;
    const Shape shape = inferred[i].ToShape();
    if (array.shape() == shape) continue;
    if (!partial_shaping && !given.contains(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Reshape: the shape of '", name, "' would change from ", array.shape().ToString(), " to ",
          shape.ToString(), "; give its shape, or allow it with partial_shaping"));
    }
    if (!allow_up_sizing && shape.num_elements() > array.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Reshape: '", name, "' would grow from ", array.shape().ToString(), " to ",
                       shape.ToString(), "; allow it with allow_up_sizing"));
    }
    types[name] = array.dtype();
    arrays.erase(it);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BindOptions> ReshapeOptions(const Symbol& symbol, BindOptions bound,
                                           const KnownShapes& shapes, bool partial_shaping,
                                           bool allow_up_sizing) {
  COOPER_ASSIGN_OR_RETURN(const InferredShapes inferred, InferShape(symbol, shapes));
  const std::vector<std::string> args = symbol.ListArguments();
  const auto keep = [&](const std::vector<std::string>& names,
                        const std::vector<PartialShape>& new_shapes, ArrayMap& arrays) {
    return KeepShared(names, new_shapes, shapes, partial_shaping, allow_up_sizing, arrays,
                      bound.types);
  };
  bound.shapes = shapes;
  COOPER_RETURN_IF_ERROR(keep(args, inferred.args, bound.args));
  COOPER_RETURN_IF_ERROR(keep(args, inferred.args, bound.grads));
  COOPER_RETURN_IF_ERROR(keep(symbol.ListAuxiliaryStates(), inferred.auxs, bound.auxs));
  return bound;
}

}  // namespace cooper
