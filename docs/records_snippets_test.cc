// The C++ of records.md and images.md, run: check_snippets.sh holds them together.

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "io/images/augment/augmenters.h"
#include "io/images/codec/image.h"
#include "io/images/codec/image_codec.h"
#include "io/images/codec/record_image.h"
#include "io/images/image_det_iter.h"
#include "io/images/image_det_record_iter.h"
#include "io/images/image_iter.h"
#include "io/images/image_record_iter.h"
#include "io/images/imgproc/resize_image.h"
#include "io/iterators/libsvm_iter.h"
#include "io/iterators/mnist_iter.h"
#include "io/records/indexed_records.h"
#include "io/records/ir_header.h"
#include "io/records/record_reader.h"
#include "io/records/record_writer.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

struct Sample {
  float label;
  uint64_t id;
  std::string payload;
};

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/records_snippets_test_" + name;
}

absl::Status WriteSamples(const std::string& path, const std::vector<Sample>& samples) {
  COOPER_ASSIGN_OR_RETURN(const auto writer, RecordWriter::Create(path));
  for (const Sample& sample : samples) {
    const IRHeader header = {.label = sample.label, .id = sample.id};
    COOPER_RETURN_IF_ERROR(writer->Write(Pack(header, sample.payload)));
  }
  COOPER_RETURN_IF_ERROR(writer->Close());
  return absl::OkStatus();
}

absl::Status ReadSamples(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(path));
  std::string record;
  while (true) {
    COOPER_ASSIGN_OR_RETURN(const bool found, reader->Read(&record));
    if (!found) break;
    COOPER_ASSIGN_OR_RETURN(const UnpackedRecord unpacked, Unpack(record));
    std::cout << unpacked.header.label << ": " << unpacked.payload.size() << " bytes\n";
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadByKey(const std::string& idx_path, const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const auto writer, IndexedRecordWriter::Create(idx_path, path));
  for (int64_t key = 0; key < 10; ++key) {
    COOPER_RETURN_IF_ERROR(writer->WriteIdx(key, absl::StrCat("record ", key)));
  }
  COOPER_RETURN_IF_ERROR(writer->Close());
  COOPER_ASSIGN_OR_RETURN(const auto reader, IndexedRecordReader::Open(idx_path, path));
  std::string record;
  COOPER_RETURN_IF_ERROR(reader->ReadIdx(3, &record));
  return record;
}

absl::StatusOr<int64_t> CountPart(const std::string& path, int64_t part_index, int64_t num_parts) {
  COOPER_ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(path));
  const int64_t step = (reader->size() + num_parts - 1) / num_parts;
  COOPER_ASSIGN_OR_RETURN(const int64_t begin, reader->FindRecord(step * part_index));
  COOPER_ASSIGN_OR_RETURN(const int64_t end, reader->FindRecord(step * (part_index + 1)));
  COOPER_RETURN_IF_ERROR(reader->Seek(begin));
  int64_t records = 0;
  while (reader->Tell() < end) {
    COOPER_RETURN_IF_ERROR(reader->ReadLength().status());
    ++records;
  }
  return records;
}

absl::StatusOr<int64_t> CountIntact(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(path, {.skip_corrupted = true}));
  std::string record;
  int64_t intact = 0;
  while (true) {
    COOPER_ASSIGN_OR_RETURN(const bool found, reader->Read(&record));
    if (!found) break;
    ++intact;
  }
  std::cout << intact << " records, " << reader->skipped().bytes << " bytes skipped in "
            << reader->skipped().regions << " places\n";
  return intact;
}

TEST(RecordsTest, WritesReadsAndCounts) {
  COOPER_ASSERT_OK(WriteSamples(Path("rec"), {{1, 0, "one"}, {2, 1, "two"}, {3, 2, "three"}}));
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(ReadSamples(Path("rec")));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1: 3 bytes\n2: 3 bytes\n3: 5 bytes\n");
  EXPECT_THAT(CountPart(Path("rec"), 0, 2), IsOkAndHolds(2));
  EXPECT_THAT(CountPart(Path("rec"), 1, 2), IsOkAndHolds(1));

  COOPER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(Path("rec")));
  bytes[36] ^= 1;
  COOPER_ASSERT_OK(WriteFileAtomically(Path("damaged"), bytes));
  EXPECT_THAT(ReadSamples(Path("damaged")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("damaged', offset 36: no record")));
  testing::internal::CaptureStdout();
  EXPECT_THAT(CountIntact(Path("damaged")), IsOkAndHolds(2));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "2 records, 36 bytes skipped in 1 places\n");
}

TEST(RecordsTest, ReadsByKey) {
  EXPECT_THAT(ReadByKey(Path("idx"), Path("indexed")), IsOkAndHolds("record 3"));
}

absl::StatusOr<int64_t> ResizeInRecord(const Image& image) {
  COOPER_ASSIGN_OR_RETURN(const std::string record, PackImg({.label = 3}, image, {.quality = 90}));
  COOPER_ASSIGN_OR_RETURN(const UnpackedImage unpacked, UnpackImg(record));
  COOPER_ASSIGN_OR_RETURN(const Image small, ResizeImage(unpacked.image, 24, 24));
  return small.width;
}

absl::StatusOr<int64_t> CountBatches(const std::string& idx_path, const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const auto images,
                          ImageRecordIter::Create({.records = {.path_imgrec = path,
                                                               .path_imgidx = idx_path,
                                                               .batch_size = 2,
                                                               .shuffle = true},
                                                   .image = {.data_shape = {3, 24, 24},
                                                             .resize = 28,
                                                             .rand_crop = true,
                                                             .rand_mirror = true},
                                                   .normalize = {.mean_r = 124, .std_r = 58}}));
  return static_cast<int64_t>(Epoch(*images).size());
}

