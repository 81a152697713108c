// Decodes and encodes JPEG by libjpeg-turbo.
//
// The library reports an error by longjmp: between setjmp and the last call of the library no
// object with a destructor may begin its life. All such objects are members or belong to the
// caller.

#include "io/images/codec/jpeg_codec.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

// jpeglib.h uses size_t and FILE without including their headers.
#include <jerror.h>
#include <jpeglib.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

// The scans of a progressive image are decoded one after the other, each over all pixels: a small
// file with many of them would take hours. Encoders write some ten.
constexpr int kMaxScans = 100;

// The state of an error handler.
struct JpegErrors {
  jpeg_error_mgr manager;  // the first member: the library passes its address
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";
  bool ends_early = false;

  static JpegErrors& Of(j_common_ptr info) { return *reinterpret_cast<JpegErrors*>(info->err); }

  jpeg_error_mgr* Install() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr info) {
      JpegErrors& errors = Of(info);
      info->err->format_message(info, errors.message);
      std::longjmp(errors.jump, 1);
    };
    // A warning tells of damage that the library repairs. An image whose end is missing would be
    // filled with gray.
    manager.emit_message = [](j_common_ptr info, int level) {
      const int code = info->err->msg_code;
      if (level >= 0 || (code != JWRN_JPEG_EOF && code != JWRN_HIT_MARKER)) return;
      JpegErrors& errors = Of(info);
      info->err->format_message(info, errors.message);
      errors.ends_early = true;
    };
    return &manager;
  }
  absl::Status status() const {
    return absl::InvalidArgumentError(absl::StrCat("JPEG: ", message));
  }
};

// Decompresses one image into memory of the caller. Each method returns false after an error.
class Decompressor {
 public:
  Decompressor() { info_.err = errors_.Install(); }
  ~Decompressor() { jpeg_destroy_decompress(&info_); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  bool ReadHeader(absl::string_view bytes) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()),
                 static_cast<unsigned long>(bytes.size()));  // NOLINT(google-runtime-int)
    jpeg_read_header(&info_, TRUE);
    return true;
  }
  bool ReadPixels(J_COLOR_SPACE colors, size_t row_bytes, uint8_t* pixels) {
    if (setjmp(errors_.jump) != 0) return false;
    info_.out_color_space = colors;
    progress_.progress_monitor = [](j_common_ptr info) {
      if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans) {
        JpegErrors& errors = JpegErrors::Of(info);
        std::snprintf(errors.message, sizeof(errors.message), "more than %d scans", kMaxScans);
        std::longjmp(errors.jump, 1);
      }
    };
    info_.progress = &progress_;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = pixels + info_.output_scanline * row_bytes;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return !errors_.ends_early;
  }

  const jpeg_decompress_struct& info() const { return info_; }
  absl::Status status() const { return errors_.status(); }

 private:
  JpegErrors errors_;
  jpeg_progress_mgr progress_ = {};
  jpeg_decompress_struct info_ = {};
};

// Compresses one image into memory that the library allocates.
class Compressor {
 public:
  Compressor() { info_.err = errors_.Install(); }
  ~Compressor() {
    jpeg_destroy_compress(&info_);
    std::free(bytes_);
  }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  bool Compress(const Image& image, int quality) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &bytes_, &size_);
    info_.image_width = static_cast<JDIMENSION>(image.width);
    info_.image_height = static_cast<JDIMENSION>(image.height);
    info_.input_components = static_cast<int>(image.channels);
    info_.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    while (info_.next_scanline < info_.image_height) {
      auto* row = const_cast<JSAMPROW>(image.at(info_.next_scanline, 0));
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  absl::string_view bytes() const {
    return {reinterpret_cast<const char*>(bytes_), static_cast<size_t>(size_)};
  }
  absl::Status status() const { return errors_.status(); }

 private:
  JpegErrors errors_;
  jpeg_compress_struct info_ = {};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;  // NOLINT(google-runtime-int): the library's type
};

}  // namespace

absl::StatusOr<Image> DecodeJpeg(absl::string_view bytes, ImageColor color) {
  Decompressor decompressor;
  if (!decompressor.ReadHeader(bytes)) return decompressor.status();
  const jpeg_decompress_struct& info = decompressor.info();
  if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK) {
    return absl::UnimplementedError("JPEG: CMYK colours; convert the image to RGB");
  }
  const bool gray = color == ImageColor::kGray ||
                    (color == ImageColor::kUnchanged && info.jpeg_color_space == JCS_GRAYSCALE);
  Image image{.height = info.image_height, .width = info.image_width, .channels = gray ? 1 : 3};
  if (image.height * image.width > kMaxImagePixels) {
    return absl::InvalidArgumentError(absl::StrCat("JPEG: ", image.height, " x ", image.width,
                                                   " pixels, expected at most ", kMaxImagePixels));
  }
  image.pixels.resize(static_cast<size_t>(image.height * image.width * image.channels));
  if (!decompressor.ReadPixels(gray ? JCS_GRAYSCALE : JCS_RGB,
                               static_cast<size_t>(image.width * image.channels),
                               image.pixels.data())) {
    return decompressor.status();
  }
  return image;
}

absl::StatusOr<std::string> EncodeCheckedJpeg(const Image& image, int quality) {
  Compressor compressor;
  if (!compressor.Compress(image, quality)) return compressor.status();
  return std::string(compressor.bytes().data(), compressor.bytes().size());
}

}  // namespace cooper
