#include "io/images/augment/det_augmenters.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "io/batch/invalid.h"
#include "io/images/augment/uniform_draws.h"
#include "io/images/imgproc/edit_image.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// A part of an image, or an image around it, in pixels.
struct PixelBox {
  int64_t left, top, width, height;
};

// The areas in pixels that a range allows for an image.
std::pair<double, double> Areas(const std::pair<double, double>& range, int64_t rows,
                                int64_t columns) {
  const auto pixels = static_cast<double>(rows * columns);
  return {range.first * pixels, range.second * pixels};
}

int64_t WidthOf(int64_t height, double ratio) {
  return std::llrint(static_cast<double>(height) * ratio);
}

// Returns the largest height that goes with `width`.
int64_t HeightOf(int64_t width, double ratio) {
  return static_cast<int64_t>((static_cast<double>(width) + 0.4999999) / ratio);
}

// Draws a part with MXNet's rounding; nullopt if it does not fit.
std::optional<PixelBox> DrawPart(const DetRandomCropAug& aug, int64_t rows, int64_t columns,
                                 RandomGenerator& random) {
  const auto [least, most] = Areas(aug.area_range, rows, columns);
  const double ratio =
      UniformReal(aug.aspect_ratio_range.first, aug.aspect_ratio_range.second, random);
  int64_t max_height = std::llrint(std::sqrt(most / ratio));
  if (WidthOf(max_height, ratio) > columns) max_height = HeightOf(columns, ratio);
  max_height = std::min(max_height, rows);
  const int64_t min_height = std::min<int64_t>(std::llrint(std::sqrt(least / ratio)), max_height);
  int64_t height = UniformInteger(min_height, max_height, random), width = WidthOf(height, ratio);
  if (static_cast<double>(width * height) < least) width = WidthOf(++height, ratio);
  if (static_cast<double>(width * height) > most) width = WidthOf(--height, ratio);
  const auto area = static_cast<double>(width * height);
  if (area < least || area > most || area < 2 || width > columns || height > rows) {
    return std::nullopt;
  }
  const int64_t top = UniformInteger(0, rows - height, random);
  return PixelBox{UniformInteger(0, columns - width, random), top, width, height};
}

// Draws an image around the image with MXNet's rounding; nullopt if it is not larger.
std::optional<PixelBox> DrawBorder(const DetRandomPadAug& aug, int64_t rows, int64_t columns,
                                   RandomGenerator& random) {
  const auto [least, most] = Areas(aug.area_range, rows, columns);
  const double ratio =
      UniformReal(aug.aspect_ratio_range.first, aug.aspect_ratio_range.second, random);
  const int64_t max_height = std::llrint(std::sqrt(most / ratio));
  int64_t min_height = std::llrint(std::sqrt(least / ratio));
  if (WidthOf(min_height, ratio) < columns) min_height = HeightOf(columns, ratio);
  min_height = std::min(std::max(min_height, rows), max_height);
  const int64_t height = UniformInteger(min_height, max_height, random),
                width = WidthOf(height, ratio);
  if (height - rows < 2 || width - columns < 2) return std::nullopt;
  const int64_t top = UniformInteger(0, height - rows, random);
  return PixelBox{UniformInteger(0, width - columns, random), top, width, height};
}

float AreaOf(const DetObject& object) {
  return std::max(0.0f, object.right - object.left) * std::max(0.0f, object.bottom - object.top);
}

// A box in parts of the image.
DetObject PartOf(const PixelBox& box, int64_t rows, int64_t columns) {
  const auto height = static_cast<float>(rows), width = static_cast<float>(columns);
  return {.left = static_cast<float>(box.left) / width,
          .top = static_cast<float>(box.top) / height,
          .right = static_cast<float>(box.left + box.width) / width,
          .bottom = static_cast<float>(box.top + box.height) / height};
}

DetObject Intersection(DetObject object, const DetObject& part) {
  object.left = std::max(object.left, part.left);
  object.top = std::max(object.top, part.top);
  object.right = std::min(object.right, part.right);
  object.bottom = std::min(object.bottom, part.bottom);
  return object;
}

