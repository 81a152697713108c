#include "io/images/augment/augmenters.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/images/codec/image.h"
#include "io/images/imgproc/resize_image.h"
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

// Returns the bytes of an image that an augmenter has changed.
Image Changed(const Augmenter& augmenter, const Image& image, uint64_t seed = 0) {
  RandomGenerator random(seed);
  AnyImage any = image;
  COOPER_EXPECT_OK(augmenter(random, &any));
  return std::get<Image>(any);
}

// Returns the samples of an image that an augmenter has changed into floats.
std::vector<float> Floats(const Augmenter& augmenter, const Image& image, uint64_t seed = 0) {
  RandomGenerator random(seed);
  AnyImage any = image;
  COOPER_EXPECT_OK(augmenter(random, &any));
  return std::get<FloatImage>(any).pixels;
}

TEST(AugmentersTest, ResizesAndCropsTheCenter) {
  const Image image = Coordinates(20, 30);
  const Image shorter = Changed(ResizeAug{.size = 10}, image);
  EXPECT_EQ(shorter.height, 10);
  EXPECT_EQ(shorter.width, 15);
  const ImageSize size = {.height = 6, .width = 4};
  const Image forced = Changed(ForceResizeAug{.size = size}, image);
  EXPECT_EQ(forced.height, 6);
  EXPECT_EQ(forced.width, 4);
  const Image center = Changed(CenterCropAug{.size = size}, image);
  EXPECT_EQ(center.height, 6);
  EXPECT_THAT(std::vector<int>(center.at(0, 0), center.at(0, 0) + 3), ElementsAre(7, 13, 20));
  // A part of 20 x 10 pixels is enlarged.
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Image enlarged,
      ResizeImage(Changed(CenterCropAug{.size = {.height = 20, .width = 10}}, image), 40, 20,
                  InterMethod::kLanczos));
  EXPECT_EQ(
      Changed(CenterCropAug{.size = {.height = 40, .width = 20}, .interp = InterMethod::kLanczos},
              image),
      enlarged);
  // The part of a narrow image in this ratio has less than a row.
  const Image row =
      Changed(CenterCropAug{.size = {.height = 32, .width = 280}}, Coordinates(100, 5));
  EXPECT_EQ(row.height, 32);
  EXPECT_EQ(row.width, 280);
}

TEST(AugmentersTest, CropsEveryPlaceEquallyOften) {
  const Image image = Coordinates(6, 5);
  int counts[5][3] = {};
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const Image part = Changed(RandomCropAug{.size = {.height = 2, .width = 3}}, image, seed);
    ASSERT_EQ(part.pixels.size(), 18u);
    EXPECT_EQ(part.at(1, 2)[0], part.at(0, 0)[0] + 1);
    ++counts[part.at(0, 0)[0]][part.at(0, 0)[1]];
  }
  // 100 are expected, with a standard deviation of 10.
  for (const auto& row : counts) {
    for (const int count : row) EXPECT_NEAR(count, 100, 50);
  }
}

TEST(AugmentersTest, CropsAreasAndRatios) {
  const RandomSizedCropAug aug = {.size = {.height = 20, .width = 20},
                                  .area = {0.25, 0.5},
                                  .ratio = {0.5, 2},
                                  .interp = InterMethod::kNearest};
  int wide = 0;
  std::set<int> heights;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Image part = Changed(aug, Coordinates(60, 60), seed);
    ASSERT_EQ(part.pixels.size(), 1200u);
    // The first and the last pixel are those of the part, except for the last of its 1/20.
    const double height = (part.at(19, 0)[0] - part.at(0, 0)[0]) * 20 / 19.0;
    const double width = (part.at(0, 19)[1] - part.at(0, 0)[1]) * 20 / 19.0;
    EXPECT_GT(height * width, 3600 * 0.2);
    EXPECT_LT(height * width, 3600 * 0.55);
    EXPECT_GT(height / width, 0.4);
    EXPECT_LT(height / width, 2.5);
    wide += width > height ? 1 : 0;
    heights.insert(static_cast<int>(height));
  }
  EXPECT_GT(heights.size(), 10u);
  EXPECT_NEAR(wide, 100, 25);  // the logarithm of the ratio is uniform; deviation 7
  // No part of twice the width of the image has its area: the centre is taken.
  const Image center = Changed(
      RandomSizedCropAug{.size = {.height = 30, .width = 60}, .area = {1, 1}, .ratio = {2, 2}},
      Coordinates(60, 60));
  EXPECT_EQ(center,
            Changed(CenterCropAug{.size = {.height = 30, .width = 60}}, Coordinates(60, 60)));
}

