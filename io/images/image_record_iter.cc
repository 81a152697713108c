#include "io/images/image_record_iter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "io/batch/invalid.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"
#include "io/images/mean_image.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "ImageRecordIter";

absl::Status CheckOptions(const ImageRecordIterOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckImageTransform(options.image));
  COOPER_RETURN_IF_ERROR(CheckColorJitter(options.jitter, options.image.data_shape));
  COOPER_RETURN_IF_ERROR(CheckImageNormalize(options.normalize));
  for (const auto& [name, value] :
       {std::pair("max_random_contrast", options.max_random_contrast),
        std::pair("max_random_illumination", options.max_random_illumination)}) {
    if (!(value >= 0 && std::isfinite(value))) {
      return Invalid(name, " is ", value, ", expected at least 0");
    }
    if (value != 0 && options.dtype != DType::kFloat32) {
      return Invalid(name, " is ", value, ", dtype ", DTypeName(options.dtype),
                     "; it needs float32");
    }
  }
  const DType dtype = options.dtype;
  if (dtype == DType::kFloat32 || dtype == DType::kUint8 || dtype == DType::kInt8) {
    return absl::OkStatus();
  }
  return Invalid("dtype is ", DTypeName(dtype), ", expected float32, uint8 or int8");
}

absl::Status Decode(const ImageRecordIterOptions& options, const ImageNormalizer& normalizer,
                    const RecordIter::Sample& sample, const NDArray& data,
                    absl::Span<float> label) {
  const ImageTransformOptions& transform = options.image;
  RandomGenerator& random = sample.random;
  COOPER_ASSIGN_OR_RETURN(Image image, DecodeImage(sample.image, ColorFor(transform.data_shape)));
  COOPER_ASSIGN_OR_RETURN(image, FitImage(std::move(image), transform, random));
  JitterColors(options.jitter, random, &image);
  const bool mirrored = transform.mirror || (transform.rand_mirror && random.NextBelow(2) == 1);
  std::copy(sample.labels.begin(), sample.labels.end(), label.begin());
  if (options.dtype == DType::kUint8) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<uint8_t> pixels, data.Data<uint8_t>());
    WritePixels(image, mirrored, pixels);
  } else if (options.dtype == DType::kInt8) {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<int8_t> pixels, data.Data<int8_t>());
    normalizer.WriteCentred(image, mirrored, pixels);
  } else {
    const auto uniform = [&](float most) {
      return static_cast<float>(random.NextUniform() * 2 - 1) * most;
    };
    const float contrast = 1 + uniform(options.max_random_contrast);
    const float illumination = uniform(options.max_random_illumination);
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> pixels, data.Data<float>());
    normalizer.WriteScaled(image, mirrored, contrast, illumination, pixels);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ImageRecordIter>> ImageRecordIter::Create(
    const ImageRecordIterOptions& options) {
  COOPER_RETURN_IF_ERROR(AddContext(CheckOptions(options), kKind));
  ImageRecordIterOptions pixels = options;
  pixels.dtype = DType::kFloat32;
  pixels.max_random_contrast = pixels.max_random_illumination = 0;
  COOPER_RETURN_IF_ERROR(MakeMeanImage<ImageRecordIter>(std::move(pixels)));
  COOPER_ASSIGN_OR_RETURN(
      const ImageNormalizer normalizer,
      AddContext(ImageNormalizer::Create(options.normalize, options.image.data_shape), kKind));
  auto iter = absl::WrapUnique(new ImageRecordIter(
      kKind, options.records, options.label_width,
      [options, normalizer](const Sample& sample, const NDArray& data, absl::Span<float> label) {
        return Decode(options, normalizer, sample, data, label);
      }));
  COOPER_RETURN_IF_ERROR(AddContext(iter->Open(), kKind));
  iter->Describe(options.image.data_shape, options.dtype,
                 options.label_width > 1 ? Shape{options.label_width} : Shape{});
  return iter;
}

}  // namespace cooper
