#include "tools/im2rec/pack_images.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/images/codec/image.h"
#include "io/images/codec/record_image.h"
#include "io/images/image_list.h"
#include "io/images/imgproc/resize_image.h"
#include "io/records/indexed_records.h"
#include "io/records/ir_header.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

Image Picture(int64_t height, int64_t width) {
  Image image = {.height = height, .width = width, .channels = 3};
  for (int64_t i = 0; i < 3 * height * width; ++i) {
    image.pixels.push_back(static_cast<uint8_t>(7 * i));
  }
  return image;
}

// Makes a folder with images of two classes, one that is none, and a file of another kind.
std::string MakeFolder() {
  const std::string root = absl::StrCat(testing::TempDir(), "/images");
  fs::create_directories(root + "/b");
  fs::create_directories(root + "/a/deep");
  COOPER_EXPECT_OK(WriteFileAtomically(root + "/b/2.PNG", *EncodePng(Picture(8, 12))));
  COOPER_EXPECT_OK(WriteFileAtomically(root + "/b/1.jpg", *EncodeJpeg(Picture(9, 9))));
  COOPER_EXPECT_OK(WriteFileAtomically(root + "/a/deep/3.png", *EncodePng(Picture(20, 10))));
  COOPER_EXPECT_OK(WriteFileAtomically(root + "/a/bad.png", "no image"));
  COOPER_EXPECT_OK(WriteFileAtomically(root + "/a/text.txt", "text"));
  return root;
}

std::vector<std::string> Lines(const std::vector<ListedImage>& images) {
  std::vector<std::string> lines;
  for (const ListedImage& image : images) {
    lines.push_back(absl::StrCat(image.id, " ", image.labels[0], " ", image.path));
  }
  return lines;
}

TEST(PackImagesTest, ListsImages) {
  const std::string root = MakeFolder();
  COOPER_ASSERT_OK_AND_ASSIGN(const auto images,
                              ListImages(root, {.recursive = true, .shuffle = false}));
  EXPECT_THAT(Lines(images),
              ElementsAre("0 0 a/bad.png", "1 1 a/deep/3.png", "2 2 b/1.jpg", "3 2 b/2.PNG"));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto flat,
                              ListImages(root + "/b", {.exts = {".png"}, .shuffle = false}));
  EXPECT_THAT(Lines(flat), ElementsAre("0 0 2.PNG"));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto shuffled, ListImages(root, {.recursive = true}));
  EXPECT_EQ(shuffled.size(), 4);
  EXPECT_THAT(ListImages(root + "/none"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
}

TEST(PackImagesTest, WritesAndReadsLists) {
  std::vector<ListedImage> images;
  for (int64_t i = 0; i < 10; ++i) {
    images.push_back({.id = i, .labels = {0.5F, 2}, .path = absl::StrCat("x y/", i, ".jpg")});
  }
  const std::string prefix = absl::StrCat(testing::TempDir(), "/list");
  COOPER_ASSERT_OK(
      WriteLists(prefix, images, {.chunks = 2, .train_ratio = 0.6, .test_ratio = 0.2}));
  const struct {
    const char* name;
    std::vector<int64_t> ids;
  } lists[] = {{"_0_test", {0}}, {"_0_train", {1, 2, 3}}, {"_0_val", {4}},
               {"_1_test", {5}}, {"_1_train", {6, 7, 8}}, {"_1_val", {9}}};
  for (const auto& list : lists) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto read,
                                ReadImageList(absl::StrCat(prefix, list.name, ".lst")));
    std::vector<int64_t> ids;
    for (const ListedImage& image : read) {
      ids.push_back(image.id);
      EXPECT_THAT(image.labels, ElementsAre(0.5F, 2));
      EXPECT_EQ(image.path, absl::StrCat("x y/", image.id, ".jpg"));
    }
    EXPECT_EQ(ids, list.ids) << list.name;
  }
  EXPECT_THAT(WriteLists(prefix, images, {.chunks = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("chunks is 0")));
  for (const char* line : {"1\tpath", "x\t1\tpath", "1\tx\tpath"}) {
    COOPER_ASSERT_OK(WriteFileAtomically(prefix + ".lst", absl::StrCat("0\t1\ta\n\n", line)));
    EXPECT_THAT(ReadImageList(prefix + ".lst"),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("list.lst', line 3: ")));
  }
}

TEST(PackImagesTest, PacksImages) {
  const std::string root = MakeFolder();
  const std::vector<ListedImage> images = {{.id = 5, .labels = {1, 2}, .path = "a/deep/3.png"},
                                           {.id = 1, .labels = {3}, .path = "a/bad.png"},
                                           {.id = 7, .labels = {4}, .path = "b/2.PNG"}};
  const std::string path = absl::StrCat(testing::TempDir(), "/packed");
  const struct {
    PackOptions options;
    int64_t height, width;  // of the first image
  } cases[] = {
      {{.encoding = ".png"}, 20, 10},
      {{.resize = 5, .encoding = ".png"}, 10, 5},
      {{.center_crop = true, .encoding = ".png", .pack_label = true}, 10, 10},
      {{.color = ImageColor::kGray, .encoding = ".png"}, 20, 10},
      {{.quality = 80}, 20, 10},
  };
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    for (const auto& c : cases) {
      COOPER_ASSERT_OK_AND_ASSIGN(const PackedImages packed,
                                  PackImages(images, root, path, c.options));
      EXPECT_EQ(packed.packed, 2);
      EXPECT_THAT(packed.failures, ElementsAre(HasSubstr("a/bad.png: ")));
      COOPER_ASSERT_OK_AND_ASSIGN(const auto reader,
                                  IndexedRecordReader::Open(path + ".idx", path + ".rec"));
      EXPECT_THAT(reader->keys(), ElementsAre(5, 7));
      std::string record;
      COOPER_ASSERT_OK(reader->ReadIdx(5, &record));
      COOPER_ASSERT_OK_AND_ASSIGN(const UnpackedImage unpacked, UnpackImg(record));
      EXPECT_EQ(unpacked.header.id, 5);
      if (c.options.pack_label) {
        EXPECT_THAT(unpacked.header.labels, ElementsAre(1, 2));
      } else {
        EXPECT_EQ(unpacked.header.label, 1);
      }
      EXPECT_EQ(unpacked.image.height, c.height);
      EXPECT_EQ(unpacked.image.width, c.width);
      EXPECT_EQ(unpacked.image.channels, c.options.color == ImageColor::kGray ? 1 : 3);
      if (c.options.resize == 5) {
        EXPECT_EQ(unpacked.image.pixels, ResizeImage(Picture(20, 10), 10, 5)->pixels);
      }
    }
  }
  const std::pair<PackOptions, const char*> wrong[] = {
      {{.encoding = ".bmp"}, "encoding is '.bmp'"},
      {{.quality = 101}, "quality is 101"},
      {{.resize = int64_t{1} << 40}, "resize is 1099511627776"},
  };
  for (const auto& [options, message] : wrong) {
    EXPECT_THAT(PackImages(images, root, path, options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
  COOPER_ASSERT_OK(PackImages(images, root, path, {.pass_through = true}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto reader,
                              IndexedRecordReader::Open(path + ".idx", path + ".rec"));
  std::string record;
  COOPER_ASSERT_OK(reader->ReadIdx(1, &record));
  EXPECT_EQ(Unpack(record)->payload, "no image");
}

}  // namespace
}  // namespace cooper
