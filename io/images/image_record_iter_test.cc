#include "io/images/image_record_iter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "io/images/codec/image.h"
#include "io/images/codec/record_image.h"
#include "io/records/indexed_records.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/image_record_iter_test" + name;
}

// Returns an image of one gray value, with 1 more in the right half.
Image Flat(uint8_t value) {
  Image image{.height = 4, .width = 6, .channels = 1, .pixels = std::vector<uint8_t>(24, value)};
  for (size_t i = 0; i < 24; ++i) image.pixels[i] += i % 6 >= 3 ? 1 : 0;
  return image;
}

// Writes images of the values 10, 20, ... with the labels 1, 2, ..., and their index.
ImageRecordIterOptions Images(int count) {
  auto writer = IndexedRecordWriter::Create(Path(".idx"), Path(".rec"));
  COOPER_EXPECT_OK(writer);
  for (int i = 0; i < count; ++i) {
    const auto record =
        PackImg({.label = static_cast<float>(i + 1), .id = static_cast<uint64_t>(i)},
                Flat(static_cast<uint8_t>(10 * (i + 1))), {.quality = 3, .img_fmt = ".png"});
    COOPER_EXPECT_OK(record);
    COOPER_EXPECT_OK((*writer)->WriteIdx(i, *record));
  }
  COOPER_EXPECT_OK((*writer)->Close());
  return {.records = {.path_imgrec = Path(".rec"), .batch_size = 2},
          .image = {.data_shape = {1, 4, 2}}};
}

std::unique_ptr<ImageRecordIter> Make(const ImageRecordIterOptions& options) {
  auto iter = ImageRecordIter::Create(options);
  EXPECT_TRUE(iter.ok()) << iter.status();
  return *std::move(iter);
}

// Returns the labels of an epoch, with pads.
std::string Labels(DataIter& iter) {
  std::string labels;
  for (const DataBatch& batch : Epoch(iter)) {
    const std::vector<float> rows = *batch.label[0].ToVector<float>();
    for (const float label : rows) {
      absl::StrAppend(&labels, label, " ");
    }
    if (batch.pad > 0) absl::StrAppend(&labels, "pad ", batch.pad, " ");
  }
  return labels;
}

TEST(ImageRecordIterTest, FillsTheLastBatchFromTheStartOrWithZeros) {
  ImageRecordIterOptions options = Images(3);
  const auto iter = Make(options);
  EXPECT_EQ(DescsToString(iter->provide_data()), "data (2, 1, 4, 2) float32 NCHW");
  EXPECT_EQ(DescsToString(iter->provide_label()), "softmax_label (2,) float32 NCHW");
  EXPECT_EQ(Labels(*iter), "1 2 3 1 pad 1 ");
  COOPER_ASSERT_OK(iter->Reset());
  EXPECT_EQ(Labels(*iter), "2 3 ");
  COOPER_ASSERT_OK(iter->Reset());
  EXPECT_EQ(Labels(*iter), "1 2 3 1 pad 1 ");
  COOPER_ASSERT_OK(iter->HardReset());
  EXPECT_EQ(Labels(*iter), "1 2 3 1 pad 1 ");
  options.records.round_batch = false;
  const auto zeros = Make(options);
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(Labels(*zeros), "1 2 3 0 pad 1 ");
    COOPER_ASSERT_OK(zeros->Reset());
  }
  options.records.batch_size = 7;
  options.records.round_batch = true;
  EXPECT_EQ(Labels(*Make(options)), "1 2 3 1 2 3 1 pad 4 ");
}

TEST(ImageRecordIterTest, CropsMirrorsAndNormalizes) {
  ImageRecordIterOptions options = Images(1);
  options.records.batch_size = 1;
  options.image.data_shape = {1, 1, 2};
  options.image.mirror = true;
  options.normalize.mean_r = 1;
  options.normalize.std_r = 4;
  options.normalize.scale = 2;
  const std::vector<DataBatch> batches = Epoch(*Make(options));
  ASSERT_EQ(batches.size(), 1u);
  // The centre has 10 and 11.
  EXPECT_THAT(*batches[0].data[0].ToVector<float>(), ElementsAre(5, 4.5));
  EXPECT_THAT(batches[0].index, ElementsAre(0));
  options.dtype = DType::kUint8;
  EXPECT_THAT(*Epoch(*Make(options))[0].data[0].ToVector<uint8_t>(), ElementsAre(11, 10));
  options.dtype = DType::kInt8;
  options.normalize.mean_r = 138.5;
  EXPECT_THAT(*Epoch(*Make(options))[0].data[0].ToVector<int8_t>(), ElementsAre(-128, -128));
}

