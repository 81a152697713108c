#include "module/predict/requests/request_format.h"

#include <functional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "module/parameters/finite.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status Wrong(absl::string_view input, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("input '", input, "' ", what));
}

bool IsOfLength(const RequestInput& input) {
  for (int i = 0; i < input.shape.rank(); ++i) {
    if (input.shape[i] == kUnknownDim) return true;
  }
  return false;
}

}  // namespace

absl::Status RequestFormat::Check() const {
  if (!lengths.empty() && lengths[0] < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("RequestBatcher: the first of lengths is ", lengths[0]));
  }
  if (absl::c_adjacent_find(lengths, std::greater_equal<>()) != lengths.end()) {
    return absl::InvalidArgumentError("RequestBatcher: lengths do not rise");
  }
  // Not from a list, which would copy the string and let the view outlive the copy.
  absl::flat_hash_set<absl::string_view> names;
  names.insert(length_name);
  for (const RequestInput& input : inputs) {
    if (names.insert(input.name).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("RequestBatcher: two inputs, or one and the "
                     "lengths, are called '",
                     input.name, "'"));
  }
  const bool has_lengths = absl::c_any_of(inputs, IsOfLength);
  if (has_lengths != !lengths.empty()) {
    return absl::InvalidArgumentError(
        has_lengths ? "RequestBatcher: inputs have unknown extents, but lengths is empty"
                    : "RequestBatcher: there are lengths, but no input has an unknown extent");
  }
  if (!has_lengths && !length_name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("RequestBatcher: there are no lengths for '", length_name, "'"));
  }
  return absl::OkStatus();
}

KnownShapes RequestFormat::BatchShapes(int64_t batch_size, int64_t length) const {
  KnownShapes shapes;
  for (const RequestInput& input : inputs) {
    PartialShape shape = PartialShape::OfRank(input.shape.rank() + 1);
    shape[0] = batch_size;
    for (int i = 0; i < input.shape.rank(); ++i) {
      shape[i + 1] = input.shape[i] == kUnknownDim ? length : input.shape[i];
    }
    shapes.emplace(input.name, std::move(shape));
  }
  if (!length_name.empty()) {
    shapes.emplace(length_name, PartialShape({batch_size}));
  }
  return shapes;
}

absl::Status RequestFormat::CheckInput(const RequestInput& input, const NDArray& array,
                                       int64_t* length) const {
  if (array.is_null()) return Wrong(input.name, "is missing");
  const Shape& shape = array.shape();
  bool fits = shape.rank() == input.shape.rank();
  for (int i = 0; fits && i < shape.rank(); ++i) {
    if (input.shape[i] != kUnknownDim) {
      fits = shape[i] == input.shape[i];
    } else if (*length == 0) {
      *length = shape[i];
      fits = shape[i] > 0;
    } else {
      fits = shape[i] == *length;
    }
  }
  if (!fits) {
    return Wrong(input.name,
                 absl::StrCat("is ", shape.ToString(), ", expected ", input.shape.ToString(),
                              *length > 0 ? absl::StrCat(" of length ", *length) : ""));
  }
  if (array.dtype() != input.dtype) {
    return Wrong(input.name, absl::StrCat("is ", DTypeName(array.dtype()), ", expected ",
                                          DTypeName(input.dtype)));
  }
  if (!check_finite) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const bool finite, IsFinite(array));
  return finite ? absl::OkStatus() : Wrong(input.name, "has elements that are not finite");
}

absl::StatusOr<int64_t> RequestFormat::CheckRequest(const ArrayMap& request) const {
  int64_t length = 0;
  for (const RequestInput& input : inputs) {
    COOPER_RETURN_IF_ERROR(CheckInput(input, FindArray(request, input.name), &length));
  }
  if (request.size() > inputs.size()) {
    std::vector<std::string> known;
    for (const RequestInput& input : inputs) known.push_back(input.name);
    for (const auto& [name, array] : request) {
      if (!absl::c_linear_search(known, name)) {
        return absl::InvalidArgumentError(
            absl::StrCat("there is no input '", name, "'", DidYouMean(name, known)));
      }
    }
  }
  if (!lengths.empty() && length > lengths.back()) {
    return absl::InvalidArgumentError(absl::StrCat("the request has the length ", length,
                                                   ", the largest bucket ", lengths.back()));
  }
  return length;
}

}  // namespace cooper
