#ifndef COOPER_MODULE_PICKLE_PICKLE_CLASS_H_
#define COOPER_MODULE_PICKLE_PICKLE_CLASS_H_

// The Python classes and functions that a pickle of optimizer states may name. Nothing of Python
// runs: a name selects how cooper reads the arguments that follow.

#include <optional>

#include "absl/strings/string_view.h"

namespace cooper {

// How the arguments of a class or function are read. Names that are not here are refused.
enum class PickleClass {
  kNdarray,        // an array of MXNet, dense or sparse
  kBytearray,      // the bytes of an array
  kEncode,         // bytes, as Python 3 writes them for Python 2
  kReconstructor,  // an object, as protocols 0 and 1 write it
  kObject,         // the base of all classes, an argument of kReconstructor
  kDtype,          // a dtype of NumPy
  kScalar,         // a number of NumPy
  kOptimizer,      // an optimizer of MXNet
  kScheduler,      // a learning rate schedule of MXNet
};

// Returns the class of a module and a name, under the names of Python 2 and 3 and of MXNet 0.9 to
// 1.9; nothing for all others.
std::optional<PickleClass> FindPickleClass(absl::string_view module, absl::string_view name);

}  // namespace cooper

#endif  // COOPER_MODULE_PICKLE_PICKLE_CLASS_H_
