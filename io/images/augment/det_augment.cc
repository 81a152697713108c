#include "io/images/augment/det_augment.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "io/batch/invalid.h"
#include "io/images/imgproc/edit_image.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

float Uniform(float least, float most, RandomGenerator& random) {
  return least + static_cast<float>(random.NextUniform()) * (most - least);
}

bool Happens(float probability, RandomGenerator& random) {
  return probability > 0 && random.NextUniform() < static_cast<double>(probability);
}

// A part of the image, in parts of its extents.
struct Box {
  float left, top, width, height;

  float area() const { return width * height; }
};

Box BoxOf(const DetObject& object) {
  return {object.left, object.top, object.right - object.left, object.bottom - object.top};
}

float Intersection(const Box& a, const Box& b) {
  const float width = std::min(a.left + a.width, b.left + b.width) - std::max(a.left, b.left);
  const float height = std::min(a.top + a.height, b.top + b.height) - std::max(a.top, b.top);
  return width <= 0 || height <= 0 ? 0 : width * height;
}

// Returns the object in a coordinate system in which `box` is the image.
DetObject Project(DetObject object, const Box& box) {
  object.left = std::max(0.0f, (object.left - box.left) / box.width);
  object.top = std::max(0.0f, (object.top - box.top) / box.height);
  object.right = std::min(1.0f, (object.right - box.left) / box.width);
  object.bottom = std::min(1.0f, (object.bottom - box.top) / box.height);
  return object;
}

void ChangeColors(const DetAugmentOptions& options, RandomGenerator& random, Image* image) {
  const auto shift = [&](float most, float probability) {
    return Happens(probability, random) ? Uniform(-most, most, random) : 0;
  };
  const auto hue =
      static_cast<int>(shift(static_cast<float>(options.max_random_hue), options.random_hue_prob));
  const auto saturation = static_cast<int>(
      shift(static_cast<float>(options.max_random_saturation), options.random_saturation_prob));
  const auto lightness = static_cast<int>(
      shift(static_cast<float>(options.max_random_illumination), options.random_illumination_prob));
  const float contrast = shift(options.max_random_contrast, options.random_contrast_prob);
  if (hue != 0 || saturation != 0 || lightness != 0) ShiftHls(hue, lightness, saturation, image);
  if (std::fabs(contrast) > 1e-3f) ScaleSamples(1 + contrast, 0, image);
}

absl::Status Pad(const DetAugmentOptions& options, RandomGenerator& random, Image* image,
                 DetLabel* label) {
  const float scale = Uniform(1, options.max_pad_scale, random);
  if (scale < 1.05f) return absl::OkStatus();
  const float left = Uniform(0, scale - 1, random), top = Uniform(0, scale - 1, random);
  const auto pixels = [](float part, int64_t extent) {
    return static_cast<int64_t>(part * static_cast<float>(extent));
  };
  const ImageBorder border = {.top = pixels(top, image->height),
                              .bottom = pixels(scale - top - 1, image->height),
                              .left = pixels(left, image->width),
                              .right = pixels(scale - left - 1, image->width)};
  COOPER_ASSIGN_OR_RETURN(*image, PadImage(*image, border, options.fill_value));
  for (DetObject& object : label->objects) object = Project(object, {-left, -top, scale, scale});
  return absl::OkStatus();
}

// Returns a part of an image with this ratio of width to height, as MXNet chooses it.
Box DrawPart(const DetCropSampler& sampler, float image_ratio, RandomGenerator& random) {
  const float scale = Uniform(sampler.min_crop_scale, sampler.max_crop_scale, random) + 1e-12f;
  const float least = std::max(sampler.min_crop_aspect_ratio / image_ratio, scale * scale);
  const float most = std::min(sampler.max_crop_aspect_ratio / image_ratio, 1 / (scale * scale));
  const float ratio = std::sqrt(Uniform(least, most, random));
  const float width = std::min(1.0f, scale * ratio), height = std::min(1.0f, scale / ratio);
  const float left = Uniform(0, 1 - width, random), top = Uniform(0, 1 - height, random);
  return {left, top, width, height};
}

