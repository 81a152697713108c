#include "io/images/augment/det_transform.h"

#include <algorithm>

#include "io/images/augment/image_transform.h"

namespace cooper {

absl::Status CheckDetTransform(const DetTransformOptions& options) {
  return CheckResize(options.data_shape, options.resize, options.inter_method);
}

absl::StatusOr<Image> FitDetImage(Image image, const DetTransformOptions& options,
                                  RandomGenerator& random) {
  int64_t height = options.data_shape[1], width = options.data_shape[2];
  const bool is_larger = image.height > height || image.width > width;
  if (options.resize_mode == DetResizeMode::kShrink && !is_larger) return image;
  if (options.resize_mode != DetResizeMode::kForce) {
    // Rounded as in MXNet: an edge may come out one pixel shorter than that of data_shape.
    const auto rows = static_cast<float>(image.height), columns = static_cast<float>(image.width);
    const float ratio =
        std::min(static_cast<float>(height) / rows, static_cast<float>(width) / columns);
    height = std::max<int64_t>(1, static_cast<int64_t>(ratio * rows));
    width = std::max<int64_t>(1, static_cast<int64_t>(ratio * columns));
  }
  return ResizeBy(image, height, width, options.inter_method, random);
}

}  // namespace cooper
