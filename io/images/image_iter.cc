#include "io/images/image_iter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

constexpr char kKind[] = "ImageIter";

absl::Status CheckOptions(const ImageIterOptions& options) {
  COOPER_RETURN_IF_ERROR(
      CheckAugmentSize(options.data_shape, options.augment.resize, options.augment.inter_method));
  if (options.label_width < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("label_width is ", options.label_width, ", expected at least 1"));
  }
  const DType dtypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64};
  if (std::find(std::begin(dtypes), std::end(dtypes), options.dtype) != std::end(dtypes)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("dtype is ", DTypeName(options.dtype),
                                                 ", expected float32, float64, int32 or int64"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ImageIter>> ImageIter::Create(const ImageIterOptions& options) {
  COOPER_RETURN_IF_ERROR(AddContext(CheckOptions(options), kKind));
  std::vector<Augmenter> augmenters = options.aug_list.value_or(std::vector<Augmenter>());
  if (!options.aug_list.has_value()) {
    COOPER_ASSIGN_OR_RETURN(
        augmenters, AddContext(CreateAugmenter(options.data_shape, options.augment), kKind));
  }
  COOPER_ASSIGN_OR_RETURN(
      ImageSource source,
      AddContext(ImageSource::Open(options.images, options.label_width), kKind));
  const auto decode = [augmenters = std::move(augmenters)](
                          const EncodedImage& encoded, RandomGenerator& random,
                          absl::Span<float> label) -> absl::StatusOr<AnyImage> {
    COOPER_ASSIGN_OR_RETURN(AnyImage image, DecodeImage(encoded.bytes, ImageColor::kColor));
    COOPER_RETURN_IF_ERROR(ApplyAugmenters(augmenters, random, &image));
    std::copy(encoded.labels.begin(), encoded.labels.end(), label.begin());
    return image;
  };
  auto iter = absl::WrapUnique(
      new ImageIter(kKind, options.batches, std::move(source),
                    {.data_shape = options.data_shape,
                     .label_name = options.label_name,
                     .label_shape = options.label_width > 1 ? Shape{options.label_width} : Shape{},
                     .label_dtype = options.dtype},
                    decode));
  COOPER_RETURN_IF_ERROR(AddContext(iter->Start(), kKind));
  return iter;
}

}  // namespace cooper
