#include "io/images/codec/image_codec.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/images/codec/record_image.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// Returns a smooth image, which JPEG keeps nearly.
Image Gradient(int64_t height, int64_t width, int64_t channels) {
  Image image{.height = height, .width = width, .channels = channels};
  image.pixels.resize(static_cast<size_t>(height * width * channels));
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      for (int64_t k = 0; k < channels; ++k) {
        image.at(row, column)[k] = static_cast<uint8_t>(4 * row + 3 * column + 40 * k);
      }
    }
  }
  return image;
}

int MaxDifference(const Image& a, const Image& b) {
  int difference = a.pixels.size() == b.pixels.size() ? 0 : 256;
  for (size_t i = 0; difference < 256 && i < a.pixels.size(); ++i) {
    difference = std::max(difference, std::abs(a.pixels[i] - b.pixels[i]));
  }
  return difference;
}

TEST(ImageCodecTest, PngKeepsEveryPixel) {
  for (const int64_t channels : {1, 3, 4}) {
    const Image image = Gradient(13, 7, channels);
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string bytes, EncodePng(image));
    EXPECT_THAT(DecodeImage(bytes), IsOkAndHolds(image));
  }
}

TEST(ImageCodecTest, ConvertsTheChannelsOfPng) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string alpha, EncodePng(Gradient(5, 6, 4)));
  EXPECT_THAT(DecodeImage(alpha, ImageColor::kColor), IsOkAndHolds(Gradient(5, 6, 3)));
  COOPER_ASSERT_OK_AND_ASSIGN(const Image gray, DecodeImage(alpha, ImageColor::kGray));
  EXPECT_EQ(gray.channels, 1);
  // 0.299 red + 0.587 green + 0.114 blue.
  EXPECT_NEAR(*gray.at(0, 0), 0.587 * 40 + 0.114 * 80, 1);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string one, EncodePng(Gradient(5, 6, 1)));
  COOPER_ASSERT_OK_AND_ASSIGN(const Image color, DecodeImage(one, ImageColor::kColor));
  EXPECT_EQ(color.channels, 3);
  EXPECT_EQ(color.at(4, 5)[2], 4 * 4 + 3 * 5);
}

TEST(ImageCodecTest, JpegIsNearTheImage) {
  for (const int64_t channels : {1, 3}) {
    const Image image = Gradient(30, 17, channels);
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string bytes, EncodeJpeg(image, 100));
    COOPER_ASSERT_OK_AND_ASSIGN(const Image decoded, DecodeImage(bytes));
    EXPECT_EQ(decoded.channels, channels);
    EXPECT_LE(MaxDifference(decoded, image), channels == 1 ? 2 : 12);
    COOPER_ASSERT_OK_AND_ASSIGN(const Image gray, DecodeImage(bytes, ImageColor::kGray));
    EXPECT_EQ(gray.channels, 1);
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string small, EncodeJpeg(image, 10));
    EXPECT_LT(small.size(), bytes.size());
  }
}

TEST(ImageCodecTest, RefusesWhatIsNoImage) {
  const Image image = Gradient(40, 40, 3);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string jpeg, EncodeJpeg(image));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string png, EncodePng(image));
  std::string large_png = png, large_jpeg = jpeg;
  large_png[16] = 0x7f;  // the upper byte of the width, which a checksum covers
  const size_t frame = large_jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  large_jpeg.replace(frame + 5, 4, "\xff\xd0\xff\xd0");  // height and width
  const struct {
    std::string bytes;
    const char* says;
  } cases[] = {
      {"", "neither JPEG nor PNG: 0 bytes that begin with ''"},
      {"GIF89a\x01", "neither JPEG nor PNG: 7 bytes that begin with 'GIF89a\\x01'"},
      {"\xff\xd8", "JPEG: "},
      {jpeg.substr(0, jpeg.size() / 2), "JPEG: Corrupt JPEG data: premature end of data segment"},
      {large_jpeg, "JPEG: 65488 x 65488 pixels, expected at most 67108864"},
      {png.substr(0, 20), "PNG: the image ends early"},
      {png.substr(0, png.size() - 20), "PNG: "},
      {large_png, "PNG: "},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(DecodeImage(test.bytes),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
}

TEST(ImageCodecTest, RefusesEveryTruncation) {
  const Image image = Gradient(9, 9, 3);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string jpeg, EncodeJpeg(image));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string png, EncodePng(image));
  for (const std::string& bytes : {jpeg, png}) {
    // JPEG's end marker is 2 bytes; an image without it is complete.
    for (size_t size = 0; size + 12 < bytes.size(); ++size) {
      EXPECT_FALSE(DecodeImage(bytes.substr(0, size)).ok()) << size << " of " << bytes.size();
    }
  }
}

TEST(ImageCodecTest, RefusesToEncode) {
  const Image image = Gradient(2, 2, 3);
  const auto invalid = [](const char* says) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(says));
  };
  EXPECT_THAT(EncodeJpeg(image, 0), invalid("JPEG: quality is 0, expected 1 to 100"));
  EXPECT_THAT(EncodePng(image, 10), invalid("PNG: compression is 10, expected 0 to 9"));
  EXPECT_THAT(EncodeJpeg(Gradient(2, 2, 4)),
              invalid("JPEG: an image of 4 channels, expected 1 or 3"));
  EXPECT_THAT(EncodePng(Gradient(2, 2, 2)), invalid("an image of 2 channels, expected 1, 3 or 4"));
  EXPECT_THAT(EncodePng(Image{.channels = 3}),
              invalid("an image of 0 x 0 pixels, expected extents"));
  Image short_image = image;
  short_image.pixels.pop_back();
  EXPECT_THAT(EncodePng(short_image), invalid("of 2 x 2 pixels and 3 channels has 11 bytes"));
}

TEST(RecordImageTest, PacksAndUnpacks) {
  const Image image = Gradient(6, 5, 3);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string png, PackImg({.labels = {1, 2}, .id = 9}, image,
                                                             {.quality = 3, .img_fmt = ".PNG"}));
  COOPER_ASSERT_OK_AND_ASSIGN(const UnpackedImage unpacked, UnpackImg(png));
  EXPECT_EQ(unpacked.header, (IRHeader{.flag = 2, .labels = {1, 2}, .id = 9}));
  EXPECT_EQ(unpacked.image, image);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string jpeg, PackImg({.label = 3}, image));
  COOPER_ASSERT_OK_AND_ASSIGN(const UnpackedImage gray, UnpackImg(jpeg, ImageColor::kGray));
  EXPECT_EQ(gray.header.label, 3);
  EXPECT_EQ(gray.image.channels, 1);
  EXPECT_THAT(PackImg({}, image, {.img_fmt = ".gif"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "img_fmt is '.gif', expected .jpg, .jpeg or .png"));
  EXPECT_THAT(UnpackImg("short"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("header")));
}

}  // namespace
}  // namespace cooper