TEST(ImageRecordIterTest, RandomCropsDependOnTheSeedAlone) {
  ImageRecordIterOptions options = Images(5);
  options.records.batch_size = 5;
  options.image.rand_crop = options.image.rand_mirror = true;
  const auto pixels = [&] { return *Epoch(*Make(options))[0].data[0].ToVector<float>(); };
  const std::vector<float> first = pixels();
  EXPECT_EQ(pixels(), first);
  options.records.seed = 1;
  EXPECT_NE(pixels(), first);
}

TEST(ImageRecordIterTest, RandomChangesResumeOnAnyNumberOfThreads) {
  ImageRecordIterOptions options = Images(9);
  options.image.max_rotate_angle = 30;
  options.image.rand_mirror = true;
  options.max_random_contrast = 0.3f;
  options.max_random_illumination = 20;
  options.records.seed = 3;
  const auto iter = Make(options);
  COOPER_ASSERT_OK(iter->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  const auto resumed = Make(options);
  COOPER_ASSERT_OK(resumed->LoadState(state));
  for (int i = 0; i < 3; ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, iter->Next());
    SetNumThreads(i + 1);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto got, resumed->Next());
    EXPECT_EQ(*got->data[0].ToVector<float>(), *expected->data[0].ToVector<float>());
  }
  SetNumThreads(0);
  options.records.seed_aug = 4;
  const auto other = Make(options);
  EXPECT_NE(*Epoch(*other)[0].data[0].ToVector<float>(),
            *Epoch(*Make(Images(9)))[0].data[0].ToVector<float>());
  EXPECT_THAT(other->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("seed_aug")));
}

TEST(ImageRecordIterTest, RefusesAnotherMeanImage) {
  ImageRecordIterOptions options = Images(1);
  options.normalize.mean_img = Path(".params");
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray mean, NDArray::Zeros({1, 4, 3}));
  COOPER_ASSERT_OK(SaveNamedArrays(options.normalize.mean_img, {{"mean_img", mean}}));
  EXPECT_THAT(ImageRecordIter::Create(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("has 1 array, (1, 4, 3) float32, expected one, (1, 4, 2)")));
}

TEST(ImageRecordIterTest, ShufflesEachEpochAndResumes) {
  ImageRecordIterOptions options = Images(9);
  options.records.path_imgidx = Path(".idx");
  options.records.shuffle = true;
  const auto iter = Make(options);
  const std::string first = Labels(*iter);
  COOPER_ASSERT_OK(iter->Reset());
  COOPER_ASSERT_OK(iter->Next());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, iter->SaveState());
  const auto resumed = Make(options);
  COOPER_ASSERT_OK(resumed->LoadState(state));
  for (int epoch = 0; epoch < 3; ++epoch) {
    const std::string labels = Labels(*iter);
    EXPECT_NE(labels, first);
    EXPECT_EQ(Labels(*resumed), labels);
    COOPER_ASSERT_OK(iter->Reset());
    COOPER_ASSERT_OK(resumed->Reset());
  }
  options.records.seed = 1;
  EXPECT_NE(Labels(*Make(options)), first);
  EXPECT_THAT(Make(options)->LoadState(state),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("with the seed 0")));
}

TEST(ImageRecordIterTest, PartsHaveEachImageOnce) {
  ImageRecordIterOptions options = Images(7);
  options.records.batch_size = 1;
  options.records.num_parts = 3;
  for (const std::string& index : {std::string(), Path(".idx")}) {
    options.records.path_imgidx = index;
    std::string labels;
    for (options.records.part_index = 0; options.records.part_index < 3;
         ++options.records.part_index) {
      labels += Labels(*Make(options));
    }
    EXPECT_EQ(labels, "1 2 3 4 5 6 7 ");
  }
}

TEST(ImageRecordIterTest, NamesTheRecordThatIsNoImage) {
  ImageRecordIterOptions options = Images(3);
  COOPER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(options.records.path_imgrec));
  const size_t second = bytes.find("\x89PNG", bytes.find("\x89PNG") + 1);
  bytes[second] = 'x';
  COOPER_ASSERT_OK(WriteFileAtomically(options.records.path_imgrec, bytes));
  const auto iter = Make(options);
  for (int i = 0; i < 2; ++i) {  // the iterator does not move
    EXPECT_THAT(iter->Next(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("ImageRecordIter: '", Path(".rec"), "', offset ",
                                                second - 32, ": neither JPEG nor PNG"))));
  }
}