TEST(AugmentersTest, FactorsAreUniform) {
  const Image image = {.height = 1, .width = 1, .channels = 3, .pixels = {100, 100, 100}};
  double sum = 0, least = 2, most = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const double factor =
        static_cast<double>(Floats(BrightnessJitterAug{.brightness = 0.5f}, image, seed)[0]) / 100;
    sum += factor;
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  EXPECT_NEAR(sum / 400, 1, 0.07);  // deviation 0.5 / sqrt(3) / 20
  EXPECT_NEAR(least, 0.5, 0.02);
  EXPECT_NEAR(most, 1.5, 0.02);
}

TEST(AugmentersTest, GrayKeepsItsColorsOnlyInSomeChanges) {
  const Image gray = {.height = 1, .width = 2, .channels = 3, .pixels = {9, 9, 9, 9, 9, 9}};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const Augmenter& augmenter : std::vector<Augmenter>{
             ContrastJitterAug{.contrast = 0.9f}, SaturationJitterAug{.saturation = 0.9f},
             HueJitterAug{.hue = 0.5f}, RandomGrayAug{.p = 1}}) {
      for (const float sample : Floats(augmenter, gray, seed)) EXPECT_NEAR(sample, 9, 0.1);
    }
    EXPECT_NE(Floats(LightingAug{.alphastd = 0.1f}, gray, seed)[0], 9);
  }
}

TEST(AugmentersTest, HappensWithItsProbability) {
  const Image image = Coordinates(2, 3);
  int flips = 0, grays = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    flips += Changed(HorizontalFlipAug{.p = 0.25}, image, seed) == image ? 0 : 1;
    RandomGenerator random(seed);
    AnyImage any = image;
    COOPER_ASSERT_OK(RandomGrayAug{.p = 0.25}(random, &any));
    grays += std::holds_alternative<FloatImage>(any) ? 1 : 0;
  }
  EXPECT_NEAR(flips, 100, 45);  // deviation 9
  EXPECT_NEAR(grays, 100, 45);
}

TEST(AugmentersTest, ComposesInOrderAndInRandomOrder) {
  std::vector<int> calls;
  std::vector<Augmenter> ts;
  for (int i = 0; i < 3; ++i) {
    ts.push_back([&calls, i](RandomGenerator&, AnyImage*) {
      calls.push_back(i);
      return absl::OkStatus();
    });
  }
  RandomGenerator random;
  AnyImage image = Coordinates(1, 1);
  COOPER_ASSERT_OK(SequentialAug{.ts = ts}(random, &image));
  EXPECT_THAT(calls, ElementsAre(0, 1, 2));
  std::set<std::vector<int>> orders;
  for (int i = 0; i < 100; ++i) {
    calls.clear();
    COOPER_ASSERT_OK(RandomOrderAug{.ts = ts}(random, &image));
    orders.insert(calls);
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(CreateAugmenterTest, PreparesFloatsOfTheShape) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto augmenters,
                              CreateAugmenter({3, 8, 6}, {.resize = 12,
                                                          .rand_crop = true,
                                                          .rand_resize = true,
                                                          .rand_mirror = true,
                                                          .color = {.brightness = 0.1f,
                                                                    .contrast = 0.1f,
                                                                    .saturation = 0.1f,
                                                                    .hue = 0.1f,
                                                                    .pca_noise = 0.1f,
                                                                    .rand_gray = 0.5,
                                                                    .mean = kImageNetMean,
                                                                    .std = kImageNetStd},
                                                          .inter_method = InterMethod::kRandom}));
  EXPECT_EQ(augmenters.size(), 9u);
  std::set<std::vector<float>> images;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    RandomGenerator random(seed), again(seed);
    AnyImage image = Coordinates(20, 30), same = image;
    COOPER_ASSERT_OK(ApplyAugmenters(augmenters, random, &image));
    COOPER_ASSERT_OK(ApplyAugmenters(augmenters, again, &same));
    EXPECT_EQ(image, same);
    const FloatImage& floats = std::get<FloatImage>(image);
    EXPECT_EQ(floats.height, 8);
    EXPECT_EQ(floats.width, 6);
    for (const float sample : floats.pixels) EXPECT_LT(std::fabs(sample), 3);
    images.insert(floats.pixels);
  }
  EXPECT_EQ(images.size(), 10u);
}

