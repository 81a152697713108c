#include "io/images/image_det_iter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"
#include "io/images/image_list.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Writes images of 2 x 4 pixels whose labels are in memory: 0, 1, ... objects.
ImageDetIterOptions Images(int count) {
  ImageDetIterOptions options = {.images = {.path_root = ::testing::TempDir()},
                                 .batches = {.batch_size = 2},
                                 .data_shape = {3, 2, 4}};
  std::vector<float> labels = {2, 6};
  for (int i = 0; i < count; ++i) {
    const std::string name = absl::StrCat("image_det_iter_test_", i, ".png");
    const Image image = {.height = 2,
                         .width = 4,
                         .channels = 3,
                         .pixels = std::vector<uint8_t>(24, static_cast<uint8_t>(10 * i))};
    const auto bytes = EncodePng(image);
    COOPER_EXPECT_OK(bytes);
    COOPER_EXPECT_OK(WriteFileAtomically(absl::StrCat(::testing::TempDir(), "/", name), *bytes));
    options.images.imglist.push_back({.id = i, .labels = labels, .path = name});
    labels.insert(labels.end(), {static_cast<float>(i), 0, 0.25f, 0.5f, 0.75f, 9});
  }
  return options;
}

std::unique_ptr<ImageDetIter> Make(const ImageDetIterOptions& options) {
  auto iter = ImageDetIter::Create(options);
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

TEST(ImageDetIterTest, FillsLabelsUpToTheMostObjects) {
  const auto iter = Make(Images(3));
  EXPECT_EQ(DescsToString(iter->provide_data()), "data (2, 3, 2, 4) float32 NCHW");
  EXPECT_EQ(DescsToString(iter->provide_label()), "label (2, 2, 6) float32 NCHW");
  EXPECT_EQ(iter->invalid_label("label"), -1);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, iter->Next());
  EXPECT_THAT(*batch->label[0].ToVector<float>(),
              ElementsAre(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,  //
                          0, 0, 0.25f, 0.5f, 0.75f, 9, -1, -1, -1, -1, -1, -1));
}

TEST(ImageDetIterTest, ImagesWithoutObjectsClaimNoMemory) {
  ImageDetIterOptions options = Images(1);
  options.images.imglist[0].labels = {2, 999999};
  EXPECT_EQ(DescsToString(Make(options)->provide_label()), "label (2, 1, 5) float32 NCHW");
}

TEST(ImageDetIterTest, TakesALabelShape) {
  ImageDetIterOptions options = Images(3);
  options.label_shape = {3, 6};
  EXPECT_EQ(DescsToString(Make(options)->provide_label()), "label (2, 3, 6) float32 NCHW");
  options.label_shape = {1, 6};
  const auto few = Make(options);
  COOPER_ASSERT_OK(few->Next());
  EXPECT_THAT(few->Next(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("2.png': there are 2 objects, label_shape is (1, 6)")));
  options.label_shape = {2, 5};
  EXPECT_THAT(Make(options)->Next(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("an object has 6 numbers, label_shape is (2, 5)")));
}

TEST(ImageDetIterTest, MovesBoxesAtRandomAndResumes) {
  ImageDetIterOptions options = Images(5);
  options.batches.shuffle = true;
  options.augment = {.rand_crop = 0.5, .rand_mirror = true, .rand_pad = 0.5};
  const auto iter = Make(options);
  COOPER_ASSERT_OK(iter->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  const auto resumed = Make(options);
  COOPER_ASSERT_OK(resumed->LoadState(state));
  bool is_moved = false;
  for (int epoch = 0; epoch < 5; ++epoch) {
    const std::vector<DataBatch> expected = Epoch(*iter), got = Epoch(*resumed);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const std::vector<float> labels = *got[i].label[0].ToVector<float>();
      EXPECT_EQ(labels, *expected[i].label[0].ToVector<float>());
      for (size_t object = 0; object < labels.size(); object += 6) {
        is_moved |= labels[object] >= 0 && labels[object + 1] != 0;
      }
    }
    COOPER_ASSERT_OK(iter->Reset());
    COOPER_ASSERT_OK(resumed->Reset());
  }
  EXPECT_TRUE(is_moved);
}

TEST(ImageDetIterTest, RefusesOptions) {
  const ImageDetIterOptions good = Images(3);
  const struct {
    void (*change)(ImageDetIterOptions&);
    const char* says;
  } cases[] = {
      {[](auto& o) { o.images.imglist[2].labels = {2, 5, 0, 0, 0, 1, 1}; },
       "2.png': objects have 5 numbers, expected 6 as in"},
      {[](auto& o) { o.images.imglist[1].labels = {2}; }, "1.png': the 1 labels begin with"},
      {[](auto& o) { o.label_shape = {6}; }, "label_shape is (6,), expected (objects,"},
      {[](auto& o) {
         o.data_shape = {4, 2, 2};
       },
       "expected three channels"},
      {[](auto& o) { o.augment.rand_crop = 2; }, "rand_crop is 2, expected 0 to 1"},
  };
  for (const auto& test : cases) {
    ImageDetIterOptions options = good;
    test.change(options);
    EXPECT_THAT(ImageDetIter::Create(options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
}

}  // namespace
}  // namespace cooper