bool IsWanted(const Box& part, const DetObject& object, const DetCropSampler& sampler) {
  // A whole range is not looked at: objects without an intersection are in it.
  const auto is_in = [](float value, float least, float most) {
    return (least <= 0 && most >= 1) || (value >= least && value <= most);
  };
  const Box box = BoxOf(object);
  const float common = Intersection(part, box);
  return is_in(common / (part.area() + box.area() - common), sampler.min_crop_overlap,
               sampler.max_crop_overlap) &&
         is_in(common / part.area(), sampler.min_crop_sample_coverage,
               sampler.max_crop_sample_coverage) &&
         is_in(common / box.area(), sampler.min_crop_object_coverage,
               sampler.max_crop_object_coverage);
}

bool Stays(const Box& part, const DetObject& object, const DetAugmentOptions& options) {
  if (options.crop_emit_mode == DetCropEmitMode::kOverlap) {
    const Box box = BoxOf(object);
    return Intersection(part, box) / box.area() > options.emit_overlap_thresh;
  }
  const float x = (object.left + object.right) * 0.5f, y = (object.top + object.bottom) * 0.5f;
  return x >= part.left && x < part.left + part.width && y >= part.top &&
         y < part.top + part.height;
}

// Returns the objects of a part; nullopt if it is not wanted.
std::optional<std::vector<DetObject>> ObjectsIn(const Box& part, const DetLabel& label,
                                                const DetCropSampler& sampler,
                                                const DetAugmentOptions& options) {
  if (label.objects.empty()) return label.objects;
  const auto is_wanted = [&](const DetObject& object) { return IsWanted(part, object, sampler); };
  if (std::none_of(label.objects.begin(), label.objects.end(), is_wanted)) return std::nullopt;
  std::vector<DetObject> objects;
  for (const DetObject& object : label.objects) {
    if (Stays(part, object, options)) objects.push_back(Project(object, part));
  }
  if (objects.empty()) return std::nullopt;
  return objects;
}

void Crop(const DetAugmentOptions& options, RandomGenerator& random, Image* image,
          DetLabel* label) {
  const auto rows = static_cast<float>(image->height), columns = static_cast<float>(image->width);
  for (const int64_t i : random.Permutation(static_cast<int64_t>(options.crop_samplers.size()))) {
    const DetCropSampler& sampler = options.crop_samplers[static_cast<size_t>(i)];
    for (int64_t trial = 0; trial < sampler.max_crop_trials; ++trial) {
      const Box part = DrawPart(sampler, columns / rows, random);
      const auto height = static_cast<int64_t>(part.height * rows);
      const auto width = static_cast<int64_t>(part.width * columns);
      if (height < 1 || width < 1) continue;
      std::optional<std::vector<DetObject>> objects = ObjectsIn(part, *label, sampler, options);
      if (!objects.has_value()) continue;
      const auto top = static_cast<int64_t>(part.top * rows);
      const auto left = static_cast<int64_t>(part.left * columns);
      *image = CropImage(*image, std::min(top, image->height - height),
                         std::min(left, image->width - width), height, width);
      label->objects = *std::move(objects);
      return;
    }
  }
}