// Returns the objects of a part, in parts of it; nullopt if the part is not wanted. Objects of at
// most two pixels do not decide that.
std::optional<std::vector<DetObject>> ObjectsIn(const DetRandomCropAug& aug, const PixelBox& box,
                                                int64_t rows, int64_t columns,
                                                const std::vector<DetObject>& objects) {
  const DetObject part = PartOf(box, rows, columns);
  const float width = part.right - part.left, height = part.bottom - part.top;
  const auto pixels = static_cast<float>(rows * columns);
  bool is_wanted = false;
  std::vector<DetObject> inside;
  for (const DetObject& object : objects) {
    DetObject cut = Intersection(object, part);
    const auto coverage = static_cast<double>(AreaOf(cut) / AreaOf(object));
    if (!(coverage > 0)) continue;
    if (AreaOf(object) * pixels > 2) {
      if (coverage <= aug.min_object_covered) return std::nullopt;
      is_wanted = true;
    }
    if (coverage <= aug.min_eject_coverage) continue;
    cut.left = (cut.left - part.left) / width;
    cut.right = (cut.right - part.left) / width;
    cut.top = (cut.top - part.top) / height;
    cut.bottom = (cut.bottom - part.top) / height;
    inside.push_back(std::move(cut));
  }
  if (!is_wanted || inside.empty()) return std::nullopt;
  return inside;
}

std::pair<int64_t, int64_t> RowsAndColumns(const AnyImage& image) {
  return std::visit([](const auto& any) { return std::pair(any.height, any.width); }, image);
}

absl::Status CheckRanges(const std::pair<double, double>& aspect_ratio_range,
                         const std::pair<double, double>& area_range, int64_t max_attempts) {
  COOPER_RETURN_IF_ERROR(CheckAugmentRange("aspect_ratio_range", aspect_ratio_range, 1e-3, 1e3));
  COOPER_RETURN_IF_ERROR(CheckAugmentRange("area_range", area_range, 0, 1e3));
  if (max_attempts >= 0) return absl::OkStatus();
  return Invalid("max_attempts is ", max_attempts, ", expected at least 0");
}

absl::Status Check(const DetRandomCropAug& aug) {
  for (const auto& [name, value] : {std::pair("min_object_covered", aug.min_object_covered),
                                    std::pair("min_eject_coverage", aug.min_eject_coverage)}) {
    if (!(value >= 0 && value <= 1)) return Invalid(name, " is ", value, ", expected 0 to 1");
  }
  return CheckRanges(aug.aspect_ratio_range, aug.area_range, aug.max_attempts);
}

absl::Status Check(const DetRandomPadAug& aug) {
  return CheckRanges(aug.aspect_ratio_range, aug.area_range, aug.max_attempts);
}

}  // namespace

absl::Status DetBorrowAug::operator()(RandomGenerator& random, AnyImage* image,
                                      std::vector<DetObject>*) const {
  return augmenter(random, image);
}

absl::Status DetRandomSelectAug::operator()(RandomGenerator& random, AnyImage* image,
                                            std::vector<DetObject>* objects) const {
  if (aug_list.empty() || random.NextUniform() < skip_prob) return absl::OkStatus();
  return aug_list[random.NextBelow(aug_list.size())](random, image, objects);
}

absl::Status DetHorizontalFlipAug::operator()(RandomGenerator& random, AnyImage* image,
                                              std::vector<DetObject>* objects) const {
  if (random.NextUniform() >= p) return absl::OkStatus();
  std::visit([](auto& any) { MirrorImage(&any); }, *image);
  for (DetObject& object : *objects) {
    const float left = object.left;
    object.left = 1 - object.right;
    object.right = 1 - left;
  }
  return absl::OkStatus();
}

