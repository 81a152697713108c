#include "io/images/augment/augmenters.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "absl/strings/string_view.h"
#include "io/batch/invalid.h"
#include "io/images/augment/image_transform.h"
#include "io/images/augment/uniform_draws.h"
#include "io/images/imgproc/adjust_color.h"
#include "io/images/imgproc/edit_image.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Returns 1 - most to 1 + most.
float Factor(float most, RandomGenerator& random) {
  return static_cast<float>(
      UniformReal(1 - static_cast<double>(most), 1 + static_cast<double>(most), random));
}

ImageSize SizeOf(const AnyImage& image) {
  return std::visit(
      [](const auto& any) { return ImageSize{.height = any.height, .width = any.width}; }, image);
}

absl::StatusOr<Image*> Bytes(AnyImage* image) {
  if (auto* bytes = std::get_if<Image>(image)) return bytes;
  return Invalid("the image has floats already, expected 8-bit samples: resize before CastAug");
}

// Returns the image with floats, if it has colours.
absl::StatusOr<FloatImage*> Colors(AnyImage* image) {
  if (const auto* bytes = std::get_if<Image>(image)) *image = ToFloats(*bytes);
  FloatImage* floats = std::get_if<FloatImage>(image);
  if (floats->channels == 3) return floats;
  return Invalid("the image has ", floats->channels, " channels, expected 3");
}

absl::Status CheckSize(ImageSize size) {
  if (size.height >= 1 && size.width >= 1) return absl::OkStatus();
  return Invalid("size is ", size.height, " x ", size.width, ", expected extents of at least 1");
}

absl::Status CheckNumber(absl::string_view name, double value, double most) {
  if (value >= 0 && value <= most) return absl::OkStatus();
  return Invalid(name, " is ", value, ", expected 0 to ", most);
}

absl::Status ResizeTo(ImageSize size, InterMethod interp, RandomGenerator& random,
                      AnyImage* image) {
  COOPER_ASSIGN_OR_RETURN(Image * bytes, Bytes(image));
  COOPER_ASSIGN_OR_RETURN(*bytes, ResizeBy(*bytes, size.height, size.width, interp, random));
  return absl::OkStatus();
}

// Returns the largest size with the ratio of `size` that is not larger than `most`, or `size`. No
// edge is less than 1.
ImageSize ScaleDown(ImageSize most, ImageSize size) {
  auto height = static_cast<double>(size.height), width = static_cast<double>(size.width);
  const auto rows = static_cast<double>(most.height), columns = static_cast<double>(most.width);
  if (rows < height) {
    width = width * rows / height;
    height = rows;
  }
  if (columns < width) {
    height = height * columns / width;
    width = columns;
  }
  return {.height = std::max<int64_t>(1, static_cast<int64_t>(height)),
          .width = std::max<int64_t>(1, static_cast<int64_t>(width))};
}

// Takes the part that begins at (top, left), and resizes it if it has another size.
absl::Status CropTo(int64_t top, int64_t left, ImageSize part, ImageSize size, InterMethod interp,
                    RandomGenerator& random, AnyImage* image) {
  std::visit([&](auto& any) { any = CropImage(any, top, left, part.height, part.width); }, *image);
  if (part.height == size.height && part.width == size.width) return absl::OkStatus();
  return ResizeTo(size, interp, random, image);
}

absl::Status CropCenter(ImageSize size, InterMethod interp, RandomGenerator& random,
                        AnyImage* image) {
  const ImageSize whole = SizeOf(*image), part = ScaleDown(whole, size);
  return CropTo((whole.height - part.height) / 2, (whole.width - part.width) / 2, part, size,
                interp, random, image);
}

absl::Status CropSomewhere(ImageSize part, ImageSize size, InterMethod interp,
                           RandomGenerator& random, AnyImage* image) {
  const ImageSize whole = SizeOf(*image);
  const int64_t left = UniformInteger(0, whole.width - part.width, random);
  const int64_t top = UniformInteger(0, whole.height - part.height, random);
  return CropTo(top, left, part, size, interp, random, image);
}

// Finds a part as RandomSizedCropAug says; nullopt if none fits in ten trials.
std::optional<ImageSize> DrawSize(const RandomSizedCropAug& aug, ImageSize whole,
                                  RandomGenerator& random) {
  const auto pixels = static_cast<double>(whole.height * whole.width);
  for (int trial = 0; trial < 10; ++trial) {
    const double area = UniformReal(aug.area.first, aug.area.second, random) * pixels;
    const double ratio =
        std::exp(UniformReal(std::log(aug.ratio.first), std::log(aug.ratio.second), random));
    const ImageSize part = {.height = std::llrint(std::sqrt(area / ratio)),
                            .width = std::llrint(std::sqrt(area * ratio))};
    const bool is_inside = part.height <= whole.height && part.width <= whole.width;
    if (is_inside && part.height >= 1 && part.width >= 1) return part;
  }
  return std::nullopt;
}

