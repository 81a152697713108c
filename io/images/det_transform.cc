#include "io/images/det_transform.h"

#include <algorithm>
#include <utility>

#include "io/images/image_transform.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status CheckDetTransform(const DetTransformOptions& options) {
  return CheckExtents(options.data_shape, options.resize);
}

absl::StatusOr<Image> FitDetImage(const Image& image, const DetTransformOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckChannels(image, options.data_shape));
  Image fitted = image;
  if (options.resize != -1) {
    COOPER_ASSIGN_OR_RETURN(fitted, ResizeShorterEdge(image, options.resize, options.inter_method));
  }
  int64_t height = options.data_shape[1], width = options.data_shape[2];
  const bool is_larger = fitted.height > height || fitted.width > width;
  if (options.resize_mode == DetResizeMode::kShrink && !is_larger) return fitted;
  if (options.resize_mode != DetResizeMode::kForce) {
    // Rounded as in MXNet: an edge may come out one pixel shorter than that of data_shape.
    const auto rows = static_cast<float>(fitted.height), columns = static_cast<float>(fitted.width);
    const float ratio =
        std::min(static_cast<float>(height) / rows, static_cast<float>(width) / columns);
    height = static_cast<int64_t>(ratio * rows);
    width = static_cast<int64_t>(ratio * columns);
  }
  return ResizeImage(fitted, height, width, options.inter_method);
}

}  // namespace cooper
