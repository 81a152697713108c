#include "io/images/image_record_iter.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "io/images/image_codec.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "ImageRecordIter";

absl::Status CheckOptions(const ImageRecordIterOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckImageTransform(options.image));
  const DType dtype = options.dtype;
  if (dtype == DType::kFloat32 || dtype == DType::kUint8 || dtype == DType::kInt8) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("dtype is ", DTypeName(dtype), ", expected float32, uint8 or int8"));
}

}  // namespace

ImageRecordIter::ImageRecordIter(const ImageRecordIterOptions& options)
    : RecordIter(kKind, options.records, options.label_width), options_(options) {}

absl::StatusOr<std::unique_ptr<ImageRecordIter>> ImageRecordIter::Create(
    const ImageRecordIterOptions& options) {
  COOPER_RETURN_IF_ERROR(AddContext(CheckOptions(options), kKind));
  auto iter = absl::WrapUnique(new ImageRecordIter(options));
  COOPER_RETURN_IF_ERROR(AddContext(iter->Open(), kKind));
  iter->Describe(options.image.data_shape, options.dtype,
                 options.label_width > 1 ? Shape{options.label_width} : Shape{});
  return iter;
}

absl::Status ImageRecordIter::Decode(const Sample& sample, NDArray data,
                                     absl::Span<float> label) const {
  const ImageTransformOptions& transform = options_.image;
  COOPER_ASSIGN_OR_RETURN(const Image image,
                          DecodeImage(sample.image, ColorFor(transform.data_shape)));
  COOPER_ASSIGN_OR_RETURN(const Image fitted, FitImage(image, transform, sample.random));
  const bool mirrored =
      transform.mirror || (transform.rand_mirror && sample.random.NextBelow(2) == 1);
  std::copy(sample.labels.begin(), sample.labels.end(), label.begin());
  if (options_.dtype == DType::kUint8) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<uint8_t> pixels, data.Data<uint8_t>());
    WritePixels(fitted, mirrored, pixels);
  } else if (options_.dtype == DType::kInt8) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<int8_t> pixels, data.Data<int8_t>());
    WriteCentred(fitted, mirrored, options_.normalize, pixels);
  } else {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> pixels, data.Data<float>());
    WriteNormalized(fitted, mirrored, options_.normalize, NormalizeOrder::kMultiply, pixels);
  }
  return absl::OkStatus();
}

}  // namespace cooper
