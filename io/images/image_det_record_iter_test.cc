#include "io/images/image_det_record_iter.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "io/images/augment/det_label.h"
#include "io/images/codec/image.h"
#include "io/images/codec/record_image.h"
#include "io/records/indexed_records.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DetLabelTest, ReadsHeaderAndObjects) {
  const std::vector<float> labels = {3, 6,   9,                 // the header
                                     1, .1f, .2f, .3f, .4f, 7,  // an object
                                     2, .5f, .5f, .5f, .9f, 7,  // no width
                                     3, 0,   0,   1,   1,   8};
  COOPER_ASSERT_OK_AND_ASSIGN(const DetLabel label, ParseDetLabel(labels));
  EXPECT_THAT(label.header, ElementsAre(3, 6, 9));
  ASSERT_EQ(label.objects.size(), 2u);
  EXPECT_EQ(label.objects[0].id, 1);
  EXPECT_EQ(label.objects[0].bottom, .4f);
  EXPECT_THAT(label.objects[1].extra, ElementsAre(8));
  EXPECT_THAT(label.ToArray(), ElementsAre(3, 6, 9, 1, .1f, .2f, .3f, .4f, 7, 3, 0, 0, 1, 1, 8));
  COOPER_ASSERT_OK_AND_ASSIGN(const DetLabel none, ParseDetLabel({2, 5}));
  EXPECT_TRUE(none.objects.empty());
}

TEST(DetLabelTest, RefusesOtherLayouts) {
  const std::vector<float> cases[] = {{},
                                      {2},
                                      {1, 5, 0, 0, 0, 1, 1},
                                      {2, 4, 0, 0, 1, 1},
                                      {3, 5},
                                      {NAN, 5, 0},
                                      {2, NAN, 0},
                                      {2, 1e30f, 0},
                                      {1e30f, 5},
                                      {2, 5, 0, 0, 0, 1, 1, 9}};
  for (const std::vector<float>& labels : cases) {
    EXPECT_THAT(ParseDetLabel(labels),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("labels begin with")));
  }
}

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/image_det_record_iter_test" + name;
}

// Writes gray images of 2 x 4 pixels with the values 10, 20, ... and 1, 2, ... objects.
ImageDetRecordIterOptions Images(int count) {
  auto writer = IndexedRecordWriter::Create(Path(".idx"), Path(".rec"));
  COOPER_EXPECT_OK(writer);
  std::vector<float> labels = {2, 5};
  for (int i = 0; i < count; ++i) {
    labels.insert(labels.end(), {static_cast<float>(i), 0, 0, .5f, .5f});
    Image image{.height = 2, .width = 4, .channels = 1};
    image.pixels.assign(8, static_cast<uint8_t>(10 * (i + 1)));
    const auto record = PackImg({.labels = labels, .id = static_cast<uint64_t>(i)}, image,
                                {.quality = 3, .img_fmt = ".png"});
    COOPER_EXPECT_OK(record);
    COOPER_EXPECT_OK((*writer)->WriteIdx(i, *record));
  }
  COOPER_EXPECT_OK((*writer)->Close());
  return {.records = {.path_imgrec = Path(".rec"), .batch_size = 2, .label_name = "label"},
          .image = {.data_shape = {1, 2, 2}}};
}

std::unique_ptr<ImageDetRecordIter> Make(const ImageDetRecordIterOptions& options) {
  auto iter = ImageDetRecordIter::Create(options);
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

TEST(ImageDetRecordIterTest, PadsLabelsToTheLongest) {
  const auto iter = Make(Images(2));
  EXPECT_EQ(DescsToString(iter->provide_data()), "data (2, 1, 2, 2) float32 NCHW");
  EXPECT_EQ(DescsToString(iter->provide_label()), "label (2, 16) float32 NCHW");
  COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, iter->Next());
  EXPECT_THAT(*batch->label[0].ToVector<float>(),
              ElementsAre(1, 2, 2, 7, 2, 5, 0, 0, 0, .5f, .5f, -1, -1, -1, -1, -1,  //
                          1, 2, 2, 12, 2, 5, 0, 0, 0, .5f, .5f, 1, 0, 0, .5f, .5f));
}

TEST(ImageDetRecordIterTest, ReadsNothingFirstIfTheWidthIsGiven) {
  ImageDetRecordIterOptions options = Images(2);
  options.label_pad_width = 11;
  options.records.batch_size = 1;
  const auto iter = Make(options);
  EXPECT_EQ(DescsToString(iter->provide_label()), "label (1, 15) float32 NCHW");
  COOPER_ASSERT_OK(iter->Next());
  EXPECT_THAT(iter->Next(), StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("the record has 12 labels, label_pad_width is 11")));
}

TEST(ImageDetRecordIterTest, KeepsTheRatioAndNormalizesTheRest) {
  ImageDetRecordIterOptions options = Images(1);
  options.records.batch_size = 1;
  options.image.resize_mode = DetResizeMode::kFit;
  options.normalize.mean_r = 4;
  options.normalize.std_r = 2;
  COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, Make(options)->Next());
  EXPECT_THAT(*batch->data[0].ToVector<float>(), ElementsAre(3, 3, -2, -2));
  const std::vector<float> label = *batch->label[0].ToVector<float>();
  EXPECT_EQ(label[1], 1);  // height
  EXPECT_EQ(label[2], 2);  // width
}

TEST(ImageDetRecordIterTest, ShufflesAndResumes) {
  ImageDetRecordIterOptions options = Images(9);
  options.records.path_imgidx = Path(".idx");
  options.records.shuffle = true;
  const auto iter = Make(options);
  COOPER_ASSERT_OK(iter->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  const auto resumed = Make(options);
  COOPER_ASSERT_OK(resumed->LoadState(state));
  for (int i = 0; i < 4; ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, iter->Next());
    COOPER_ASSERT_OK_AND_ASSIGN(const auto got, resumed->Next());
    EXPECT_EQ(got->index, expected->index);
    EXPECT_EQ(*got->label[0].ToVector<float>(), *expected->label[0].ToVector<float>());
  }
}

TEST(ImageDetRecordIterTest, RefusesOptions) {
  const ImageDetRecordIterOptions good = Images(2);
  COOPER_ASSERT_OK(WriteFileAtomically(Path(".lst"), "0\tpath\n"));
  const struct {
    void (*change)(ImageDetRecordIterOptions&);
    const char* says;
  } cases[] = {
      {[](auto& o) { o.label_width = 0; }, "label_width is 0, expected -1 or at least 1"},
      {[](auto& o) { o.label_pad_width = -1; }, "label_pad_width is -1, expected 0 to"},
      {[](auto& o) { o.image.data_shape = {3}; }, "data_shape is (3,), expected"},
      {[](auto& o) { o.image.resize = 0; }, "resize is 0, expected -1 or"},
      {[](auto& o) { o.records.batch_size = 0; }, "batch_size is 0, expected at least 1"},
      {[](auto& o) { o.records.path_imglist = Path(".lst"); },
       ".lst', line 1: expected an id, one or more labels and a path"},
  };
  for (const auto& test : cases) {
    ImageDetRecordIterOptions options = good;
    test.change(options);
    EXPECT_THAT(ImageDetRecordIter::Create(options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
  ImageDetRecordIterOptions options = good;
  options.label_width = 12;
  EXPECT_THAT(Make(options)->Next(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("offset 0: the record has 7 labels, label_width is 12")));
}

}  // namespace
}  // namespace cooper
