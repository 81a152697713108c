#include "io/images/image_det_record_iter.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "io/images/augment/det_label.h"
#include "io/images/augment/image_transform.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"
#include "io/images/imgproc/edit_image.h"
#include "io/images/mean_image.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "ImageDetRecordIter";
constexpr int64_t kSizes = 4;  // the numbers before those of the record

// The most labels of an image: as many as fit into a record.
constexpr int64_t kMaxLabels = int64_t{1} << 27;

absl::Status CheckOptions(const ImageDetRecordIterOptions& options) {
  if (options.label_width != -1 && options.label_width < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("label_width is ", options.label_width, ", expected -1 or at least 1"));
  }
  if (options.label_pad_width < 0 || options.label_pad_width > kMaxLabels) {
    return absl::InvalidArgumentError(absl::StrCat("label_pad_width is ", options.label_pad_width,
                                                   ", expected 0 to ", kMaxLabels));
  }
  COOPER_RETURN_IF_ERROR(CheckImageNormalize(options.normalize));
  COOPER_RETURN_IF_ERROR(CheckDetTransform(options.image));
  return CheckDetAugment(options.augment, options.image.data_shape);
}

absl::Status Decode(const ImageDetRecordIterOptions& options, const ImageNormalizer& normalizer,
                    const RecordIter::Sample& sample, const NDArray& data,
                    absl::Span<float> label) {
  const Shape& data_shape = options.image.data_shape;
  if (sample.labels.size() + kSizes > label.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the record has ", sample.labels.size(),
                                                   " labels, label_pad_width is ",
                                                   label.size() - kSizes));
  }
  COOPER_ASSIGN_OR_RETURN(DetLabel objects, ParseDetLabel(sample.labels));
  COOPER_ASSIGN_OR_RETURN(Image image, DecodeImage(sample.image, ColorFor(data_shape)));
  COOPER_RETURN_IF_ERROR(CheckChannels(image, data_shape));
  COOPER_ASSIGN_OR_RETURN(image, ResizeShorterEdge(std::move(image), options.image.resize,
                                                   options.image.inter_method, sample.random));
  COOPER_RETURN_IF_ERROR(AugmentDet(options.augment, sample.random, &image, &objects));
  COOPER_ASSIGN_OR_RETURN(image, FitDetImage(std::move(image), options.image, sample.random));
  const std::vector<float> labels = objects.ToArray();
  std::fill(label.begin(), label.end(), options.label_pad_value);
  label[0] = static_cast<float>(image.channels);
  label[1] = static_cast<float>(image.height);
  label[2] = static_cast<float>(image.width);
  label[3] = static_cast<float>(labels.size());
  std::copy(labels.begin(), labels.end(), label.begin() + kSizes);
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> pixels, data.Data<float>());
  const ImageBorder rest = {.bottom = data_shape[1] - image.height,
                            .right = data_shape[2] - image.width};
  if (rest.bottom > 0 || rest.right > 0) {
    COOPER_ASSIGN_OR_RETURN(image, PadImage(image, rest, 0));
  }
  normalizer.WriteDivided(image, pixels);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ImageDetRecordIter>> ImageDetRecordIter::Create(
    const ImageDetRecordIterOptions& options) {
  COOPER_RETURN_IF_ERROR(AddContext(CheckOptions(options), kKind));
  COOPER_RETURN_IF_ERROR(MakeMeanImage<ImageDetRecordIter>(options));
  COOPER_ASSIGN_OR_RETURN(
      const ImageNormalizer normalizer,
      AddContext(ImageNormalizer::Create(options.normalize, options.image.data_shape), kKind));
  auto iter = absl::WrapUnique(new ImageDetRecordIter(
      kKind, options.records,
      options.label_width == -1 ? std::nullopt : std::optional(options.label_width),
      [options, normalizer](const Sample& sample, const NDArray& data, absl::Span<float> label) {
        return Decode(options, normalizer, sample, data, label);
      }));
  COOPER_RETURN_IF_ERROR(AddContext(iter->Open(), kKind));
  int64_t width = options.label_pad_width;
  if (width == 0) {
    COOPER_ASSIGN_OR_RETURN(width, AddContext(iter->FindLabelWidth(), kKind));
  }
  iter->Describe(options.image.data_shape, DType::kFloat32, {kSizes + width});
  return iter;
}

}  // namespace cooper
