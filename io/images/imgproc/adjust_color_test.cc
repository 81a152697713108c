#include "io/images/imgproc/adjust_color.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/images/codec/image.h"

namespace cooper {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

// Four pixels of two rows.
FloatImage Colors() {
  return ToFloats({.height = 2,
                   .width = 2,
                   .channels = 3,
                   .pixels = {255, 0, 10, 12, 200, 100, 7, 7, 7, 90, 100, 240}});
}

// The numbers are those of mx.image's augmenters in MXNet 1.9.1, with their random number set.
TEST(AdjustColorTest, ChangesColorsAsMxnet) {
  const struct {
    const char* name;
    void (*change)(FloatImage*);
    std::vector<float> expected;
  } cases[] = {
      {"brightness",
       [](FloatImage* image) { AdjustBrightness(1.3f, image); },
       {331.5f, 0, 13, 15.6f, 260, 130, 9.1f, 9.1f, 9.1f, 117, 130, 312}},
      {"contrast",
       [](FloatImage* image) { AdjustContrast(0.6f, image); },
       {185.9743f, 32.9743f, 38.9743f, 40.1743f, 152.9743f, 92.9743f, 37.1743f, 37.1743f, 37.1743f,
        86.9743f, 92.9743f, 176.9743f}},
      {"saturation",
       [](FloatImage* image) { AdjustSaturation(1.4f, image); },
       {326.04599f, -30.954f, -16.954f, -36.1552f, 227.0448f, 87.0448f, 7, 7, 7, 80.812f, 94.812f,
        290.812f}},
      {"hue",
       [](FloatImage* image) { AdjustHue(0.25, image); },
       {229.79745f, -34.38225f, 253.46126f, 60.27137f, 203.02896f, -42.44509f, 7.00946f, 6.99731f,
        6.98904f, 46.53226f, 135.02216f, 173.66913f}},
      {"gray",
       [](FloatImage* image) { RemoveColors(image); },
       {54.25f, 54.25f, 54.25f, 153.52f, 153.52f, 153.52f, 7, 7, 7, 107.7f, 107.7f, 107.7f}},
      {"normalize",
       [](FloatImage* image) {
         NormalizeColors({123.68f, 116.28f, 103.53f}, {58.395f, 57.12f, 57.375f}, image);
       },
       {2.2488227f, -2.0357144f, -1.6301525f, -1.9124925f, 1.4656863f, -0.061525f, -1.9981163f,
        -1.9131653f, -1.68244f, -0.5767617f, -0.285014f, 2.3785622f}},
      {"shift",
       [](FloatImage* image) {
         ShiftColors({1, -2, 0.5f}, image);
       },
       {256, -2, 10.5f, 13, 198, 100.5f, 8, 5, 7.5f, 91, 98, 240.5f}},
  };
  for (const auto& test : cases) {
    FloatImage image = Colors();
    test.change(&image);
    EXPECT_THAT(image.pixels, Pointwise(FloatNear(1e-3f), test.expected)) << test.name;
  }
}

}  // namespace
}  // namespace cooper
