#include "io/images/augment/image_transform.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/images/augment/color_jitter.h"
#include "io/images/codec/image.h"
#include "io/images/imgproc/edit_image.h"
#include "io/images/imgproc/warp_image.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns an image whose red is the row, whose green is the column and whose blue is their sum.
Image Coordinates(int64_t height, int64_t width) {
  Image image{.height = height, .width = width, .channels = 3};
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      for (const int64_t value : {row, column, row + column}) {
        image.pixels.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  return image;
}

TEST(EditImageTest, CropsPadsAndMirrors) {
  Image image = {.height = 2, .width = 3, .channels = 1, .pixels = {1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(CropImage(image, 1, 1, 1, 2).pixels, ElementsAre(5, 6));
  COOPER_ASSERT_OK_AND_ASSIGN(const Image padded, PadImage(image, {.top = 1, .right = 1}, 9));
  EXPECT_THAT(padded.pixels, ElementsAre(9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6, 9));
  MirrorImage(&image);
  EXPECT_THAT(image.pixels, ElementsAre(3, 2, 1, 6, 5, 4));
  const Image alpha = {.height = 1, .width = 1, .channels = 4, .pixels = {1, 2, 3, 4}};
  COOPER_ASSERT_OK_AND_ASSIGN(const Image border, PadImage(alpha, {.left = 1}, 9));
  EXPECT_THAT(border.pixels, ElementsAre(9, 9, 9, 0, 1, 2, 3, 4));
}

// Pinned when the functions agreed with the augmenter of MXNet 1.9.1 on hundreds of random images.
TEST(EditImageTest, ChangesColorsAsMxnet) {
  const Image image = {.height = 1,
                       .width = 4,
                       .channels = 3,
                       .pixels = {255, 0, 10, 12, 200, 100, 7, 7, 7, 90, 100, 240}};
  EXPECT_EQ(MeanGray(image), 82.25f);
  Image scaled = image, saturated = image, shifted = image, lit = image;
  ScaleSamples(1.3f, -7, &scaled);
  EXPECT_THAT(scaled.pixels, ElementsAre(255, 0, 6, 9, 253, 123, 2, 2, 2, 110, 123, 255));
  Saturate(1.4f, &saturated);
  EXPECT_THAT(saturated.pixels, ElementsAre(255, 0, 1, 0, 220, 80, 7, 7, 7, 70, 84, 255));
  ShiftHls(20, -10, 30, &shifted);
  EXPECT_THAT(shifted.pixels, ElementsAre(236, 0, 0, 0, 166, 192, 0, 0, 0, 174, 60, 250));
  ShiftRgb(-10.5f, 2.9f, 20, &lit);
  EXPECT_THAT(lit.pixels, ElementsAre(244, 2, 30, 1, 202, 120, 0, 9, 27, 79, 102, 255));
}

TEST(ColorJitterTest, StaysInItsRanges) {
  const Image image = Coordinates(5, 7);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomGenerator random(seed);
    Image same = image, bright = image, changed = image;
    JitterColors({}, random, &same);
    EXPECT_EQ(same, image);
    EXPECT_EQ(random.state().position, 0u);  // no number is drawn
    JitterColors({.brightness = 0.5f}, random, &bright);
    const double factor = bright.at(4, 6)[2] / 10.0;
    EXPECT_GE(factor, 0.5);
    EXPECT_LE(factor, 1.5);
    const ColorJitterOptions all = {.brightness = 0.2f,
                                    .contrast = 0.2f,
                                    .saturation = 0.2f,
                                    .random_h = 20,
                                    .random_s = 20,
                                    .random_l = 20,
                                    .pca_noise = 0.1f};
    JitterColors(all, random, &changed);
    EXPECT_NE(changed, image);
  }
}

TEST(WarpImageTest, MovesAndFills) {
  const Image image = {.height = 2, .width = 2, .channels = 1, .pixels = {10, 20, 30, 40}};
  for (const InterMethod method :
       {InterMethod::kNearest, InterMethod::kBilinear, InterMethod::kCubic, InterMethod::kArea,
        InterMethod::kLanczos}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const Image same,
                                WarpImage(image, {1, 0, 0, 0, 1, 0}, 2, 2, method, 9));
    EXPECT_EQ(same, image);
    COOPER_ASSERT_OK_AND_ASSIGN(const Image moved,
                                WarpImage(image, {1, 0, 1, 0, 1, 0}, 2, 3, method, 9));
    EXPECT_THAT(moved.pixels, ElementsAre(9, 10, 20, 9, 30, 40));
  }
  // Far outside.
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Image none, WarpImage(image, {1, 0, 1e300, 0, 1, 0}, 1, 1, InterMethod::kCubic, 9));
  EXPECT_THAT(none.pixels, ElementsAre(9));
  EXPECT_THAT(WarpImage(image, {1, 0, 0, 0, 1, 0}, 0, 2, InterMethod::kCubic, 9),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("2 x 2 pixels cannot be mapped to 0 x 2")));
}

TEST(FitImageTest, CropsAnArea) {
  const ImageTransformOptions options = {.data_shape = {3, 20, 20},
                                         .inter_method = InterMethod::kNearest,
                                         .max_aspect_ratio = 2,
                                         .min_aspect_ratio = 0.5f,
                                         .random_resized_crop = true,
                                         .min_random_area = 0.25f,
                                         .max_random_area = 0.5f};
  COOPER_ASSERT_OK(CheckImageTransform(options));
  std::set<int> heights;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomGenerator random(seed);
    COOPER_ASSERT_OK_AND_ASSIGN(const Image fitted, FitImage(Coordinates(60, 60), options, random));
    ASSERT_EQ(fitted.pixels.size(), 1200u);
    // The first and the last pixel are those of the area, except for the last of its 1/20.
    const double height = (fitted.at(19, 0)[0] - fitted.at(0, 0)[0]) * 20 / 19.0;
    const double width = (fitted.at(0, 19)[1] - fitted.at(0, 0)[1]) * 20 / 19.0;
    EXPECT_GT(height * width, 3600 * 0.2);
    EXPECT_LT(height * width, 3600 * 0.55);
    EXPECT_GT(height / width, 0.4);
    EXPECT_LT(height / width, 2.5);
    heights.insert(static_cast<int>(height));
  }
  EXPECT_GT(heights.size(), 5u);
}

