#include "ndarray/cuda/tf32.h"

#include <cstdlib>

#include "absl/strings/string_view.h"

namespace cooper {

bool Tf32IsAllowed() {
  static const bool is_allowed = [] {
    const char* variable = std::getenv("COOPER_TF32");
    return variable != nullptr && absl::string_view(variable) == "1";
  }();
  return is_allowed;
}

}  // namespace cooper
