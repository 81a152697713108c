#ifndef COOPER_MODULE_KWARGS_JSON_KWARGS_H_
#define COOPER_MODULE_KWARGS_JSON_KWARGS_H_

// Reads Kwargs from JSON, the form in which `__init__` attributes and configuration files hold
// them.

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/kwargs/kwargs.h"

namespace cooper {

// Reads an object, {"momentum": 0.9, "centered": true, "clip_gradient": null}. A value that is an
// object, or a list that contains one, stays JSON text. kInvalidArgument, with the text, for
// anything else.
absl::StatusOr<Kwargs> KwargsFromJson(absl::string_view json);

// Reads a pair in the format of MXNet's dumps of initializers and metrics: ["lstmbias",
// {"forget_bias": 1.0}].
absl::StatusOr<std::pair<std::string, Kwargs>> NameAndKwargsFromJson(absl::string_view json);

}  // namespace cooper

#endif  // COOPER_MODULE_KWARGS_JSON_KWARGS_H_
