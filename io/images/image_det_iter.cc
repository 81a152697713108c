#include "io/images/image_det_iter.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "io/images/augment/det_label.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

constexpr char kKind[] = "ImageDetIter";

// Returns the largest number of objects of an image, and the numbers of an object: five if no image
// has one, whatever a label without objects claims.
absl::StatusOr<Shape> FindLabelShape(ImageSource& source) {
  int64_t objects = 1;
  std::optional<int64_t> width, first;
  for (int64_t number = 0; number < source.size(); ++number) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<float> labels, source.ReadLabels(number));
    COOPER_ASSIGN_OR_RETURN(const DetLabel label,
                            AddContext(ParseDetLabel(labels), source.Where(number)));
    if (label.header.size() == labels.size()) continue;
    const auto own = static_cast<int64_t>(label.header[1]);
    if (!width.has_value()) {
      width = own;
      first = number;
    }
    if (own != *width) {
      return absl::InvalidArgumentError(absl::StrCat(source.Where(number), ": objects have ", own,
                                                     " numbers, expected ", *width, " as in ",
                                                     source.Where(*first)));
    }
    objects = std::max(objects, std::ssize(label.objects));
  }
  return Shape{objects, width.value_or(5)};
}

absl::Status WriteObjects(const std::vector<DetObject>& objects, const Shape& shape,
                          absl::Span<float> label) {
  if (std::ssize(objects) > shape[0]) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", objects.size(), " objects, label_shape is ", shape.ToString()));
  }
  float* to = label.data();
  for (const DetObject& object : objects) {
    if (5 + std::ssize(object.extra) != shape[1]) {
      return absl::InvalidArgumentError(absl::StrCat("an object has ", 5 + object.extra.size(),
                                                     " numbers, label_shape is ",
                                                     shape.ToString()));
    }
    for (const float number : {object.id, object.left, object.top, object.right, object.bottom}) {
      *to++ = number;
    }
    to = std::copy(object.extra.begin(), object.extra.end(), to);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ImageDetIter>> ImageDetIter::Create(
    const ImageDetIterOptions& options) {
  COOPER_RETURN_IF_ERROR(AddContext(
      CheckAugmentSize(options.data_shape, options.augment.resize, options.augment.inter_method),
      kKind));
  std::vector<DetAugmenter> augmenters = options.aug_list.value_or(std::vector<DetAugmenter>());
  if (!options.aug_list.has_value()) {
    COOPER_ASSIGN_OR_RETURN(
        augmenters, AddContext(CreateDetAugmenter(options.data_shape, options.augment), kKind));
  }
  COOPER_ASSIGN_OR_RETURN(ImageSource source,
                          AddContext(ImageSource::Open(options.images, std::nullopt), kKind));
  Shape shape = options.label_shape.value_or(Shape());
  if (!options.label_shape.has_value()) {
    COOPER_ASSIGN_OR_RETURN(shape, AddContext(FindLabelShape(source), kKind));
  }
  if (shape.rank() != 2 || shape[0] < 1 || shape[1] < 5) {
    return absl::InvalidArgumentError(
        absl::StrCat(kKind, ": label_shape is ", shape.ToString(),
                     ", expected (objects, numbers of an object), at least (1, 5)"));
  }
  const auto decode = [augmenters = std::move(augmenters), shape](
                          const EncodedImage& encoded, RandomGenerator& random,
                          absl::Span<float> label) -> absl::StatusOr<AnyImage> {
    COOPER_ASSIGN_OR_RETURN(DetLabel parsed, ParseDetLabel(encoded.labels));
    COOPER_ASSIGN_OR_RETURN(AnyImage image, DecodeImage(encoded.bytes, ImageColor::kColor));
    for (const DetAugmenter& augmenter : augmenters) {
      COOPER_RETURN_IF_ERROR(augmenter(random, &image, &parsed.objects));
    }
    COOPER_RETURN_IF_ERROR(WriteObjects(parsed.objects, shape, label));
    return image;
  };
  auto iter = absl::WrapUnique(new ImageDetIter(kKind, options.batches, std::move(source),
                                                {.data_shape = options.data_shape,
                                                 .label_name = options.label_name,
                                                 .label_shape = shape,
                                                 .label_fill = -1.0f},
                                                decode));
  COOPER_RETURN_IF_ERROR(AddContext(iter->Start(), kKind));
  return iter;
}

}  // namespace cooper