absl::StatusOr<int64_t> CountDetBatches(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(
      const auto boxes,
      ImageDetRecordIter::Create(
          {.records = {.path_imgrec = path, .batch_size = 2},
           .image = {.data_shape = {3, 24, 24}},
           .augment = {.rand_mirror_prob = 0.5f,
                       .rand_pad_prob = 0.5f,
                       .max_pad_scale = 3,
                       .rand_crop_prob = 0.8f,
                       .crop_samplers = {{.min_crop_scale = 0.3f, .min_crop_overlap = 0.5f}}}}));
  return static_cast<int64_t>(Epoch(*boxes).size());
}

absl::StatusOr<std::unique_ptr<ImageIter>> ListedImages(const std::string& folder) {
  return ImageIter::Create(
      {.images = {.path_imglist = folder + "/train.lst", .path_root = folder},
       .batches = {.batch_size = 2, .shuffle = true},
       .data_shape = {3, 24, 24},
       .augment = {.resize = 28,
                   .rand_crop = true,
                   .rand_mirror = true,
                   .color = {.brightness = 0.2f, .mean = kImageNetMean, .std = kImageNetStd}}});
}

std::vector<Augmenter> OwnAugmenters() {
  return {
      ResizeAug{.size = 28}, RandomCropAug{.size = {.height = 24, .width = 24}},
      RandomOrderAug{.ts = {BrightnessJitterAug{.brightness = 0.2f}, HueJitterAug{.hue = 0.1f}}},
      [](RandomGenerator& random, AnyImage* image) {
        const auto noise = static_cast<float>(random.NextNormal());
        for (float& sample : std::get<FloatImage>(*image).pixels) sample += noise;
        return absl::OkStatus();
      }};
}

absl::StatusOr<std::unique_ptr<ImageDetIter>> ListedBoxes(const std::string& path) {
  return ImageDetIter::Create(
      {.images = {.path_imgrec = path},
       .batches = {.batch_size = 2},
       .data_shape = {3, 24, 24},
       .augment = {.rand_crop = 0.5,
                   .crops = {{.min_object_covered = 0.3}, {.min_object_covered = 0.9}},
                   .rand_mirror = true,
                   .rand_pad = 0.5}});
}

// Writes three records of an image.
void WriteImages(const std::string& name, const IRHeader& header, const Image& image) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto writer, IndexedRecordWriter::Create(Path(name + ".idx"), Path(name + ".rec")));
  for (int key = 0; key < 3; ++key) {
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string record, PackImg(header, image));
    COOPER_ASSERT_OK(writer->WriteIdx(key, record));
  }
  COOPER_ASSERT_OK(writer->Close());
}

TEST(RecordsTest, ReadsImages) {
  Image image = {.height = 30, .width = 40, .channels = 3};
  image.pixels.assign(30 * 40 * 3, 77);
  EXPECT_THAT(ResizeInRecord(image), IsOkAndHolds(24));
  WriteImages("i", {}, image);
  EXPECT_THAT(CountBatches(Path("i.idx"), Path("i.rec")), IsOkAndHolds(2));
  WriteImages("d", {.labels = {2, 5, 0, 0, 0, 1, 1}}, image);
  EXPECT_THAT(CountDetBatches(Path("d.rec")), IsOkAndHolds(2));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto boxes, ListedBoxes(Path("d.rec")));
  EXPECT_EQ(Epoch(*boxes).size(), 2u);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string bytes, EncodePng(image));
  const std::string folder = ::testing::TempDir();
  COOPER_ASSERT_OK(WriteFileAtomically(folder + "/a.png", bytes));
  COOPER_ASSERT_OK(WriteFileAtomically(folder + "/train.lst", "0\t1\ta.png\n1\t2\ta.png\n"));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto listed, ListedImages(folder));
  EXPECT_EQ(Epoch(*listed).size(), 1u);
  RandomGenerator random;
  AnyImage own = image;
  COOPER_EXPECT_OK(ApplyAugmenters(OwnAugmenters(), random, &own));
}

absl::StatusOr<int64_t> TrainRows(const std::string& folder) {
  COOPER_ASSIGN_OR_RETURN(const auto train, MnistIter({.image = folder + "/images-idx3-ubyte",
                                                       .label = folder + "/labels-idx1-ubyte",
                                                       .batch_size = 2,
                                                       .flat = true}));
  COOPER_ASSIGN_OR_RETURN(
      const auto rows,
      LibSvmIter::Create(
          {.data_libsvm = folder + "/a.t;" + folder + "/b.t", .data_shape = {3}, .batch_size = 2}));
  return train->num_rows() + rows->batch_size();
}

TEST(RecordsTest, ReadsMnistAndLibSvm) {
  const std::string folder = ::testing::TempDir();
  const std::string axes("\0\0\0\2\0\0\0\1\0\0\0\1", 12);
  const std::string images = std::string("\0\0\x8\3", 4) + axes;
  const std::string labels = std::string("\0\0\x8\1", 4) + axes.substr(0, 4);
  COOPER_ASSERT_OK(WriteFileAtomically(folder + "/images-idx3-ubyte", images + "ab"));
  COOPER_ASSERT_OK(WriteFileAtomically(folder + "/labels-idx1-ubyte", labels + "ab"));
  COOPER_ASSERT_OK(WriteFileAtomically(folder + "/a.t", "1 0:1 2:3\n"));
  COOPER_ASSERT_OK(WriteFileAtomically(folder + "/b.t", "2 1:1\n"));
  EXPECT_THAT(TrainRows(folder), IsOkAndHolds(4));
}

}  // namespace
}  // namespace cooper
