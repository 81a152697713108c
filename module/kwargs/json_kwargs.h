#ifndef COOPER_MODULE_KWARGS_JSON_KWARGS_H_
#define COOPER_MODULE_KWARGS_JSON_KWARGS_H_

// Kwargs out of JSON: the form in which `__init__` attributes and configuration files hold them.

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/kwargs/kwargs.h"

namespace cooper {

// An object, {"momentum": 0.9, "centered": true, "clip_gradient": null}. A value that is itself an
// object, or a list with one in it, stays JSON text. kInvalidArgument, with the text, for others.
absl::StatusOr<Kwargs> KwargsFromJson(absl::string_view json);

// A pair as MXNet dumps an initializer or a metric: ["lstmbias", {"forget_bias": 1.0}].
absl::StatusOr<std::pair<std::string, Kwargs>> NameAndKwargsFromJson(absl::string_view json);

}  // namespace cooper

#endif  // COOPER_MODULE_KWARGS_JSON_KWARGS_H_