TEST(FitImageTest, CropsASquare) {
  ImageTransformOptions options = {.data_shape = {3, 4, 4},
                                   .inter_method = InterMethod::kNearest,
                                   .rand_crop = true,
                                   .min_crop_size = 8,
                                   .max_crop_size = 16};
  std::set<std::pair<int, int>> places;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomGenerator random(seed);
    COOPER_ASSERT_OK_AND_ASSIGN(const Image fitted, FitImage(Coordinates(40, 30), options, random));
    const int step = fitted.at(1, 0)[0] - fitted.at(0, 0)[0];
    EXPECT_GE(step, 2);
    EXPECT_LE(step, 4);
    places.insert({fitted.at(0, 0)[0], fitted.at(0, 0)[1]});
  }
  EXPECT_GT(places.size(), 10u);
  options.max_crop_size = 31;
  RandomGenerator random;
  EXPECT_THAT(FitImage(Coordinates(40, 30), options, random),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("40 x 30 pixels, max_crop_size is 31")));
}

TEST(FitImageTest, RotatesAndScalesAtRandom) {
  const ImageTransformOptions options = {.data_shape = {3, 8, 8},
                                         .max_rotate_angle = 20,
                                         .max_shear_ratio = 0.1f,
                                         .min_random_scale = 0.8f,
                                         .max_random_scale = 1.2f,
                                         .max_aspect_ratio = 0.1f};
  std::set<std::vector<uint8_t>> images;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    RandomGenerator random(seed), again(seed);
    COOPER_ASSERT_OK_AND_ASSIGN(const Image fitted, FitImage(Coordinates(20, 20), options, random));
    COOPER_ASSERT_OK_AND_ASSIGN(const Image same, FitImage(Coordinates(20, 20), options, again));
    EXPECT_EQ(same, fitted);
    images.insert(fitted.pixels);
  }
  EXPECT_EQ(images.size(), 10u);
}

TEST(FitImageTest, ChoosesMethods) {
  // Blocks of 2 x 2 pixels: enlarged by cubic interpolation, shrunk by area, else bilinear.
  const Image image = {.height = 4,
                       .width = 4,
                       .channels = 1,
                       .pixels = {0, 255, 7, 9, 80, 1, 2, 255, 255, 0, 40, 99, 3, 200, 0, 0}};
  const struct {
    int64_t height, width;
    InterMethod method;
  } cases[] = {
      {7, 7, InterMethod::kCubic}, {3, 3, InterMethod::kArea}, {3, 7, InterMethod::kBilinear}};
  RandomGenerator random;
  for (const auto& test : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const Image chosen, ResizeBy(image, test.height, test.width, InterMethod::kAuto, random));
    COOPER_ASSERT_OK_AND_ASSIGN(const Image expected,
                                ResizeImage(image, test.height, test.width, test.method));
    EXPECT_EQ(chosen, expected);
  }
  std::set<std::vector<uint8_t>> images;
  for (int i = 0; i < 100; ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(const Image any,
                                ResizeBy(image, 7, 6, InterMethod::kRandom, random));
    images.insert(any.pixels);
  }
  EXPECT_EQ(images.size(), 5u);
}

TEST(FitImageTest, RefusesOptions) {
  const struct {
    void (*change)(ImageTransformOptions&);
    const char* says;
  } cases[] = {
      {[](auto& o) { o.max_rotate_angle = -1; }, "max_rotate_angle is -1, expected 0 to"},
      {[](auto& o) { o.rotate = -2; }, "rotate is -2, expected -1 to"},
      {[](auto& o) { o.max_shear_ratio = -1; }, "max_shear_ratio is -1, expected"},
      {[](auto& o) { o.min_random_scale = 2; }, "min_random_scale to max_random_scale is 2 to 1"},
      {[](auto& o) { o.min_random_area = 0; }, "min_random_area to max_random_area is 0 to 1"},
      {[](auto& o) { o.max_aspect_ratio = 1; },
       "the aspect ratio is 0 to 2, expected a range above 0"},
      {[](auto& o) { o.min_aspect_ratio = 1; }, "the aspect ratio is 1 to 0, expected"},
      {[](auto& o) { o.max_img_size = -1; }, "min_img_size is 0, max_img_size -1, expected"},
      {[](auto& o) { o.max_crop_size = 4; }, "min_crop_size is -1, max_crop_size 4, expected both"},
      {[](auto& o) { o.random_resized_crop = o.rand_crop = true; },
       "random_resized_crop excludes rand_crop"},
  };
  for (const auto& test : cases) {
    ImageTransformOptions options = {.data_shape = {3, 4, 4}};
    COOPER_ASSERT_OK(CheckImageTransform(options));
    test.change(options);
    EXPECT_THAT(CheckImageTransform(options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
  EXPECT_THAT(CheckColorJitter({.contrast = -1}, {3, 4, 4}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("contrast is -1, expected")));
  EXPECT_THAT(CheckColorJitter({.random_h = 1}, {1, 4, 4}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("random_h is 1, data_shape (1, 4, 4); it needs three channels")));
}

}  // namespace
}  // namespace cooper