absl::Status CheckSampler(const DetCropSampler& sampler) {
  const struct {
    const char* what;
    float least, most;
  } ranges[] = {
      {"min_crop_aspect_ratio to max_crop_aspect_ratio", sampler.min_crop_aspect_ratio,
       sampler.max_crop_aspect_ratio},
      {"min_crop_overlap to max_crop_overlap", sampler.min_crop_overlap, sampler.max_crop_overlap},
      {"min_crop_sample_coverage to max_crop_sample_coverage", sampler.min_crop_sample_coverage,
       sampler.max_crop_sample_coverage},
      {"min_crop_object_coverage to max_crop_object_coverage", sampler.min_crop_object_coverage,
       sampler.max_crop_object_coverage},
  };
  for (const auto& range : ranges) {
    if (range.least >= 0 && range.least <= range.most && std::isfinite(range.most)) continue;
    return Invalid(range.what, " is ", range.least, " to ", range.most,
                   ", expected a range of numbers of at least 0");
  }
  if (!(sampler.min_crop_scale >= 0 && sampler.min_crop_scale <= sampler.max_crop_scale &&
        sampler.max_crop_scale <= 1 && sampler.max_crop_scale > 0)) {
    return Invalid("min_crop_scale to max_crop_scale is ", sampler.min_crop_scale, " to ",
                   sampler.max_crop_scale, ", expected a range in 0 to 1");
  }
  if (sampler.max_crop_aspect_ratio <= 0 || sampler.max_crop_trials < 0) {
    return Invalid("max_crop_aspect_ratio is ", sampler.max_crop_aspect_ratio, ", max_crop_trials ",
                   sampler.max_crop_trials, ", expected above 0 and at least 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDetAugment(const DetAugmentOptions& options, const Shape& data_shape) {
  const std::pair<const char*, float> probabilities[] = {
      {"random_hue_prob", options.random_hue_prob},
      {"random_saturation_prob", options.random_saturation_prob},
      {"random_illumination_prob", options.random_illumination_prob},
      {"random_contrast_prob", options.random_contrast_prob},
      {"rand_mirror_prob", options.rand_mirror_prob},
      {"rand_pad_prob", options.rand_pad_prob},
      {"rand_crop_prob", options.rand_crop_prob},
  };
  for (const auto& [name, value] : probabilities) {
    if (!(value >= 0 && value <= 1)) return Invalid(name, " is ", value, ", expected 0 to 1");
  }
  const std::pair<const char*, float> sizes[] = {
      {"max_random_hue", static_cast<float>(options.max_random_hue)},
      {"max_random_saturation", static_cast<float>(options.max_random_saturation)},
      {"max_random_illumination", static_cast<float>(options.max_random_illumination)},
      {"max_random_contrast", options.max_random_contrast},
      {"emit_overlap_thresh", options.emit_overlap_thresh},
  };
  for (const auto& [name, value] : sizes) {
    if (!(value >= 0 && value <= 1e6f)) return Invalid(name, " is ", value, ", expected 0 to 1e6");
  }
  if (data_shape[0] != 3) {
    for (int i = 0; i < 3; ++i) {
      if (probabilities[i].second == 0) continue;
      return Invalid(probabilities[i].first, " is ", probabilities[i].second, ", data_shape ",
                     data_shape.ToString(), "; it needs three channels");
    }
  }
  if (!(options.max_pad_scale >= 1 && options.max_pad_scale <= 1e3f)) {
    return Invalid("max_pad_scale is ", options.max_pad_scale, ", expected 1 to 1000");
  }
  for (size_t i = 0; i < options.crop_samplers.size(); ++i) {
    COOPER_RETURN_IF_ERROR(
        AddContext(CheckSampler(options.crop_samplers[i]), "crop_samplers[", i, "]"));
  }
  return absl::OkStatus();
}

absl::Status AugmentDet(const DetAugmentOptions& options, RandomGenerator& random, Image* image,
                        DetLabel* label) {
  ChangeColors(options, random, image);
  if (Happens(options.rand_mirror_prob, random)) {
    MirrorImage(image);
    for (DetObject& object : label->objects) {
      const float left = object.left;
      object.left = 1 - object.right;
      object.right = 1 - left;
    }
  }
  if (Happens(options.rand_pad_prob, random)) {
    COOPER_RETURN_IF_ERROR(Pad(options, random, image, label));
  }
  if (Happens(options.rand_crop_prob, random)) Crop(options, random, image, label);
  return absl::OkStatus();
}

}  // namespace cooper
