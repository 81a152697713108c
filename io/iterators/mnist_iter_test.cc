#include "io/iterators/mnist_iter.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/batch/iter_fixtures.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Words(const std::vector<uint32_t>& words) {
  std::string bytes;
  for (const uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift);
  }
  return bytes;
}

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/mnist_iter_test_" + name;
}

std::string Write(const std::string& name, const std::string& bytes) {
  COOPER_EXPECT_OK(WriteFileAtomically(Path(name), bytes));
  return Path(name);
}

std::string WriteGzip(const std::string& name, const std::string& bytes) {
  const gzFile file = gzopen(Path(name).c_str(), "wb");
  EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
            static_cast<int>(bytes.size()));
  gzclose(file);
  return Path(name);
}

// Returns the bytes of `count` images of 1 x 2 pixels, which are 2 * i and 2 * i + 1 in image i.
std::string Images(uint32_t count) {
  std::string bytes = Words({0x803, count, 1, 2});
  for (uint32_t i = 0; i < 2 * count; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// Returns the bytes of labels 100, 101, ...
std::string Labels(uint32_t count) {
  std::string bytes = Words({0x801, count});
  for (uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(100 + i);
  return bytes;
}

MnistIterOptions Files(uint32_t count) {
  return {.image = Write("images", Images(count)),
          .label = Write("labels", Labels(count)),
          .batch_size = 2,
          .shuffle = false,
          .silent = true};
}

std::vector<float> AllLabels(const MnistIterOptions& options) {
  auto iter = MnistIter(options);
  EXPECT_TRUE(iter.ok()) << iter.status();
  std::vector<float> labels;
  for (const DataBatch& batch : Epoch(**iter)) {
    const std::vector<float> rows = *batch.label[0].ToVector<float>();
    labels.insert(labels.end(), rows.begin(), rows.end());
  }
  return labels;
}

TEST(MnistIterTest, ServesWholeBatchesOfImagesDividedBy256) {
  MnistIterOptions options = Files(5);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto iter, MnistIter(options));
  EXPECT_EQ(DescsToString(iter->provide_data()), "data (2, 1, 1, 2) float32 NCHW");
  EXPECT_EQ(DescsToString(iter->provide_label()), "softmax_label (2,) float32 NCHW");
  for (int epoch = 0; epoch < 2; ++epoch) {
    const std::vector<DataBatch> batches = Epoch(*iter);
    ASSERT_EQ(batches.size(), 2u);
    EXPECT_THAT(*batches[1].data[0].ToVector<float>(),
                ElementsAre(4 / 256.0f, 5 / 256.0f, 6 / 256.0f, 7 / 256.0f));
    EXPECT_THAT(*batches[1].label[0].ToVector<float>(), ElementsAre(102, 103));
    COOPER_ASSERT_OK(iter->Reset());
  }
  options.flat = true;
  COOPER_ASSERT_OK_AND_ASSIGN(const auto flat, MnistIter(options));
  EXPECT_EQ(DescsToString(flat->provide_data()), "data (2, 2) float32 NCHW");
}

TEST(MnistIterTest, ReadsGzip) {
  MnistIterOptions options = Files(5);
  const std::vector<float> labels = AllLabels(options);
  options.image = WriteGzip("images.gz", Images(5));
  options.label = WriteGzip("labels.gz", Labels(5));
  EXPECT_EQ(AllLabels(options), labels);
}

TEST(MnistIterTest, ShufflesOnceBySeed) {
  MnistIterOptions options = Files(40);
  options.shuffle = true;
  COOPER_ASSERT_OK_AND_ASSIGN(const auto iter, MnistIter(options));
  const std::vector<DataBatch> first = Epoch(*iter);
  COOPER_ASSERT_OK(iter->Reset());
  const std::vector<DataBatch> second = Epoch(*iter);
  ASSERT_EQ(first.size(), second.size());
  std::vector<float> labels;
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(*first[i].label[0].ToVector<float>(), *second[i].label[0].ToVector<float>());
    // Images and labels are shuffled alike.
    const std::vector<float> pixels = *first[i].data[0].ToVector<float>();
    const std::vector<float> batch = *first[i].label[0].ToVector<float>();
    EXPECT_EQ(pixels[0] * 256, 2 * (batch[0] - 100));
    labels.insert(labels.end(), batch.begin(), batch.end());
  }
  EXPECT_FALSE(std::is_sorted(labels.begin(), labels.end()));
  options.seed = 1;
  EXPECT_NE(AllLabels(options), labels);
}

TEST(MnistIterTest, PartsHaveEachImageOnce) {
  MnistIterOptions options = Files(7);
  options.batch_size = 1;
  options.num_parts = 3;
  const std::vector<float> expected[] = {{100, 101}, {102, 103}, {104, 105, 106}};
  for (int64_t part = 0; part < 3; ++part) {
    options.part_index = part;
    EXPECT_EQ(AllLabels(options), expected[part]);
  }
}

TEST(MnistIterTest, NamesTheFile) {
  const auto expect = [](const MnistIterOptions& options, const std::string& says) {
    EXPECT_THAT(MnistIter(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(says)));
  };
  MnistIterOptions options = Files(3);
  options.label = Write("4_labels", Labels(4));
  expect(options, "_images' has 3 images, '" + options.label + "' 4 labels");
  options.label = options.image;
  expect(options,
         "_images' begins with 00000803, expected 00000801, an idx file of bytes with 1 ax");
  options = Files(3);
  const struct {
    std::string bytes;
    const char* says;
  } cases[] = {
      {"", "' ends after 0 bytes, expected 16 more"},
      {Images(3).substr(0, 20), "' ends after 20 bytes, expected 2 more"},
      {Words({0x803, 1u << 31, 1u << 10, 1u << 10}), "' ends after 16 bytes, expected"},
      {Words({0x803, ~0u, ~0u, ~0u}), "': shape (4294967295, 4294967295, 4294967295)"},
  };
  for (const auto& test : cases) {
    options.image = Write("bad", test.bytes);
    expect(options, "MNISTIter: '" + options.image + test.says);
  }
  // Cut off and damaged while compressed.
  options.image = WriteGzip("bad.gz", Images(3));
  COOPER_ASSERT_OK_AND_ASSIGN(std::string gzip, ReadFile(options.image));
  Write("bad.gz", gzip.substr(0, gzip.size() - 9));
  expect(options, "'" + options.image + "': the compressed data ends early");
  gzip[gzip.size() - 6] ^= 1;
  Write("bad.gz", gzip);
  expect(options, "'" + options.image + "': the compressed data is damaged");

  options = Files(3);
  options.num_parts = 2;
  options.part_index = 2;
  expect(options, "MNISTIter: part_index is 2, num_parts 2, expected 0 <= part_index < num_parts");
  options.image = "/no/such/file";
  options.part_index = 0;
  EXPECT_THAT(MnistIter(options), StatusIs(absl::StatusCode::kNotFound,
                                           HasSubstr("MNISTIter: cannot open '/no/such/file'")));
}

}  // namespace
}  // namespace cooper
