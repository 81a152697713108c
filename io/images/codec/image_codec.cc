#include "io/images/codec/image_codec.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "io/images/codec/jpeg_codec.h"
#include "io/images/codec/png_codec.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr absl::string_view kJpegBegin = "\xff\xd8";
constexpr absl::string_view kPngBegin = "\x89PNG\r\n\x1a\n";
constexpr int64_t kMaxExtent = 65500;  // libjpeg's limit

absl::Status CheckEncodable(const Image& image, bool has_alpha) {
  const auto is_extent = [](int64_t extent) { return extent >= 1 && extent <= kMaxExtent; };
  if (!is_extent(image.height) || !is_extent(image.width)) {
    return absl::InvalidArgumentError(absl::StrCat("an image of ", image.height, " x ", image.width,
                                                   " pixels, expected extents from 1 to ",
                                                   kMaxExtent));
  }
  if (image.channels != 1 && image.channels != 3 && !(has_alpha && image.channels == 4)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an image of ", image.channels, " channels, expected 1", has_alpha ? ", 3 or 4" : " or 3"));
  }
  if (static_cast<int64_t>(image.pixels.size()) != image.height * image.width * image.channels) {
    return absl::InvalidArgumentError(absl::StrCat("an image of ", image.height, " x ", image.width,
                                                   " pixels and ", image.channels, " channels has ",
                                                   image.pixels.size(), " bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckLevel(absl::string_view name, int value, int least, int greatest) {
  if (value >= least && value <= greatest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", expected ", least, " to ", greatest));
}

}  // namespace

absl::StatusOr<Image> DecodeImage(absl::string_view bytes, ImageColor color) {
  if (absl::StartsWith(bytes, kJpegBegin)) return DecodeJpeg(bytes, color);
  if (absl::StartsWith(bytes, kPngBegin)) return DecodePng(bytes, color);
  return absl::InvalidArgumentError(absl::StrCat("neither JPEG nor PNG: ", bytes.size(),
                                                 " bytes that begin with '",
                                                 absl::CHexEscape(bytes.substr(0, 8)), "'"));
}

absl::StatusOr<std::string> EncodeJpeg(const Image& image, int quality) {
  COOPER_RETURN_IF_ERROR(CheckLevel("JPEG: quality", quality, 1, 100));
  COOPER_RETURN_IF_ERROR(AddContext(CheckEncodable(image, /*has_alpha=*/false), "JPEG"));
  return EncodeCheckedJpeg(image, quality);
}

absl::StatusOr<std::string> EncodePng(const Image& image, int compression) {
  COOPER_RETURN_IF_ERROR(CheckLevel("PNG: compression", compression, 0, 9));
  COOPER_RETURN_IF_ERROR(AddContext(CheckEncodable(image, /*has_alpha=*/true), "PNG"));
  return EncodeCheckedPng(image, compression);
}

}  // namespace cooper