absl::Status CheckColors(const AugmentColorOptions& options) {
  constexpr double kMost = 1e6;
  COOPER_RETURN_IF_ERROR(CheckNumber("brightness", options.brightness, kMost));
  COOPER_RETURN_IF_ERROR(CheckNumber("contrast", options.contrast, kMost));
  COOPER_RETURN_IF_ERROR(CheckNumber("saturation", options.saturation, kMost));
  COOPER_RETURN_IF_ERROR(CheckNumber("hue", options.hue, kMost));
  COOPER_RETURN_IF_ERROR(CheckNumber("pca_noise", options.pca_noise, kMost));
  COOPER_RETURN_IF_ERROR(CheckNumber("rand_gray", options.rand_gray, 1));
  for (size_t k = 0; k < 3; ++k) {
    const float mean = options.mean.has_value() ? (*options.mean)[k] : 0;
    const float std = options.std.has_value() ? (*options.std)[k] : 1;
    if (std::isfinite(mean) && std::isfinite(std) && std != 0) continue;
    return Invalid("mean[", k, "] is ", mean, " and std[", k, "] is ", std,
                   ": expected finite numbers, and a deviation other than 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyAugmenters(absl::Span<const Augmenter> augmenters, RandomGenerator& random,
                             AnyImage* image) {
  for (const Augmenter& augmenter : augmenters) {
    COOPER_RETURN_IF_ERROR(augmenter(random, image));
  }
  return absl::OkStatus();
}

absl::Status ResizeAug::operator()(RandomGenerator& random, AnyImage* image) const {
  if (size < 1) return Invalid("ResizeAug: size is ", size, ", expected at least 1");
  COOPER_ASSIGN_OR_RETURN(Image * bytes, AddContext(Bytes(image), "ResizeAug"));
  COOPER_ASSIGN_OR_RETURN(
      *bytes, AddContext(ResizeShorterEdge(std::move(*bytes), size, interp, random), "ResizeAug"));
  return absl::OkStatus();
}

absl::Status ForceResizeAug::operator()(RandomGenerator& random, AnyImage* image) const {
  return AddContext(ResizeTo(size, interp, random, image), "ForceResizeAug");
}

absl::Status RandomCropAug::operator()(RandomGenerator& random, AnyImage* image) const {
  COOPER_RETURN_IF_ERROR(AddContext(CheckSize(size), "RandomCropAug"));
  return AddContext(CropSomewhere(ScaleDown(SizeOf(*image), size), size, interp, random, image),
                    "RandomCropAug");
}

absl::Status CenterCropAug::operator()(RandomGenerator& random, AnyImage* image) const {
  COOPER_RETURN_IF_ERROR(AddContext(CheckSize(size), "CenterCropAug"));
  return AddContext(CropCenter(size, interp, random, image), "CenterCropAug");
}

absl::Status RandomSizedCropAug::operator()(RandomGenerator& random, AnyImage* image) const {
  const auto crop = [&]() -> absl::Status {
    COOPER_RETURN_IF_ERROR(CheckSize(size));
    COOPER_RETURN_IF_ERROR(CheckAugmentRange("area", area, 0, 1));
    COOPER_RETURN_IF_ERROR(CheckAugmentRange("ratio", ratio, 1e-3, 1e3));
    const std::optional<ImageSize> part = DrawSize(*this, SizeOf(*image), random);
    return part.has_value() ? CropSomewhere(*part, size, interp, random, image)
                            : CropCenter(size, interp, random, image);
  };
  return AddContext(crop(), "RandomSizedCropAug");
}

absl::Status SequentialAug::operator()(RandomGenerator& random, AnyImage* image) const {
  return ApplyAugmenters(ts, random, image);
}

absl::Status RandomOrderAug::operator()(RandomGenerator& random, AnyImage* image) const {
  for (const int64_t i : random.Permutation(static_cast<int64_t>(ts.size()))) {
    COOPER_RETURN_IF_ERROR(ts[static_cast<size_t>(i)](random, image));
  }
  return absl::OkStatus();
}

absl::Status BrightnessJitterAug::operator()(RandomGenerator& random, AnyImage* image) const {
  COOPER_ASSIGN_OR_RETURN(FloatImage * floats, AddContext(Colors(image), "BrightnessJitterAug"));
  AdjustBrightness(Factor(brightness, random), floats);
  return absl::OkStatus();
}

absl::Status ContrastJitterAug::operator()(RandomGenerator& random, AnyImage* image) const {
  COOPER_ASSIGN_OR_RETURN(FloatImage * floats, AddContext(Colors(image), "ContrastJitterAug"));
  AdjustContrast(Factor(contrast, random), floats);
  return absl::OkStatus();
}

absl::Status SaturationJitterAug::operator()(RandomGenerator& random, AnyImage* image) const {
  COOPER_ASSIGN_OR_RETURN(FloatImage * floats, AddContext(Colors(image), "SaturationJitterAug"));
  AdjustSaturation(Factor(saturation, random), floats);
  return absl::OkStatus();
}

absl::Status ColorJitterAug::operator()(RandomGenerator& random, AnyImage* image) const {
  RandomOrderAug all;
  if (brightness > 0) all.ts.push_back(BrightnessJitterAug{.brightness = brightness});
  if (contrast > 0) all.ts.push_back(ContrastJitterAug{.contrast = contrast});
  if (saturation > 0) all.ts.push_back(SaturationJitterAug{.saturation = saturation});
  return all(random, image);
}

absl::Status HueJitterAug::operator()(RandomGenerator& random, AnyImage* image) const {
  COOPER_ASSIGN_OR_RETURN(FloatImage * floats, AddContext(Colors(image), "HueJitterAug"));
  const auto most = static_cast<double>(hue);
  AdjustHue(UniformReal(-most, most, random), floats);
  return absl::OkStatus();
}

absl::Status LightingAug::operator()(RandomGenerator& random, AnyImage* image) const {
  COOPER_ASSIGN_OR_RETURN(FloatImage * floats, AddContext(Colors(image), "LightingAug"));
  ShiftColors(DrawLighting(alphastd, axes, random), floats);
  return absl::OkStatus();
}

absl::Status ColorNormalizeAug::operator()(RandomGenerator&, AnyImage* image) const {
  COOPER_ASSIGN_OR_RETURN(FloatImage * floats, AddContext(Colors(image), "ColorNormalizeAug"));
  NormalizeColors(mean, std, floats);
  return absl::OkStatus();
}

absl::Status RandomGrayAug::operator()(RandomGenerator& random, AnyImage* image) const {
  if (random.NextUniform() >= p) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(FloatImage * floats, AddContext(Colors(image), "RandomGrayAug"));
  RemoveColors(floats);
  return absl::OkStatus();
}

absl::Status HorizontalFlipAug::operator()(RandomGenerator& random, AnyImage* image) const {
  if (random.NextUniform() < p) std::visit([](auto& any) { MirrorImage(&any); }, *image);
  return absl::OkStatus();
}

absl::Status CastAug::operator()(RandomGenerator&, AnyImage* image) const {
  if (const auto* bytes = std::get_if<Image>(image)) *image = ToFloats(*bytes);
  return absl::OkStatus();
}

absl::Status CheckAugmentSize(const Shape& data_shape, int64_t resize, InterMethod inter_method) {
  COOPER_RETURN_IF_ERROR(CheckResize(data_shape, resize == 0 ? -1 : resize, inter_method));
  if (data_shape[0] == 3 && resize >= 0) return absl::OkStatus();
  return Invalid("data_shape is ", data_shape.ToString(), ", resize ", resize,
                 ", expected three channels and at least 0");
}

absl::Status CheckAugmentRange(const char* name, const std::pair<double, double>& range,
                               double least, double most) {
  if (range.first >= least && range.first <= range.second && range.second <= most) {
    return absl::OkStatus();
  }
  return Invalid(name, " is ", range.first, " to ", range.second, ", expected a range within ",
                 least, " to ", most);
}

absl::StatusOr<std::vector<Augmenter>> CreateColorAugmenter(const AugmentColorOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckColors(options));
  std::vector<Augmenter> augmenters = {CastAug()};
  if (options.brightness > 0 || options.contrast > 0 || options.saturation > 0) {
    augmenters.push_back(ColorJitterAug{.brightness = options.brightness,
                                        .contrast = options.contrast,
                                        .saturation = options.saturation});
  }
  if (options.hue > 0) augmenters.push_back(HueJitterAug{.hue = options.hue});
  if (options.pca_noise > 0) augmenters.push_back(LightingAug{.alphastd = options.pca_noise});
  if (options.rand_gray > 0) augmenters.push_back(RandomGrayAug{.p = options.rand_gray});
  if (options.mean.has_value() || options.std.has_value()) {
    ColorNormalizeAug normalize;
    if (options.mean.has_value()) normalize.mean = *options.mean;
    if (options.std.has_value()) normalize.std = *options.std;
    augmenters.push_back(normalize);
  }
  return augmenters;
}

absl::StatusOr<std::vector<Augmenter>> CreateAugmenter(const Shape& data_shape,
                                                       const AugmenterOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckAugmentSize(data_shape, options.resize, options.inter_method));
  if (options.rand_resize && !options.rand_crop) return Invalid("rand_resize needs rand_crop");
  const InterMethod interp = options.inter_method;
  const ImageSize size = {.height = data_shape[1], .width = data_shape[2]};
  std::vector<Augmenter> augmenters;
  if (options.resize > 0) {
    augmenters.push_back(ResizeAug{.size = options.resize, .interp = interp});
  }
  if (options.rand_resize) {
    augmenters.push_back(RandomSizedCropAug{.size = size, .interp = interp});
  } else if (options.rand_crop) {
    augmenters.push_back(RandomCropAug{.size = size, .interp = interp});
  } else {
    augmenters.push_back(CenterCropAug{.size = size, .interp = interp});
  }
  if (options.rand_mirror) augmenters.push_back(HorizontalFlipAug{.p = 0.5});
  COOPER_ASSIGN_OR_RETURN(const std::vector<Augmenter> colors, CreateColorAugmenter(options.color));
  augmenters.insert(augmenters.end(), colors.begin(), colors.end());
  return augmenters;
}

}  // namespace cooper
