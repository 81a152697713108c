#ifndef COOPER_MODULE_INITIALIZER_CREATE_INITIALIZER_H_
#define COOPER_MODULE_INITIALIZER_CREATE_INITIALIZER_H_

// Creates initializers by name.

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/initializer/initializer.h"
#include "module/kwargs/kwargs.h"

namespace cooper {

// Creates an initializer. `name` is MXNet's, in any case: "zero", "Xavier", ...; `kwargs` are the
// arguments of MXNet's constructor. Errors: kNotFound, with the known names, for another name;
// kInvalidArgument for unknown arguments and bad values.
absl::StatusOr<std::unique_ptr<NamePatternInitializer>> CreateInitializer(
    absl::string_view name, const Kwargs& kwargs = {});

// Creates an initializer from the text of an attribute `__init__`: ["lstmbias", {"forget_bias":
// 1.0}], or a name alone.
absl::StatusOr<std::unique_ptr<NamePatternInitializer>> CreateInitializerFromText(
    absl::string_view text);

}  // namespace cooper

#endif  // COOPER_MODULE_INITIALIZER_CREATE_INITIALIZER_H_