TEST(ImageRecordIterTest, ReadsSeveralFilesAsOne) {
  ImageRecordIterOptions options = Images(3);
  std::string files, indices;
  for (const char* name : {"/a", "/b", "/c"}) {
    for (auto& [ending, list] : {std::pair(".rec", &files), std::pair(".idx", &indices)}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(Path(ending)));
      const std::string path = absl::StrCat(Path("_files"), name, ending);
      std::filesystem::create_directories(Path("_files"));
      // One of the files is empty.
      COOPER_ASSERT_OK(WriteFileAtomically(path, name == std::string("/b") ? "" : bytes));
      absl::StrAppend(list, list->empty() ? "" : ";", path);
    }
  }
  options.records.path_imgrec = files;
  options.records.round_batch = false;
  EXPECT_EQ(Labels(*Make(options)), "1 2 3 1 2 3 ");
  std::string labels;
  for (options.records.num_parts = 4; options.records.part_index < 4;
       ++options.records.part_index) {
    absl::StrAppend(&labels, Labels(*Make(options)), "| ");
  }
  EXPECT_EQ(labels, "1 2 | 3 0 pad 1 | 1 2 | 3 0 pad 1 | ");
  options.records.num_parts = 1;
  options.records.part_index = 0;
  options.records.path_imgidx = indices;
  EXPECT_EQ(Labels(*Make(options)), "1 2 3 1 2 3 ");
  options.records.shuffle = true;
  const auto shuffled = Make(options);
  const std::string first = Labels(*shuffled);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string state, shuffled->SaveState());
  COOPER_ASSERT_OK(Make(options)->LoadState(state));
  options.records.path_imgidx = Path(".idx");
  EXPECT_THAT(
      ImageRecordIter::Create(options),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(".idx' has 1 files, path_imgrec 3")));
  options.records.path_imgidx = Path("_far.idx");
  options.records.path_imgrec = Path(".rec");
  const auto size = static_cast<int64_t>(std::filesystem::file_size(Path(".rec")));
  for (const int64_t offset : {size, int64_t{99996}}) {
    COOPER_ASSERT_OK(WriteFileAtomically(Path("_far.idx"), absl::StrCat("0\t", offset, "\n")));
    EXPECT_THAT(ImageRecordIter::Create(options),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("has the offset ", offset, ", the"))));
  }
  // A folder: its files in order of their names.
  for (const char* name : {"/a.idx", "/b.idx", "/c.idx"}) {
    std::filesystem::remove(Path("_files") + name);
  }
  options = Images(2);
  options.records.path_imgrec = Path("_files");
  EXPECT_EQ(Labels(*Make(options)), "1 2 3 1 2 3 ");
}

TEST(ImageRecordIterTest, MakesAMeanImageOnce) {
  ImageRecordIterOptions options = Images(3);
  options.normalize.mean_img = Path("_made.params");
  options.normalize.scale = 2;
  options.records.num_parts = 3;  // the mean is that of all parts
  std::filesystem::remove(options.normalize.mean_img);
  const auto values = [&] { return *Epoch(*Make(options))[0].data[0].ToVector<float>(); };
  // Images of 10, 20 and 30 in the left of the two columns in the centre, 11, 21 and 31 in the
  // right one; the zeros fill the batch.
  options.records.round_batch = false;
  std::vector<float> expected(16, 0);
  std::fill_n(expected.begin(), 8, -20);
  EXPECT_EQ(values(), expected);
  COOPER_ASSERT_OK_AND_ASSIGN(const NamedArrays mean, LoadNamedArrays(Path("_made.params")));
  EXPECT_THAT(*mean[0].second.ToVector<float>(), ElementsAre(20, 21, 20, 21, 20, 21, 20, 21));
  // The file is not made again.
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray zeros, NDArray::Zeros({1, 4, 2}));
  COOPER_ASSERT_OK(SaveNamedArrays(options.normalize.mean_img, {{"mean_img", zeros}}));
  EXPECT_EQ(values()[0], 20);
  // Nor is it made beside wrong options.
  options.normalize = {.mean_img = Path("_wrong.params"), .mean_g = 1};
  EXPECT_THAT(ImageRecordIter::Create(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("mean_img excludes mean_r")));
  EXPECT_FALSE(std::filesystem::exists(Path("_wrong.params")));
  options.normalize = {};
  options.normalize.mean_img = "/no/such/folder/mean.params";
  EXPECT_THAT(std::string(ImageRecordIter::Create(options).status().message()),
              HasSubstr("mean_img '/no/such/folder/mean.params': "));
}

