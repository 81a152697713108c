#include "io/images/augment/det_augmenters.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/images/augment/det_fixtures.h"
#include "io/images/codec/image.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DetAugmentersTest, BoxesStayOnTheirObjects) {
  const DetObject object = {
      .id = 3, .left = 0.2f, .top = 0.3f, .right = 0.45f, .bottom = 0.7f, .extra = {7}};
  const struct {
    const char* name;
    DetAugmenter augmenter;
  } cases[] = {
      {"flip", DetHorizontalFlipAug{.p = 0.5}},
      {"crop", DetRandomCropAug{}},
      {"pad", DetRandomPadAug{}},
      {"select", DetRandomSelectAug{.aug_list = {DetHorizontalFlipAug{.p = 1}, DetRandomPadAug{},
                                                 DetRandomCropAug{.min_object_covered = 0.9}}}},
  };
  for (const auto& test : cases) {
    int changed = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      RandomGenerator random(seed);
      AnyImage any = Drawn(object);
      std::vector<DetObject> objects = {object};
      COOPER_ASSERT_OK(test.augmenter(random, &any, &objects));
      ASSERT_EQ(objects.size(), 1u);
      const DetObject& got = objects[0];
      EXPECT_EQ(got.id, 3);
      EXPECT_THAT(got.extra, ElementsAre(7));
      const Image& image = std::get<Image>(any);
      SCOPED_TRACE(absl::StrCat(test.name, ", seed ", seed));
      ExpectOnObject(got, image);
      if (std::fabs(got.left - object.left) > 0.01f) ++changed;
    }
    EXPECT_GT(changed, 15) << test.name;
  }
}

TEST(DetAugmentersTest, CropsKeepTheirConditions) {
  const DetObject near = {.left = 0.05f, .top = 0.05f, .right = 0.2f, .bottom = 0.2f};
  const DetObject far = {.id = 1, .left = 0.7f, .top = 0.7f, .right = 0.9f, .bottom = 0.9f};
  const DetRandomCropAug aug = {.min_object_covered = 0.5,
                                .aspect_ratio_range = {0.5, 2},
                                .area_range = {0.1, 0.3},
                                .min_eject_coverage = 0.9};
  int cropped = 0, narrow = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomGenerator random(seed);
    AnyImage any = Drawn(near);
    std::vector<DetObject> objects = {near, far};
    COOPER_ASSERT_OK(aug(random, &any, &objects));
    const Image& image = std::get<Image>(any);
    if (image.width == kWidth && image.height == kHeight) continue;  // no part was found
    ++cropped;
    const double area = static_cast<double>(image.height * image.width) / (kHeight * kWidth);
    const double ratio = static_cast<double>(image.width) / static_cast<double>(image.height);
    EXPECT_GE(area, 0.1);
    EXPECT_LE(area, 0.3);
    EXPECT_NEAR(ratio, 1.25, 0.8);
    if (ratio < 1.25) ++narrow;
    ASSERT_EQ(objects.size(), 1u);  // the two are never in one part
    EXPECT_GE(objects[0].left, 0);
    EXPECT_LE(objects[0].right, 1);
  }
  EXPECT_GT(cropped, 100);
  EXPECT_GT(narrow, 20);
  // All of an object is asked for in a part that is too small for it.
  const DetObject large = {.right = 1, .bottom = 1};
  RandomGenerator random;
  AnyImage image = Drawn(large);
  std::vector<DetObject> objects = {large};
  COOPER_ASSERT_OK(DetRandomCropAug({.min_object_covered = 0.6, .area_range = {0.1, 0.5}})(
      random, &image, &objects));
  EXPECT_EQ(std::get<Image>(image).width, kWidth);
}

// Shares and means are those of 20,000 draws of MXNet 1.9.1, with their standard deviations.
TEST(DetAugmentersTest, DrawsSizesAsMxnet) {
  const DetObject object = {.left = 0.2f, .top = 0.3f, .right = 0.45f, .bottom = 0.7f};
  const struct {
    const char* name;
    DetAugmenter augmenter;
    double share, width, height, width_deviation, height_deviation;
  } cases[] = {
      {"crop", DetRandomCropAug(), 1, 91.65, 86.56, 27.6, 22.3},
      {"crop once",
       DetRandomCropAug{.min_object_covered = 0.7,
                        .aspect_ratio_range = {0.5, 2},
                        .area_range = {0.1, 0.5},
                        .max_attempts = 1},
       0.369, 100.24, 79.63, 25.7, 16.9},
      {"pad", DetRandomPadAug(), 1, 237.57, 232.57, 24.5, 33.8},
      {"pad once",
       DetRandomPadAug{.aspect_ratio_range = {0.5, 2.5}, .area_range = {1, 4}, .max_attempts = 1},
       0.980, 297.70, 221.58, 69.5, 72.2},
  };
  constexpr int kDraws = 400;
  const Image image = Drawn(object);
  for (const auto& test : cases) {
    double found = 0, width = 0, height = 0;
    for (uint64_t seed = 0; seed < kDraws; ++seed) {
      RandomGenerator random(seed);
      AnyImage any = image;
      std::vector<DetObject> objects = {object};
      COOPER_ASSERT_OK(test.augmenter(random, &any, &objects));
      const Image& drawn = std::get<Image>(any);
      if (drawn.height == kHeight && drawn.width == kWidth) continue;
      ++found;
      width += static_cast<double>(drawn.width);
      height += static_cast<double>(drawn.height);
    }
    const double deviation = 4.5 / std::sqrt(found);
    EXPECT_NEAR(found / kDraws, test.share, 0.07) << test.name;
    EXPECT_NEAR(width / found, test.width, deviation * test.width_deviation) << test.name;
    EXPECT_NEAR(height / found, test.height, deviation * test.height_deviation) << test.name;
  }
}

