#include "io/images/image_iter.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"
#include "io/records/indexed_records.h"
#include "io/records/ir_header.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Path(const std::string& name) {
  return absl::StrCat(::testing::TempDir(), "/image_iter_test_", name);
}

// Returns an image of one gray value, with 1 more in the right half.
std::string Encoded(int value) {
  Image image{.height = 4, .width = 6, .channels = 3};
  for (int i = 0; i < 72; ++i) {
    image.pixels.push_back(static_cast<uint8_t>(value + (i % 18 >= 9 ? 1 : 0)));
  }
  const auto bytes = EncodePng(image);
  COOPER_EXPECT_OK(bytes);
  return *bytes;
}

// Writes images of the values 10, 20, ... with the labels 1, 2, ... and the ids 100, 101, ... as
// files and as records, each with a list or an index.
ImageIterOptions Images(int count) {
  auto writer = IndexedRecordWriter::Create(Path("idx"), Path("rec"));
  COOPER_EXPECT_OK(writer);
  std::string list;
  for (int i = 0; i < count; ++i) {
    const std::string bytes = Encoded(10 * (i + 1));
    COOPER_EXPECT_OK(WriteFileAtomically(Path(absl::StrCat(i, ".png")), bytes));
    COOPER_EXPECT_OK((*writer)->WriteIdx(
        i,
        Pack({.label = static_cast<float>(i + 1), .id = static_cast<uint64_t>(100 + i)}, bytes)));
    absl::StrAppend(&list, 100 + i, "\t", i + 1, "\timage_iter_test_", i, ".png\n");
  }
  COOPER_EXPECT_OK((*writer)->Close());
  COOPER_EXPECT_OK(WriteFileAtomically(Path("lst"), list));
  return {.images = {.path_imglist = Path("lst"), .path_root = ::testing::TempDir()},
          .batches = {.batch_size = 2},
          .data_shape = {3, 4, 2}};
}