TEST(CreateAugmenterTest, RefusesOptions) {
  const struct {
    Shape data_shape;
    AugmenterOptions options;
    const char* says;
  } cases[] = {
      {{3, 8}, {}, "data_shape is (3, 8), expected"},
      {{1, 8, 8}, {}, "data_shape is (1, 8, 8), resize 0, expected three channels"},
      {{3, 8, 8}, {.resize = -2}, "resize is -2, expected"},
      {{3, 8, 8}, {.rand_resize = true}, "rand_resize needs rand_crop"},
      {{3, 8, 8}, {.color = {.hue = -1}}, "hue is -1, expected 0 to"},
      {{3, 8, 8}, {.color = {.contrast = NAN}}, "contrast is nan, expected 0 to"},
      {{3, 8, 8}, {.color = {.rand_gray = 2}}, "rand_gray is 2, expected 0 to 1"},
      {{3, 8, 8}, {.color = {.std = {{1, 0, 1}}}}, "mean[1] is 0 and std[1] is 0: expected"},
      {{3, 8, 8}, {.inter_method = static_cast<InterMethod>(7)}, "inter_method is 7, expected"},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(CreateAugmenter(test.data_shape, test.options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
}

TEST(AugmentersTest, RefuseWhatTheyCannotChange) {
  const AnyImage color = Coordinates(4, 4),
                 floats = FloatImage{
                     .height = 4, .width = 4, .channels = 3, .pixels = std::vector<float>(48)};
  const AnyImage gray = Image{.height = 1, .width = 1, .channels = 1, .pixels = {1}};
  const struct {
    Augmenter augmenter;
    AnyImage image;
    const char* says;
  } cases[] = {
      {ResizeAug{.size = 0}, color, "ResizeAug: size is 0, expected"},
      {ResizeAug{.size = 2}, floats, "ResizeAug: the image has floats already"},
      {CenterCropAug{}, color, "CenterCropAug: size is 0 x 0, expected"},
      {ForceResizeAug{}, color, "ForceResizeAug: an image of 4 x 4"},
      {RandomCropAug{.size = {.height = 9, .width = 9}}, floats,
       "RandomCropAug: the image has floats already"},
      {RandomSizedCropAug{.size = {.height = 2, .width = 2}, .area = {0.5, 0.2}}, color,
       "RandomSizedCropAug: area is 0.5 to 0.2, expected"},
      {RandomSizedCropAug{.size = {.height = 2, .width = 2}, .ratio = {0, 1}}, color,
       "RandomSizedCropAug: ratio is 0 to 1, expected"},
      {HueJitterAug{}, gray, "HueJitterAug: the image has 1 channels, expected 3"},
  };
  for (const auto& test : cases) {
    RandomGenerator random;
    AnyImage image = test.image;
    EXPECT_THAT(test.augmenter(random, &image),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
  // Floats are cropped and mirrored.
  RandomGenerator random;
  AnyImage image = floats;
  const Augmenter both = SequentialAug{
      .ts = {CenterCropAug{.size = {.height = 2, .width = 2}}, HorizontalFlipAug{.p = 1}}};
  COOPER_EXPECT_OK(both(random, &image));
  EXPECT_EQ(std::get<FloatImage>(image).pixels.size(), 12u);
}

}  // namespace
}  // namespace cooper
