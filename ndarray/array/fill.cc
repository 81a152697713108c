#include "ndarray/array/fill.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

std::array<FillFunctions, 3>& Functions() {
  static std::array<FillFunctions, 3> functions;
  return functions;
}

}  // namespace

void RegisterFill(DeviceType type, const FillFunctions& functions) {
  Functions()[static_cast<size_t>(type)] = functions;
}

absl::StatusOr<FillFunctions> FindFill(const FillTarget& target) {
  const FillFunctions& functions = Functions()[static_cast<size_t>(target.context.device_type)];
  if (functions.value != nullptr) return functions;
  return absl::UnimplementedError(
      absl::StrCat(target.context.ToString(), ": this program was linked without support for it"));
}

absl::Status Fill(const FillTarget& target, double value) {
  if (target.count == 0) return absl::OkStatus();
  if (!target.context.is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(const FillFunctions functions, FindFill(target));
    return functions.value(target, value);
  }
  DispatchDType(target.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = static_cast<T*>(target.data);
    std::fill(out, out + target.count, ConvertElement<T>(value));
  });
  return absl::OkStatus();
}

}  // namespace cooper
