#include "io/images/det_transform.h"

#include <algorithm>
#include <utility>

#include "io/images/image_transform.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status CheckDetTransform(const DetTransformOptions& options) {
  return CheckResize(options.data_shape, options.resize, options.inter_method);
}

absl::StatusOr<Image> FitDetImage(const Image& image, const DetTransformOptions& options,
                                  RandomGenerator& random) {
  COOPER_RETURN_IF_ERROR(CheckChannels(image, options.data_shape));
  COOPER_ASSIGN_OR_RETURN(const Image resized,
                          ResizeShorterEdge(image, options.resize, options.inter_method, random));
  int64_t height = options.data_shape[1], width = options.data_shape[2];
  const bool is_larger = resized.height > height || resized.width > width;
  if (options.resize_mode == DetResizeMode::kShrink && !is_larger) return resized;
  if (options.resize_mode != DetResizeMode::kForce) {
    // Rounded as in MXNet: an edge may come out one pixel shorter than that of data_shape.
    const auto rows = static_cast<float>(resized.height),
               columns = static_cast<float>(resized.width);
    const float ratio =
        std::min(static_cast<float>(height) / rows, static_cast<float>(width) / columns);
    height = static_cast<int64_t>(ratio * rows);
    width = static_cast<int64_t>(ratio * columns);
  }
  return ResizeImage(resized, height, width,
                     ChooseInterMethod(options.inter_method, resized, height, width, random));
}

}  // namespace cooper
