#ifndef COOPER_IO_IMAGES_CODEC_JPEG_CODEC_H_
#define COOPER_IO_IMAGES_CODEC_JPEG_CODEC_H_

// The half of image_codec.h that libjpeg-turbo does.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"

namespace cooper {

// Decodes a JPEG image as DecodeImage does.
absl::StatusOr<Image> DecodeJpeg(absl::string_view bytes, ImageColor color);

// Encodes an image whose extents, channels and quality EncodeJpeg has checked.
absl::StatusOr<std::string> EncodeCheckedJpeg(const Image& image, int quality);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_CODEC_JPEG_CODEC_H_
