#include "symbol/rnn/gate_weights.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<NDArray> ExtractArray(ArrayMap& args, const std::string& name) {
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

}  // namespace cooper
