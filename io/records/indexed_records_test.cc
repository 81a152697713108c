#include "io/records/indexed_records.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/indexed_records_test" + name;
}

// Writes the records "r7", "r-2", "r30" under their keys.
void WriteThree() {
  auto writer = IndexedRecordWriter::Create(Path(".idx"), Path(".rec"));
  COOPER_ASSERT_OK(writer);
  for (const int64_t key : {7, -2, 30}) {
    COOPER_ASSERT_OK((*writer)->WriteIdx(key, "r" + std::to_string(key)));
  }
  EXPECT_THAT((*writer)->WriteIdx(30, "again"),
              StatusIs(absl::StatusCode::kAlreadyExists,
                       HasSubstr(".idx': the key 30 is that of the record at offset 24")));
  EXPECT_EQ((*writer)->Tell(), 36);
  COOPER_ASSERT_OK((*writer)->Close());
}

std::unique_ptr<IndexedRecordReader> OpenThree(const RecordReaderOptions& options = {}) {
  auto reader = IndexedRecordReader::Open(Path(".idx"), Path(".rec"), options);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

TEST(IndexedRecordsTest, ReadsRecordsByKey) {
  WriteThree();
  EXPECT_THAT(ReadFile(Path(".idx")), IsOkAndHolds("7\t0\n-2\t12\n30\t24\n"));
  const auto reader = OpenThree();
  EXPECT_THAT(reader->keys(), ElementsAre(7, -2, 30));
  std::string record;
  for (const int64_t key : {30, 7, -2}) {
    COOPER_ASSERT_OK(reader->ReadIdx(key, &record));
    EXPECT_EQ(record, "r" + std::to_string(key));
  }
  COOPER_ASSERT_OK(reader->Seek(-2));
  COOPER_ASSERT_OK(reader->reader().Read(&record));
  EXPECT_THAT(reader->reader().Read(&record), IsOkAndHolds(true));
  EXPECT_EQ(record, "r30");
  EXPECT_THAT(reader->ReadIdx(8, &record),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("_test.idx' has no key 8")));
}

TEST(IndexedRecordsTest, NamesTheKeyOfADamagedRecord) {
  WriteThree();
  COOPER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(Path(".rec")));
  bytes[12] ^= 1;
  COOPER_ASSERT_OK(WriteFileAtomically(Path(".rec"), bytes));
  COOPER_ASSERT_OK(WriteFileAtomically(Path(".idx"), "7\t0\n-2\t12\n30\t24\n4\t36\n5\t13\n"));
  for (const bool skip : {false, true}) {
    const auto reader = OpenThree({.skip_corrupted = skip});
    std::string record;
    EXPECT_THAT(
        reader->ReadIdx(-2, &record),
        StatusIs(absl::StatusCode::kDataLoss,
                 HasSubstr("key -2 of '" + Path(".idx") + "': '" + Path(".rec") +
                           "', offset 12: no " + (skip ? "intact " : "") + "record begins")));
    EXPECT_THAT(reader->ReadIdx(4, &record),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("offset 36: no intact record")));
    EXPECT_THAT(reader->ReadIdx(5, &record),
                StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("key 5 of")));
    COOPER_ASSERT_OK(reader->ReadIdx(30, &record));
    EXPECT_EQ(record, "r30");
  }
}

TEST(IndexedRecordsTest, NamesTheLineOfAnIndex) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"1\t0\n2 12\n", "_test.idx', line 2: '2 12' is not a key, a tab and an offset"},
      {"a\t0\n", "line 1: 'a\t0' is not a key"},
      {"1\t99999999999999999999\n", "line 1"},
      {"1\t0\t0\n", "line 1"},
      {"1\t0\n\n1\t12\n", "line 3: the key 1 is also in line 1"},
  };
  for (const auto& test : cases) {
    COOPER_ASSERT_OK(WriteFileAtomically(Path(".idx"), test.text));
    EXPECT_THAT(ReadRecordIndex(Path(".idx")),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(test.says)));
  }
  EXPECT_THAT(IndexedRecordReader::Open("/no/such.idx", Path(".rec")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such.idx")));
}

}  // namespace
}  // namespace cooper