TEST(DetAugmentersTest, PadsWithItsValue) {
  const DetObject object = {.right = 1, .bottom = 1};
  int padded = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomGenerator random(seed);
    AnyImage any = Drawn(object);
    std::vector<DetObject> objects = {object};
    COOPER_ASSERT_OK(
        DetRandomPadAug({.area_range = {2, 3}, .pad_val = {1, 2, 3}})(random, &any, &objects));
    const Image& image = std::get<Image>(any);
    if (image.width == kWidth) continue;  // the ratio allows none
    ++padded;
    const double area = static_cast<double>(image.height * image.width) / (kHeight * kWidth);
    EXPECT_NEAR(area, 2.5, 0.55);
    int64_t border = 0;
    const uint8_t value[] = {1, 2, 3};
    for (int64_t i = 0; i < image.height * image.width; ++i) {
      const uint8_t* pixel = image.pixels.data() + 3 * i;
      border += std::equal(pixel, pixel + 3, value) ? 1 : 0;
    }
    EXPECT_EQ(border, image.height * image.width - kHeight * kWidth);
  }
  EXPECT_GT(padded, 10);
}

TEST(DetAugmentersTest, SelectsAndSkips) {
  int flips = 0, calls = 0;
  const DetRandomSelectAug aug = {
      .aug_list = {DetHorizontalFlipAug{.p = 1},
                   [&calls](RandomGenerator&, AnyImage*, std::vector<DetObject>*) {
                     ++calls;
                     return absl::OkStatus();
                   }},
      .skip_prob = 0.5};
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomGenerator random(seed);
    AnyImage image = Image{.height = 1, .width = 2, .channels = 1, .pixels = {1, 2}};
    std::vector<DetObject> objects = {{.left = 0.25f, .right = 1}};
    COOPER_ASSERT_OK(aug(random, &image, &objects));
    if (objects[0].right == 1) continue;
    ++flips;
    EXPECT_EQ(objects[0].right, 0.75f);
    EXPECT_THAT(std::get<Image>(image).pixels, ElementsAre(2, 1));
  }
  EXPECT_NEAR(flips, 100, 45);  // deviation 9
  EXPECT_NEAR(calls, 100, 45);
}

TEST(CreateDetAugmenterTest, PreparesFloatsOfTheShape) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto augmenters,
      CreateDetAugmenter({3, 8, 6},
                         {.resize = 60,
                          .rand_crop = 0.5,
                          .crops = {{.min_object_covered = 0.3}, {.min_object_covered = 0.7}},
                          .rand_mirror = true,
                          .rand_pad = 0.5,
                          .color = {.brightness = 0.1f, .mean = kImageNetMean}}));
  const DetObject object = {.left = 0.2f, .top = 0.3f, .right = 0.45f, .bottom = 0.7f};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomGenerator random(seed);
    AnyImage image = Drawn(object);
    std::vector<DetObject> objects = {object};
    for (const DetAugmenter& augmenter : augmenters) {
      COOPER_ASSERT_OK(augmenter(random, &image, &objects));
    }
    EXPECT_EQ(std::get<FloatImage>(image).pixels.size(), 144u);
    ASSERT_EQ(objects.size(), 1u);
    EXPECT_LT(objects[0].left, objects[0].right);
  }
}

TEST(CreateDetAugmenterTest, RefusesOptions) {
  const struct {
    DetAugmenterOptions options;
    const char* says;
  } cases[] = {
      {{.rand_crop = 2}, "rand_crop is 2, expected 0 to 1"},
      {{.rand_pad = -1}, "rand_pad is -1, expected 0 to 1"},
      {{.crops = {{}, {.min_object_covered = NAN}}},
       "crops[1]: min_object_covered is nan, expected 0 to 1"},
      {{.crops = {{.aspect_ratio_range = {0, 1}}}},
       "crops[0]: aspect_ratio_range is 0 to 1, expected"},
      {{.pad = {.area_range = {3, 2}}}, "pad: area_range is 3 to 2, expected"},
      {{.pad = {.max_attempts = -1}}, "pad: max_attempts is -1, expected"},
      {{.color = {.hue = -1}}, "hue is -1, expected"},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(CreateDetAugmenter({3, 8, 8}, test.options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
  RandomGenerator random;
  AnyImage floats = FloatImage();
  std::vector<DetObject> objects;
  EXPECT_THAT(DetRandomPadAug()(random, &floats, &objects),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("DetRandomPadAug: the image has floats already")));
}

}  // namespace
}  // namespace cooper
