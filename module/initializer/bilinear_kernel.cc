#include "module/initializer/bilinear_kernel.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status FillBilinear(absl::string_view name, const NDArray& values) {
  const Shape& shape = values.shape();
  if (shape.rank() != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("initializer bilinear: '", name, "' is ", shape.ToString(),
                     ", expected (num_filter, channels, height, width)"));
  }
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> out, values.Data<float>());
  const int64_t width = shape[3];
  const int64_t height = shape[2];
  // As in MXNet, scale and center of both axes follow from the width.
  const double f = std::ceil(static_cast<double>(width) / 2);
  const double c = (2 * f - 1 - std::fmod(f, 2)) / (2 * f);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto x = static_cast<double>(static_cast<int64_t>(i) % width);
    const auto y = static_cast<double>(static_cast<int64_t>(i) / width % height);
    out[i] = static_cast<float>((1 - std::abs(x / f - c)) * (1 - std::abs(y / f - c)));
  }
  return absl::OkStatus();
}

}  // namespace cooper
