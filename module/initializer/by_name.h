#ifndef COOPER_MODULE_INITIALIZER_BY_NAME_H_
#define COOPER_MODULE_INITIALIZER_BY_NAME_H_

// Initializers that choose another one, or a given array, by the parameter's name.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "module/initializer/initializer.h"
#include "ndarray/array/ndarray.h"

namespace cooper::init {

// Copies the array of the same name; a prefix "arg:" or "aux:" of its name does not count. Other
// parameters go to `default_init`, or fail if it is null; a shape that differs fails.
std::unique_ptr<Initializer> Load(const std::map<std::string, NDArray>& arrays,
                                  std::shared_ptr<const Initializer> default_init = nullptr);

// The initializer of the first regular expression (ECMAScript's) that matches at the start of the
// name: "bias" does not match "fc1_bias", ".*bias" does. kInvalidArgument for a bad expression;
// initializing fails for a name that none matches.
absl::StatusOr<std::unique_ptr<Initializer>> Mixed(
    const std::vector<std::pair<std::string, std::shared_ptr<const Initializer>>>& patterns);

}  // namespace cooper::init

#endif  // COOPER_MODULE_INITIALIZER_BY_NAME_H_
