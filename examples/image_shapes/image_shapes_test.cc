#include "examples/image_shapes/image_shapes.h"

#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

TEST(ImageShapesTest, TellsImagesApartThatItHasNotSeen) {
  const ShapedImages images = MakeShapedImages(2000, 1);
  COOPER_ASSERT_OK_AND_ASSIGN(auto batches, ImageBatches(images, /*seed=*/1));
  // With a single bucket nearly three quarters would be padding.
  const BucketIterReport& report = batches->report();
  EXPECT_EQ(batches->bucket_keys().size(), 6u);
  EXPECT_EQ(report.served, 2000);
  EXPECT_LT(report.padded_tokens, report.tokens * 5 / 3);
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, TrainImages(images, 6));
  COOPER_ASSERT_OK_AND_ASSIGN(const double accuracy,
                              ImageAccuracy(*model, MakeShapedImages(500, 2)));
  EXPECT_GE(accuracy, 0.97);
}

}  // namespace
}  // namespace cooper