absl::Status DetRandomCropAug::operator()(RandomGenerator& random, AnyImage* image,
                                          std::vector<DetObject>* objects) const {
  COOPER_RETURN_IF_ERROR(AddContext(Check(*this), "DetRandomCropAug"));
  const auto [rows, columns] = RowsAndColumns(*image);
  for (int64_t attempt = 0; attempt < max_attempts; ++attempt) {
    const std::optional<PixelBox> part = DrawPart(*this, rows, columns, random);
    if (!part.has_value()) continue;
    std::optional<std::vector<DetObject>> inside = ObjectsIn(*this, *part, rows, columns, *objects);
    if (!inside.has_value()) continue;
    *objects = *std::move(inside);
    std::visit(
        [&](auto& any) { any = CropImage(any, part->top, part->left, part->height, part->width); },
        *image);
    break;
  }
  return absl::OkStatus();
}

absl::Status DetRandomPadAug::operator()(RandomGenerator& random, AnyImage* image,
                                         std::vector<DetObject>* objects) const {
  COOPER_RETURN_IF_ERROR(AddContext(Check(*this), "DetRandomPadAug"));
  auto* bytes = std::get_if<Image>(image);
  if (bytes == nullptr) {
    return Invalid("DetRandomPadAug: the image has floats already: pad before CastAug");
  }
  const int64_t rows = bytes->height, columns = bytes->width;
  for (int64_t attempt = 0; attempt < max_attempts; ++attempt) {
    const std::optional<PixelBox> box = DrawBorder(*this, rows, columns, random);
    if (!box.has_value()) continue;
    const ImageBorder border = {.top = box->top,
                                .bottom = box->height - box->top - rows,
                                .left = box->left,
                                .right = box->width - box->left - columns};
    COOPER_ASSIGN_OR_RETURN(
        *bytes, AddContext(PadImage(*bytes, border, {pad_val[0], pad_val[1], pad_val[2], 0}),
                           "DetRandomPadAug"));
    const auto moved = [](float place, int64_t extent, int64_t begin, int64_t new_extent) {
      return (place * static_cast<float>(extent) + static_cast<float>(begin)) /
             static_cast<float>(new_extent);
    };
    for (DetObject& object : *objects) {
      object.left = moved(object.left, columns, box->left, box->width);
      object.right = moved(object.right, columns, box->left, box->width);
      object.top = moved(object.top, rows, box->top, box->height);
      object.bottom = moved(object.bottom, rows, box->top, box->height);
    }
    break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DetAugmenter>> CreateDetAugmenter(const Shape& data_shape,
                                                             const DetAugmenterOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckAugmentSize(data_shape, options.resize, options.inter_method));
  for (const auto& [name, value] :
       {std::pair("rand_crop", options.rand_crop), std::pair("rand_pad", options.rand_pad)}) {
    if (!(value >= 0 && value <= 1)) return Invalid(name, " is ", value, ", expected 0 to 1");
  }
  for (size_t i = 0; i < options.crops.size(); ++i) {
    COOPER_RETURN_IF_ERROR(AddContext(Check(options.crops[i]), "crops[", i, "]"));
  }
  COOPER_RETURN_IF_ERROR(AddContext(Check(options.pad), "pad"));
  const InterMethod interp = options.inter_method;
  std::vector<DetAugmenter> augmenters;
  if (options.resize > 0) {
    augmenters.push_back(DetBorrowAug{ResizeAug{.size = options.resize, .interp = interp}});
  }
  if (options.rand_crop > 0) {
    std::vector<DetAugmenter> crops(options.crops.begin(), options.crops.end());
    augmenters.push_back(
        DetRandomSelectAug{.aug_list = std::move(crops), .skip_prob = 1 - options.rand_crop});
  }
  if (options.rand_mirror) augmenters.push_back(DetHorizontalFlipAug{.p = 0.5});
  if (options.rand_pad > 0) {
    augmenters.push_back(
        DetRandomSelectAug{.aug_list = {options.pad}, .skip_prob = 1 - options.rand_pad});
  }
  augmenters.push_back(DetBorrowAug{
      ForceResizeAug{.size = {.height = data_shape[1], .width = data_shape[2]}, .interp = interp}});
  COOPER_ASSIGN_OR_RETURN(const std::vector<Augmenter> colors, CreateColorAugmenter(options.color));
  for (const Augmenter& augmenter : colors) augmenters.push_back(DetBorrowAug{augmenter});
  return augmenters;
}

}  // namespace cooper
