// Decodes and encodes PNG by libpng.
//
// The library reports an error by longjmp: between setjmp and the last call of the library no
// object with a destructor may begin its life. All such objects are members or belong to the
// caller.

#include "io/images/codec/png_codec.h"

#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

// The weights of red and green in gray, in units of 10^-5, as OpenCV's.
constexpr png_fixed_point kRed = 29900;
constexpr png_fixed_point kGreen = 58700;
constexpr int kIgnoreColours = 1;  // PNG_ERROR_ACTION_NONE

void KeepMessage(png_structp png, png_const_charp message) {
  auto* kept = static_cast<std::string*>(png_get_error_ptr(png));
  *kept = message;
  png_longjmp(png, 1);
}

void DropWarning(png_structp, png_const_charp) {}

absl::Status PngError(const std::string& message) {
  return absl::InvalidArgumentError(absl::StrCat("PNG: ", message));
}

// Decodes one image. Each method returns false after an error.
class PngReader {
 public:
  explicit PngReader(absl::string_view bytes)
      : bytes_(bytes),
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &message_, KeepMessage, DropWarning)),
        info_(png_ == nullptr ? nullptr : png_create_info_struct(png_)) {}
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  bool ReadHeader() {
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, [](png_structp png, png_bytep out, size_t size) {
      auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
      if (size > reader.bytes_.size()) png_error(png, "the image ends early");
      std::memcpy(out, reader.bytes_.data(), size);
      reader.bytes_.remove_prefix(size);
    });
    png_read_info(png_, info_);
    return true;
  }

  // Asks for 8-bit channels and returns their number.
  bool Convert(ImageColor color, int* channels) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    const int type = png_get_color_type(png_, info_);
    const bool is_gray = (type & PNG_COLOR_MASK_COLOR) == 0;
    const bool keeps_alpha = color == ImageColor::kUnchanged && (type & PNG_COLOR_MASK_ALPHA) != 0;
    png_set_strip_16(png_);
    png_set_packing(png_);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (is_gray) png_set_expand_gray_1_2_4_to_8(png_);
    if (!keeps_alpha) png_set_strip_alpha(png_);
    if (color == ImageColor::kGray) {
      if (!is_gray) png_set_rgb_to_gray_fixed(png_, kIgnoreColours, kRed, kGreen);
    } else if (is_gray && (color == ImageColor::kColor || keeps_alpha)) {
      png_set_gray_to_rgb(png_);
    }
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    *channels = png_get_channels(png_, info_);
    return true;
  }
  bool ReadPixels(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  int64_t width() const { return png_get_image_width(png_, info_); }
  int64_t height() const { return png_get_image_height(png_, info_); }
  int64_t row_bytes() const { return static_cast<int64_t>(png_get_rowbytes(png_, info_)); }
  const std::string& message() const { return message_; }

 private:
  std::string message_ = "there is no memory";
  absl::string_view bytes_;  // those that are not read yet
  png_structp png_;
  png_infop info_;
};

// Encodes one image.
class PngWriter {
 public:
  PngWriter()
      : png_(png_create_write_struct(PNG_LIBPNG_VER_STRING, &message_, KeepMessage, DropWarning)),
        info_(png_ == nullptr ? nullptr : png_create_info_struct(png_)) {}
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  bool Write(const Image& image, int compression) {
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_write_fn(
        png_, &bytes_,
        [](png_structp png, png_bytep data, size_t size) {
          static_cast<std::string*>(png_get_io_ptr(png))
              ->append(reinterpret_cast<const char*>(data), size);
        },
        nullptr);
    png_set_compression_level(png_, compression);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(image.width),
                 static_cast<png_uint_32>(image.height), 8,
                 image.channels == 1   ? PNG_COLOR_TYPE_GRAY
                 : image.channels == 3 ? PNG_COLOR_TYPE_RGB
                                       : PNG_COLOR_TYPE_RGB_ALPHA,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    for (int64_t row = 0; row < image.height; ++row) png_write_row(png_, image.at(row, 0));
    png_write_end(png_, info_);
    return true;
  }

  const std::string& bytes() const { return bytes_; }
  const std::string& message() const { return message_; }

 private:
  std::string message_ = "there is no memory";
  std::string bytes_;
  png_structp png_;
  png_infop info_;
};

}  // namespace

absl::StatusOr<Image> DecodePng(absl::string_view bytes, ImageColor color) {
  PngReader reader(bytes);
  if (!reader.ReadHeader()) return PngError(reader.message());
  Image image{.height = reader.height(), .width = reader.width()};
  if (image.height > kMaxImagePixels / image.width) {
    return PngError(absl::StrCat(image.height, " x ", image.width, " pixels, expected at most ",
                                 kMaxImagePixels));
  }
  int channels = 0;
  if (!reader.Convert(color, &channels)) return PngError(reader.message());
  image.channels = channels;
  if (reader.row_bytes() != image.width * image.channels) {
    return PngError("the channels do not have 8 bits");
  }
  image.pixels.resize(static_cast<size_t>(image.height * image.width * image.channels));
  std::vector<png_bytep> rows(static_cast<size_t>(image.height));
  for (int64_t row = 0; row < image.height; ++row)
    rows[static_cast<size_t>(row)] = image.at(row, 0);
  if (!reader.ReadPixels(rows.data())) return PngError(reader.message());
  return image;
}

absl::StatusOr<std::string> EncodeCheckedPng(const Image& image, int compression) {
  PngWriter writer;
  if (!writer.Write(image, compression)) return PngError(writer.message());
  return writer.bytes();
}

}  // namespace cooper
