// Fuzzes the decoders of images. Of any bytes, decoding fails or gives an image whose pixels are
// complete, with the same extents for each choice of channels; PNG keeps pixels exactly.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "glog/logging.h"
#include "io/images/codec/image_codec.h"
#include "io/images/codec/record_image.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_seeds.h"

namespace cooper {
namespace {

Image Picture(int64_t height, int64_t width, int64_t channels) {
  Image image = {.height = height, .width = width, .channels = channels};
  for (int64_t i = 0; i < height * width * channels; ++i) {
    image.pixels.push_back(static_cast<uint8_t>(37 * i + i / 5));
  }
  return image;
}

std::string Encoded(bool is_png, int64_t channels) {
  const Image image = Picture(9, 17, channels);
  const auto bytes = is_png ? EncodePng(image) : EncodeJpeg(image, 80);
  CHECK(bytes.ok()) << bytes.status();
  return *bytes;
}

std::string ChangedImage(FuzzInput& input) {
  const bool is_png = input.OneIn(2);
  std::string bytes = Encoded(
      is_png, input.Pick(is_png ? std::vector<int64_t>{1, 3, 4} : std::vector<int64_t>{1, 3}));
  for (uint64_t changes = input.Below(6); changes > 0; --changes) {
    bytes[input.Below(bytes.size())] = static_cast<char>(input.Below(256));
  }
  if (input.OneIn(4)) bytes.resize(input.Below(bytes.size() + 1));
  return bytes;
}

void DecodeAny(FuzzInput& input) {
  const std::string bytes = input.OneIn(2) ? ChangedImage(input) : input.Rest();
  const auto own = DecodeImage(bytes);
  for (const ImageColor color : {ImageColor::kGray, ImageColor::kColor}) {
    const auto image = DecodeImage(bytes, color);
    if (!image.ok()) continue;
    CHECK(image->channels == (color == ImageColor::kGray ? 1 : 3));
    CHECK(std::ssize(image->pixels) == image->height * image->width * image->channels);
    CHECK(!own.ok() || (own->height == image->height && own->width == image->width));
  }
  (void)UnpackImg(bytes);
  if (!own.ok()) return;
  CHECK(own->height > 0 && own->width > 0);
  CHECK(std::ssize(own->pixels) == own->height * own->width * own->channels);
  if (own->height > 200 || own->width > 200) return;
  const auto again = EncodePng(*own);
  CHECK(again.ok()) << again.status();
  CHECK(DecodeImage(*again)->pixels == own->pixels);
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  cooper::DecodeAny(input);
  return 0;
}

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) {
  const struct {
    const char* name;
    bool is_png;
    int64_t channels;
  } images[] = {{"jpeg_gray", false, 1},
                {"jpeg", false, 3},
                {"png_gray", true, 1},
                {"png", true, 3},
                {"png_alpha", true, 4}};
  for (const auto& [name, is_png, channels] : images) {
    const std::string bytes = cooper::Encoded(is_png, channels);
    seeds->push_back({name, cooper::SeedBytes().Below(0, 2).Rest(bytes).bytes()});
    seeds->push_back({std::string(name) + "_cut",
                      cooper::SeedBytes().Below(0, 2).Rest(bytes.substr(0, 60)).bytes()});
  }
}
