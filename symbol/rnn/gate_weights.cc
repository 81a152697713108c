#include "symbol/rnn/gate_weights.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/status_macros.h"

namespace cooper {

absl::StatusOr<NDArray> TakeArray(ArrayMap& args, const std::string& name) {
  auto it = args.find(name);
  if (it == args.end() || it->second.is_null()) {
    return absl::NotFoundError(absl::StrCat("no weight called '", name, "'"));
  }
  NDArray array = it->second;
  args.erase(it);
  return array;
}

absl::StatusOr<std::vector<NDArray>> SplitRows(const NDArray& array, const std::string& name,
                                               int parts, int64_t rows) {
  if (array.shape().rank() < 1 || array.shape()[0] != parts * rows) {
    return absl::InvalidArgumentError(
        absl::StrCat("weight '", name, "' has shape ", array.shape().ToString(), ", expected ",
                     parts * rows, " rows, ", rows, " for each of ", parts, " gates"));
  }
  std::vector<NDArray> pieces;
  for (int i = 0; i < parts; ++i) {
    COOPER_ASSIGN_OR_RETURN(const NDArray view, array.Slice(i * rows, (i + 1) * rows));
    COOPER_ASSIGN_OR_RETURN(NDArray piece, view.Copy());
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

absl::StatusOr<NDArray> ConcatRows(const std::vector<NDArray>& arrays,
                                   const std::vector<std::string>& names) {
  Shape shape = arrays[0].shape();
  if (shape.rank() < 1) {
    return absl::InvalidArgumentError(absl::StrCat("weight '", names[0], "' is a scalar"));
  }
  shape[0] = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    Shape rows = arrays[i].shape();
    if (rows.rank() == shape.rank()) {
      shape[0] += rows[0];
      rows[0] = shape[0];
    }
    if (rows != shape || arrays[i].dtype() != arrays[0].dtype()) {
      return absl::InvalidArgumentError(
          absl::StrCat("weight '", names[i], "' is ", arrays[i].ToString(),
                       ", which does not go with '", names[0], "', ", arrays[0].ToString()));
    }
  }
  COOPER_ASSIGN_OR_RETURN(NDArray packed,
                          NDArray::Empty(shape, arrays[0].dtype(), arrays[0].context()));
  int64_t row = 0;
  for (const NDArray& array : arrays) {
    COOPER_ASSIGN_OR_RETURN(const NDArray place, packed.Slice(row, row + array.shape()[0]));
    COOPER_RETURN_IF_ERROR(place.CopyFrom(array));
    row += array.shape()[0];
  }
  return packed;
}

}  // namespace cooper
