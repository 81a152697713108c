#include "io/images/imgproc/resize_image.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// The expected pixels are those of mx.image.imresize in MXNet 1.9.1.
TEST(ResizeImageTest, ResizesAsMxnet) {
  const Image image = {.height = 2, .width = 3, .channels = 1, .pixels = {10, 50, 200, 255, 0, 30}};
  const Image wide = {
      .height = 2, .width = 4, .channels = 1, .pixels = {10, 51, 200, 7, 255, 0, 30, 90}};
  const struct {
    const Image& image;
    int64_t height, width;
    InterMethod method;
    std::vector<uint8_t> pixels;
  } cases[] = {
      {image,
       3,
       5,
       InterMethod::kNearest,
       {10, 10, 50, 50, 200, 10, 10, 50, 50, 200, 255, 255, 0, 0, 30}},
      {image,
       3,
       5,
       InterMethod::kBilinear,
       {10, 26, 50, 140, 200, 133, 89, 25, 79, 115, 255, 153, 0, 18, 30}},
      {image, 5, 2, InterMethod::kNearest, {10, 50, 10, 50, 10, 50, 255, 0, 255, 0}},
      {image, 5, 2, InterMethod::kBilinear, {20, 162, 37, 148, 106, 93, 174, 36, 191, 22}},
      {image, 1, 1, InterMethod::kNearest, {10}},
      {image, 1, 1, InterMethod::kBilinear, {25}},
      {wide, 1, 2, InterMethod::kNearest, {10, 200}},
      {wide, 1, 2, InterMethod::kBilinear, {79, 82}},
      {wide,
       3,
       6,
       InterMethod::kNearest,
       {10, 10, 51, 200, 200, 7, 10, 10, 51, 200, 200, 7, 255, 255, 0, 30, 30, 90}},
      {wide,
       3,
       6,
       InterMethod::kBilinear,
       {10, 30, 76, 175, 103, 7, 133, 79, 40, 100, 82, 49, 255, 127, 5, 25, 60, 90}},
      {image, 3, 9, InterMethod::kCubic, {0,   0,   0,   16, 54, 112, 168, 215, 233,
                                          144, 132, 94,  49, 25, 41,  81,  115, 125,
                                          255, 255, 187, 82, 0,  0,   0,   15,  17}},
      {image, 3, 9, InterMethod::kArea, {10,  10,  10,  50, 50, 50, 200, 200, 200,
                                         133, 133, 133, 25, 25, 25, 115, 115, 115,
                                         255, 255, 255, 0,  0,  0,  30,  30,  30}},
      {image, 3, 9, InterMethod::kLanczos, {0,   0,   0,   14, 54, 112, 171, 215, 232,
                                            150, 132, 91,  47, 25, 39,  78,  115, 131,
                                            255, 255, 188, 80, 0,  0,   0,   15,  31}},
      {image, 1, 2, InterMethod::kCubic, {105, 91}},
      {image, 1, 2, InterMethod::kArea, {97, 85}},
      {image, 1, 2, InterMethod::kLanczos, {103, 88}},
      {wide, 3, 9, InterMethod::kCubic, {0,   0,   13, 65, 161, 216, 151, 33, 0,
                                         144, 116, 56, 26, 66,  113, 100, 60, 41,
                                         255, 236, 99, 0,  0,   11,  48,  86, 106}},
      {wide, 3, 9, InterMethod::kArea, {10,  10, 41, 51, 126, 200, 152, 7, 7,  133, 133, 52, 26, 70,
                                        115, 98, 49, 49, 255, 255, 64,  0, 15, 30,  45,  90, 90}},
      {wide, 3, 9, InterMethod::kLanczos, {0,   0,   0,   67, 169, 217, 152, 34, 0,
                                           150, 113, 51,  26, 65,  112, 107, 63, 35,
                                           255, 239, 101, 0,  0,   8,   62,  92, 102}},
      {wide, 1, 3, InterMethod::kArea, {106, 70, 65}},
      {wide, 1, 2, InterMethod::kCubic, {71, 90}},
      {wide, 1, 2, InterMethod::kArea, {79, 82}},
      {wide, 1, 2, InterMethod::kLanczos, {65, 97}},
      {wide, 2, 2, InterMethod::kArea, {30, 104, 128, 60}},
      {wide, 1, 6, InterMethod::kArea, {133, 79, 26, 115, 82, 49}},
  };
  for (const auto& test : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const Image resized,
                                ResizeImage(test.image, test.height, test.width, test.method));
    EXPECT_EQ(resized.pixels, test.pixels) << test.height << " x " << test.width;
  }
}

TEST(ResizeImageTest, RefusesSizes) {
  const Image image = {.height = 1, .width = 1, .channels = 1, .pixels = {7}};
  EXPECT_THAT(ResizeImage(image, 0, 5),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("an image of 1 x 1 pixels cannot be resized to 0 x 5")));
  EXPECT_FALSE(ResizeImage(image, int64_t{1} << 40, int64_t{1} << 40).ok());
  EXPECT_FALSE(ResizeImage(Image(), 2, 2).ok());
  EXPECT_THAT(
      ResizeImage(image, 2, 2, InterMethod::kAuto),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("inter_method is 9, expected")));
}

}  // namespace
}  // namespace cooper