std::unique_ptr<ImageIter> Make(const ImageIterOptions& options) {
  auto iter = ImageIter::Create(options);
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

// Returns the labels of an epoch, with pads.
std::string Labels(DataIter& iter) {
  std::string labels;
  for (const DataBatch& batch : Epoch(iter)) {
    const std::vector<float> rows = *batch.label[0].ToVector<float>();
    for (const float label : rows) absl::StrAppend(&labels, label, " ");
    if (batch.pad > 0) absl::StrAppend(&labels, "pad ", batch.pad, " ");
  }
  return labels;
}

TEST(ImageIterTest, ServesFilesAndRecords) {
  const ImageIterOptions files = Images(3);
  ImageIterOptions records = files, indexed = files, memory = files;
  records.images = {.path_imgrec = Path("rec")};
  indexed.images = {.path_imgrec = Path("rec"), .path_imgidx = Path("idx")};
  memory.images = {.path_root = ::testing::TempDir()};
  for (int i = 0; i < 3; ++i) {
    memory.images.imglist.push_back({.id = 100 + i,
                                     .labels = {static_cast<float>(i + 1)},
                                     .path = absl::StrCat("image_iter_test_", i, ".png")});
  }
  for (const ImageIterOptions& options : {files, records, indexed, memory}) {
    const auto iter = Make(options);
    EXPECT_EQ(DescsToString(iter->provide_data()), "data (2, 3, 4, 2) float32 NCHW");
    EXPECT_EQ(DescsToString(iter->provide_label()), "softmax_label (2,) float32 NCHW");
    const std::vector<DataBatch> batches = Epoch(*iter);
    ASSERT_EQ(batches.size(), 2u);
    EXPECT_THAT(batches[0].index, ElementsAre(100, 101));
    // The centre has 10 and 11, in three planes of four rows.
    const std::vector<float> data = *batches[0].data[0].ToVector<float>();
    for (size_t i = 0; i < 48; ++i) EXPECT_EQ(data[i], (i < 24 ? 10 : 20) + i % 2);
    COOPER_ASSERT_OK(iter->Reset());
    EXPECT_EQ(Labels(*iter), "1 2 3 1 pad 1 ");
  }
}

TEST(ImageIterTest, TreatsTheLastBatchAsAsked) {
  ImageIterOptions options = Images(3);
  const struct {
    LastBatchHandle handle;
    int64_t batch_size;
    const char* epochs[3];
  } cases[] = {
      {LastBatchHandle::kPad, 2, {"1 2 3 1 pad 1 ", "1 2 3 1 pad 1 ", "1 2 3 1 pad 1 "}},
      {LastBatchHandle::kPad, 7, {"1 2 3 1 2 3 1 pad 4 ", "1 2 3 1 2 3 1 pad 4 ", nullptr}},
      {LastBatchHandle::kDiscard, 2, {"1 2 ", "1 2 ", "1 2 "}},
      {LastBatchHandle::kRollOver, 2, {"1 2 ", "3 1 pad 1 2 3 ", "1 2 "}},
  };
  for (const auto& test : cases) {
    options.batches.batch_size = test.batch_size;
    options.batches.last_batch_handle = test.handle;
    const auto iter = Make(options);
    for (const char* epoch : test.epochs) {
      if (epoch == nullptr) continue;
      EXPECT_EQ(Labels(*iter), epoch);
      COOPER_ASSERT_OK(iter->Reset());
    }
  }
}

TEST(ImageIterTest, PartsAreEqualAndShuffled) {
  ImageIterOptions options = Images(7);
  options.batches = {.batch_size = 1, .shuffle = true};
  options.images.num_parts = 3;
  std::set<int64_t> served;
  for (options.images.part_index = 0; options.images.part_index < 3; ++options.images.part_index) {
    const auto iter = Make(options);
    std::set<std::vector<int64_t>> orders;
    for (int epoch = 0; epoch < 10; ++epoch) {
      const std::vector<int64_t> ids = FirstRows(*iter);
      EXPECT_EQ(ids.size(), 2u);
      served.insert(ids.begin(), ids.end());
      orders.insert(ids);
      COOPER_ASSERT_OK(iter->Reset());
    }
    EXPECT_EQ(orders.size(), 2u);
  }
  EXPECT_THAT(served, ElementsAre(100, 101, 102, 103, 104, 105));
}

TEST(ImageIterTest, LabelsHaveWidthsAndTypes) {
  ImageIterOptions options = Images(2);
  COOPER_ASSERT_OK(WriteFileAtomically(Path("wide.lst"), "100\t7\t-8\tx\n101\t9\t3\tx\n"));
  options.images = {.path_imgrec = Path("rec"), .path_imglist = Path("wide.lst")};
  options.label_width = 2;
  options.label_name = "numbers";
  options.dtype = DType::kInt32;
  const auto iter = Make(options);
  EXPECT_EQ(DescsToString(iter->provide_label()), "numbers (2, 2) int32 NCHW");
  EXPECT_THAT(*Epoch(*iter)[0].label[0].ToVector<int32_t>(), ElementsAre(7, -8, 9, 3));
}

TEST(ImageIterTest, EqualOptionsGiveEqualBatches) {
  ImageIterOptions options = Images(5);
  options.batches.shuffle = true;
  options.batches.last_batch_handle = LastBatchHandle::kRollOver;
  options.augment = {.rand_crop = true,
                     .rand_resize = true,
                     .rand_mirror = true,
                     .color = {.brightness = 0.5f, .hue = 0.2f, .pca_noise = 0.1f}};
  const auto iter = Make(options);
  const auto all = [](DataIter& any) {
    std::vector<std::vector<float>> data;
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (const DataBatch& batch : Epoch(any)) data.push_back(*batch.data[0].ToVector<float>());
      COOPER_EXPECT_OK(any.Reset());
    }
    return data;
  };
  const std::vector<std::vector<float>> expected = all(*iter);
  EXPECT_EQ(std::set(expected.begin(), expected.end()).size(), expected.size());
  const int threads = NumThreads();
  SetNumThreads(3);
  EXPECT_EQ(all(*Make(options)), expected);
  SetNumThreads(threads);
  options.batches.seed += 1;
  EXPECT_NE(all(*Make(options)), expected);
}

TEST(ImageIterTest, ResumesAnywhere) {
  ImageIterOptions options = Images(5);
  options.batches.shuffle = true;
  options.batches.last_batch_handle = LastBatchHandle::kRollOver;
  options.augment.color.brightness = 0.5f;
  const auto iter = Make(options);
  for (int step = 0; step < 12; ++step) {
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
    const auto resumed = Make(options);
    COOPER_ASSERT_OK(resumed->LoadState(state));
    for (DataIter* each :
         {static_cast<DataIter*>(iter.get()), static_cast<DataIter*>(resumed.get())}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, each->Next());
      if (batch.has_value()) continue;
      COOPER_ASSERT_OK(each->Reset());
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string after, iter->SaveState());
    EXPECT_THAT(resumed->SaveState(), IsOkAndHolds(after));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  const auto resumed = Make(options);
  COOPER_ASSERT_OK(resumed->LoadState(state));
  for (int epoch = 0; epoch < 2; ++epoch) {
    const std::vector<DataBatch> expected = Epoch(*iter), got = Epoch(*resumed);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].index, expected[i].index);
      EXPECT_EQ(*got[i].data[0].ToVector<float>(), *expected[i].data[0].ToVector<float>());
    }
    COOPER_ASSERT_OK(iter->Reset());
    COOPER_ASSERT_OK(resumed->Reset());
  }
  options.batches.seed += 1;
  EXPECT_THAT(Make(options)->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the state is of the seed")));
  options.batches.seed -= 1;
  options.batches.batch_size = 1;
  EXPECT_THAT(Make(options)->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("batch_size")));
}

