#ifndef COOPER_MODULE_INITIALIZER_BY_NAME_H_
#define COOPER_MODULE_INITIALIZER_BY_NAME_H_

// Initializers that use another initializer, or a given array, depending on the parameter's name.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "module/initializer/initializer.h"
#include "ndarray/array/ndarray.h"

namespace cooper::init {

// Returns an initializer that copies the array of the same name, ignoring a prefix "arg:" or "aux:"
// of the array's name. Other parameters use `default_init`; kInvalidArgument if it is null or if
// shapes differ.
std::unique_ptr<Initializer> Load(const std::map<std::string, NDArray>& arrays,
                                  std::shared_ptr<const Initializer> default_init = nullptr);

// Returns an initializer that uses the entry whose regular expression (ECMAScript) is the first to
// match at the start of the name: "bias" does not match "fc1_bias", ".*bias" does. kInvalidArgument
// for a bad expression; Init fails for a name that none matches.
absl::StatusOr<std::unique_ptr<Initializer>> Mixed(
    const std::vector<std::pair<std::string, std::shared_ptr<const Initializer>>>& patterns);

}  // namespace cooper::init

#endif  // COOPER_MODULE_INITIALIZER_BY_NAME_H_
