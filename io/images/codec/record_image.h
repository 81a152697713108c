#ifndef COOPER_IO_IMAGES_CODEC_RECORD_IMAGE_H_
#define COOPER_IO_IMAGES_CODEC_RECORD_IMAGE_H_

// Puts images into records and takes them out, as mx.recordio.pack_img and unpack_img.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"
#include "io/records/ir_header.h"

namespace cooper {

struct PackImgOptions {
  // JPEG's quality, 1 to 100, or PNG's compression, 0 to 9.
  int quality = 95;
  std::string img_fmt = ".jpg";  // or .jpeg, .png, in upper or lower case
};

// Returns a record with an encoded image. kInvalidArgument for another img_fmt, with its name; also
// the errors of EncodeJpeg and EncodePng.
absl::StatusOr<std::string> PackImg(const IRHeader& header, const Image& image,
                                    const PackImgOptions& options = {});

struct UnpackedImage {
  IRHeader header;
  Image image;
};

// Decodes the image of a record. Errors are those of Unpack and DecodeImage.
absl::StatusOr<UnpackedImage> UnpackImg(absl::string_view record,
                                        ImageColor color = ImageColor::kUnchanged);

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_CODEC_RECORD_IMAGE_H_
