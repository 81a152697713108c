#ifndef COOPER_IO_IMAGES_CODEC_PNG_CODEC_H_
#define COOPER_IO_IMAGES_CODEC_PNG_CODEC_H_

// The half of image_codec.h that libpng does.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"

namespace cooper {

// Decodes a PNG image as DecodeImage does.
absl::StatusOr<Image> DecodePng(absl::string_view bytes, ImageColor color);

// Encodes an image whose extents, channels and compression EncodePng has checked.
absl::StatusOr<std::string> EncodeCheckedPng(const Image& image, int compression);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_CODEC_PNG_CODEC_H_