TEST(ImageRecordIterTest, RefusesABorderThatIsTooLarge) {
  ImageRecordIterOptions options = Images(2);
  options.image.pad = 16384;
  EXPECT_THAT(
      Make(options)->Next(),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          HasSubstr("4 x 6 pixels with a border has 32772 x 32774, expected at most 67108864")));
}

TEST(ImageRecordIterTest, RefusesOptions) {
  const ImageRecordIterOptions good = Images(2);
  COOPER_ASSERT_OK(WriteFileAtomically(Path(".lst"), "0\t1\tpath\nx\t1\tpath\n"));
  const struct {
    void (*change)(ImageRecordIterOptions&);
    const char* says;
  } cases[] = {
      {[](auto& o) { o.records.batch_size = 0; }, "batch_size is 0, expected at least 1"},
      {[](auto& o) { o.label_width = 0; }, "label_width is 0, expected at least 1"},
      {[](auto& o) { o.records.num_parts = 0; }, "part_index is 0, num_parts 0"},
      {[](auto& o) { o.dtype = DType::kInt32; }, "dtype is int32, expected float32, uint8 or int8"},
      {[](auto& o) { o.records.shuffle = true; }, "shuffle needs path_imgidx"},
      {[](auto& o) {
         o.image.data_shape = {2, 4, 4};
       },
       "data_shape is (2, 4, 4), expected"},
      {[](auto& o) { o.image.resize = 0; }, "resize is 0, expected -1 or"},
      {[](auto& o) { o.image.inter_method = static_cast<InterMethod>(5); },
       "inter_method is 5, expected 0 to 4, 9 or 10"},
      {[](auto& o) { o.jitter.brightness = 1; }, "brightness is 1, data_shape (1, 4, 2); it needs"},
      {[](auto& o) { o.jitter.pca_noise = 1e7; }, "pca_noise is 1e+07, expected 0 to 1e6"},
      {[](auto& o) { o.normalize.std_r = 0; }, "std_r is 0: expected finite numbers"},
      {[](auto& o) { o.normalize.mean_g = NAN; }, "mean_g is nan"},
      {[](auto& o) { o.max_random_contrast = -1; }, "max_random_contrast is -1, expected"},
      {[](auto& o) {
         o.max_random_illumination = 1;
         o.dtype = DType::kUint8;
       },
       "max_random_illumination is 1, dtype uint8; it needs float32"},
      {[](auto& o) {
         o.normalize.mean_img = Path(".lst");
         o.normalize.mean_r = 1;
       },
       "mean_img excludes mean_r"},
      {[](auto& o) { o.image.pad = -1; }, "pad is -1, expected 0 to"},
      {[](auto& o) { o.records.path_imglist = Path(".lst"); },
       ".lst', line 2: expected an id, 1 labels"},
      {[](auto& o) {
         o.records.num_parts = 500;
         o.records.part_index = 499;
       },
       ".rec' has no records in part 499 of 500"},
  };
  for (const auto& test : cases) {
    ImageRecordIterOptions options = good;
    test.change(options);
    EXPECT_THAT(ImageRecordIter::Create(options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
  ImageRecordIterOptions options = good;
  options.label_width = 2;
  EXPECT_THAT(Make(options)->Next(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("offset 0: the record has 1 labels, label_width is 2")));
  options = good;
  options.image.data_shape = {4, 2, 2};
  EXPECT_THAT(Make(options)->Next(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the image has 1 channels, data_shape (4")));
  options = good;
  options.records.batch_size = INT64_MAX;
  EXPECT_THAT(Make(options)->Next(), StatusIs(absl::StatusCode::kResourceExhausted,
                                              HasSubstr("batch of 9223372036854775807 rows")));
  options.records.path_imgrec = "/no/such.rec";
  EXPECT_THAT(ImageRecordIter::Create(options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such.rec")));
}

}  // namespace
}  // namespace cooper