TEST(ImageIterTest, TakesAugmentersOfTheUser) {
  ImageIterOptions options = Images(1);
  options.batches.batch_size = 1;
  options.data_shape = {3, 2, 2};
  options.aug_list = {
      ForceResizeAug{.size = {.height = 2, .width = 2}, .interp = InterMethod::kNearest},
      [](RandomGenerator&, AnyImage* image) {
        for (uint8_t& sample : std::get<Image>(*image).pixels) sample *= 2;
        return absl::OkStatus();
      }};
  EXPECT_THAT(*Epoch(*Make(options))[0].data[0].ToVector<float>(),
              ElementsAre(20, 22, 20, 22, 20, 22, 20, 22, 20, 22, 20, 22));
  options.aug_list = std::vector<Augmenter>();
  EXPECT_THAT(Make(options)->Next(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("image_iter_test_0.png': the augmenters return an image of "
                                 "(3, 4, 6), data_shape is (3, 2, 2)")));
}

TEST(ImageIterTest, StandsStillAfterAnError) {
  const ImageIterOptions options = Images(3);
  const auto iter = Make(options);
  COOPER_ASSERT_OK(iter->Next());
  const std::string good = Encoded(30), path = Path("2.png");
  COOPER_ASSERT_OK(WriteFileAtomically(path, good.substr(0, 60)));
  for (int trial = 0; trial < 2; ++trial) {
    EXPECT_THAT(iter->Next(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       AllOf(HasSubstr("ImageIter: '"),
                                             HasSubstr("image_iter_test_2.png': PNG: "))));
  }
  COOPER_ASSERT_OK(WriteFileAtomically(path, good));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto batch, iter->Next());
  EXPECT_THAT(batch->index, ElementsAre(102, 100));
}

TEST(ImageIterTest, RefusesOptions) {
  const ImageIterOptions good = Images(2);
  COOPER_ASSERT_OK(WriteFileAtomically(Path("bad.lst"), "0\t1\tpath\nx\t1\tpath\n"));
  const struct {
    void (*change)(ImageIterOptions&);
    const char* says;
  } cases[] = {
      {[](auto& o) { o.images = {}; }, "no images: path_imgrec, path_imglist or imglist"},
      {[](auto& o) { o.images.path_imgidx = "x"; }, "path_imgidx is 'x', but there is no"},
      {[](auto& o) { o.images.imglist = {{}}; }, "imglist excludes path_imgrec and"},
      {[](auto& o) { o.images = {.imglist = {{.path = "a"}}}; },
       "'a' has 0 labels in imglist, expected 1"},
      {[](auto& o) { o.images.path_imglist = Path("bad.lst"); },
       "bad.lst', line 2: expected an id, 1 labels and a path"},
      {[](auto& o) { o.images.num_parts = 3; }, "there are 2 images, none for part 0 of 3"},
      {[](auto& o) { o.images.part_index = 1; }, "part_index is 1, num_parts 1"},
      {[](auto& o) { o.batches.batch_size = 0; }, "batch_size is 0, expected at least 1"},
      {[](auto& o) { o.label_width = 0; }, "label_width is 0, expected at least 1"},
      {[](auto& o) { o.dtype = DType::kUint8; }, "dtype is uint8, expected float32"},
      {[](auto& o) {
         o.data_shape = {1, 4, 4};
       },
       "expected three channels"},
      {[](auto& o) { o.augment.color.hue = -1; }, "hue is -1, expected"},
  };
  for (const auto& test : cases) {
    ImageIterOptions options = good;
    test.change(options);
    EXPECT_THAT(ImageIter::Create(options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
  ImageIterOptions options = good;
  options.images.path_root = "/no/such";
  EXPECT_THAT(Make(options)->Next(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/image_iter_test_0.png")));
  options.images = {.path_imgrec = Path("rec"), .path_imgidx = Path("idx")};
  options.label_width = 2;
  EXPECT_THAT(Make(options)->Next(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("rec', offset 0: the record has 1 labels, label_width is 2")));
}

}  // namespace
}  // namespace cooper
