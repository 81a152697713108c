#include "module/parameters/given_parameter.h"

#include "absl/strings/str_cat.h"

namespace cooper {

absl::Status CheckGivenParameter(const std::string& name, const NDArray& own, const ArrayMap& given,
                                 bool allow_missing) {
  const auto it = given.find(name);
  if (it == given.end()) return allow_missing ? absl::OkStatus() : NotGivenError(name);
  if (it->second.is_null()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "parameter '", name, "' is given as a null array, expected ", own.shape().ToString()));
  }
  if (it->second.shape() == own.shape()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("parameter '", name, "' is given with shape ",
                                                 it->second.shape().ToString(), ", expected ",
                                                 own.shape().ToString()));
}

absl::Status NotGivenError(const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(
      "parameter '", name, "' is not among the given ones; set allow_missing to do without it"));
}

}  // namespace cooper
