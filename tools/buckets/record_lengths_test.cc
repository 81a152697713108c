// Tests with RecordIO files written byte by byte as MXNet's MXRecordIO writes them.

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "tools/buckets/sample_lengths.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kMagic = 0xced7230a;

std::string Word(uint32_t word) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(word >> 8 * i);
  return bytes;
}

std::string Part(uint32_t part, uint32_t bytes) {
  return Word(kMagic) + Word(part << 29 | bytes) + std::string((bytes + 3) / 4 * 4, 'x');
}

absl::StatusOr<SampleLengths> Read(const std::string& bytes, const RecordLayout& layout = {}) {
  const std::string path = testing::TempDir() + "/test.rec";
  COOPER_EXPECT_OK(WriteFileAtomically(path, bytes));
  return RecordLengths(path, layout);
}

TEST(RecordLengthsTest, CountsWhatIsBehindTheHeader) {
  const std::string file = Part(0, 24 + 10) + Part(0, 24) + Part(0, 24 + 3);
  COOPER_ASSERT_OK_AND_ASSIGN(const SampleLengths lengths, Read(file));
  EXPECT_THAT(lengths.first, ElementsAre(10, 3));
  EXPECT_EQ(lengths.empty, 1);
  EXPECT_EQ(lengths.noun, "record");
  COOPER_ASSERT_OK_AND_ASSIGN(const SampleLengths tokens,
                              Read(file, {.header_bytes = 20, .bytes_per_token = 4}));
  EXPECT_THAT(tokens.first, ElementsAre(4, 1, 2));
}

TEST(RecordLengthsTest, PartsAreOneRecordWithTheMagicNumberBetween) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const SampleLengths lengths,
      Read(Part(1, 8) + Part(2, 0) + Part(3, 5) + Part(0, 7), {.header_bytes = 0}));
  EXPECT_THAT(lengths.first, ElementsAre(8 + 4 + 0 + 4 + 5, 7));
}

TEST(RecordLengthsTest, WhatIsNoRecordIsNamedByItsOffset) {
  const auto expect = [](const std::string& bytes, absl::StatusCode code, const char* says) {
    EXPECT_THAT(Read(bytes, {.header_bytes = 4}), StatusIs(code, HasSubstr(says)));
  };
  const std::string good = Part(0, 8);
  const auto invalid = absl::StatusCode::kInvalidArgument;
  expect("", invalid, "test.rec': there is no length above 0");
  expect(Part(0, 4), invalid, "no length above 0");
  expect(
      "a text that is no record", invalid,
      "not a RecordIO file (.rec): the file is text that begins with 'a text that is no record'");
  expect(good + Part(0, 3), invalid,
         "offset 16: the record has 3 bytes, fewer than its header of 4");
  expect(good + "abc", absl::StatusCode::kDataLoss,
         "test.rec', offset 16: the file ends after 3 bytes");
  EXPECT_THAT(RecordLengths("/no/such.rec", {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("such.rec")));
  EXPECT_THAT(Read(good, {.bytes_per_token = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bytes_per_token 0")));
}

}  // namespace
}  // namespace cooper
