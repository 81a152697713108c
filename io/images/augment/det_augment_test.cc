#include "io/images/augment/det_augment.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/images/augment/det_fixtures.h"
#include "io/images/augment/det_label.h"
#include "io/images/codec/image.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(DetAugmentTest, BoxesStayOnTheirObjects) {
  const DetObject object = {.left = 0.2f, .top = 0.3f, .right = 0.45f, .bottom = 0.7f};
  const struct {
    const char* name;
    DetAugmentOptions options;
  } cases[] = {
      {"mirror", {.rand_mirror_prob = 1}},
      {"pad", {.rand_pad_prob = 1, .max_pad_scale = 3}},
      {"crop", {.rand_crop_prob = 1, .crop_samplers = {{.min_crop_scale = 0.4f}}}},
      {"all",
       {.rand_mirror_prob = 0.5f,
        .rand_pad_prob = 0.5f,
        .max_pad_scale = 2,
        .rand_crop_prob = 0.8f,
        .crop_samplers = {{.min_crop_scale = 0.3f,
                           .min_crop_aspect_ratio = 0.5f,
                           .max_crop_aspect_ratio = 2,
                           .min_crop_object_coverage = 0.8f},
                          {.min_crop_scale = 0.5f, .min_crop_overlap = 0.2f}},
        .crop_emit_mode = DetCropEmitMode::kOverlap}},
  };
  for (const auto& test : cases) {
    COOPER_ASSERT_OK(CheckDetAugment(test.options, {3, 8, 8}));
    int changed = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      RandomGenerator random(seed);
      Image image = Drawn(object);
      DetLabel label = {.header = {2, 5}, .objects = {object}};
      COOPER_ASSERT_OK(AugmentDet(test.options, random, &image, &label));
      ASSERT_EQ(label.objects.size(), 1u);
      const DetObject& got = label.objects[0];
      SCOPED_TRACE(absl::StrCat(test.name, ", seed ", seed));
      ExpectOnObject(got, image);
      if (std::fabs(got.left - object.left) > 0.01f) ++changed;
    }
    EXPECT_GT(changed, 20) << test.name;
  }
}

TEST(DetAugmentTest, CropsKeepTheirConditions) {
  const DetObject near = {.left = 0.05f, .top = 0.05f, .right = 0.2f, .bottom = 0.2f};
  const DetObject far = {.id = 1, .left = 0.7f, .top = 0.7f, .right = 0.9f, .bottom = 0.9f};
  DetAugmentOptions options = {
      .rand_crop_prob = 1,
      .crop_samplers = {
          {.min_crop_scale = 0.3f, .max_crop_scale = 0.5f, .min_crop_object_coverage = 1}}};
  int left = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomGenerator random(seed);
    Image image = Drawn(near);
    DetLabel label = {.objects = {near, far}};
    COOPER_ASSERT_OK(AugmentDet(options, random, &image, &label));
    if (image.width == kWidth) continue;  // no part was found
    ++left;
    ASSERT_EQ(label.objects.size(), 1u);  // the two are never in one part
    EXPECT_LE(image.width, kWidth / 2);
  }
  EXPECT_GT(left, 5);
  // No part has an object twice as large as itself.
  options.crop_samplers[0].min_crop_sample_coverage = 1.5f;
  options.crop_samplers[0].max_crop_sample_coverage = 2;
  RandomGenerator random;
  Image image = Drawn(near);
  DetLabel label = {.objects = {near, far}};
  COOPER_ASSERT_OK(AugmentDet(options, random, &image, &label));
  EXPECT_EQ(image.width, kWidth);
  EXPECT_EQ(label.objects.size(), 2u);
}

TEST(DetAugmentTest, ChangesColors) {
  const DetObject object = {.left = 0.2f, .top = 0.3f, .right = 0.45f, .bottom = 0.7f};
  const DetAugmentOptions options = {.max_random_hue = 20,
                                     .max_random_saturation = 40,
                                     .max_random_illumination = 40,
                                     .random_hue_prob = 1,
                                     .random_saturation_prob = 1,
                                     .random_illumination_prob = 1,
                                     .max_random_contrast = 0.4f,
                                     .random_contrast_prob = 1};
  RandomGenerator random;
  Image image = Drawn(object);
  DetLabel label = {.objects = {object}};
  COOPER_ASSERT_OK(AugmentDet(options, random, &image, &label));
  EXPECT_NE(image, Drawn(object));
  EXPECT_EQ(label.objects[0].left, object.left);
}

TEST(DetAugmentTest, RefusesOptions) {
  const struct {
    void (*change)(DetAugmentOptions&);
    const char* says;
  } cases[] = {
      {[](auto& o) { o.rand_crop_prob = 2; }, "rand_crop_prob is 2, expected 0 to 1"},
      {[](auto& o) { o.max_random_contrast = NAN; }, "max_random_contrast is nan, expected"},
      {[](auto& o) { o.max_pad_scale = 0.5f; }, "max_pad_scale is 0.5, expected 1 to 1000"},
      {[](auto& o) { o.random_hue_prob = 1; },
       "random_hue_prob is 1, data_shape (1, 8, 8); it needs three channels"},
      {[](auto& o) {
         o.crop_samplers = {{}, {.min_crop_scale = 2}};
       },
       "crop_samplers[1]: min_crop_scale to max_crop_scale is 2 to 1, expected"},
      {[](auto& o) { o.crop_samplers[0].max_crop_overlap = -1; },
       "crop_samplers[0]: min_crop_overlap to max_crop_overlap is 0 to -1, expected"},
      {[](auto& o) { o.crop_samplers[0].max_crop_trials = -1; }, "max_crop_trials -1, expected"},
  };
  for (const auto& test : cases) {
    DetAugmentOptions options;
    test.change(options);
    EXPECT_THAT(CheckDetAugment(options, {1, 8, 8}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
}

}  // namespace
}  // namespace cooper
