#include "io/images/codec/record_image.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::string> PackImg(const IRHeader& header, const Image& image,
                                    const PackImgOptions& options) {
  const std::string format = absl::AsciiStrToLower(options.img_fmt);
  if (format != ".jpg" && format != ".jpeg" && format != ".png") {
    return absl::InvalidArgumentError(
        absl::StrCat("img_fmt is '", options.img_fmt, "', expected .jpg, .jpeg or .png"));
  }
  COOPER_ASSIGN_OR_RETURN(const std::string bytes, format == ".png"
                                                       ? EncodePng(image, options.quality)
                                                       : EncodeJpeg(image, options.quality));
  return Pack(header, bytes);
}

absl::StatusOr<UnpackedImage> UnpackImg(absl::string_view record, ImageColor color) {
  COOPER_ASSIGN_OR_RETURN(UnpackedRecord unpacked, Unpack(record));
  COOPER_ASSIGN_OR_RETURN(Image image, DecodeImage(unpacked.payload, color));
  return UnpackedImage{.header = std::move(unpacked.header), .image = std::move(image)};
}

}  // namespace cooper
