#include "io/records/record_reader.h"

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/records/record_format.h"
#include "io/records/record_writer.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kMagic = "\x0a\x23\xd7\xce";

std::string Word(uint32_t word) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(word >> 8 * i);
  return bytes;
}

// Returns a part with a head that claims `bytes` bytes, and those bytes.
std::string Part(uint32_t part, uint32_t bytes) {
  return kMagic + Word(part << 29 | bytes) + std::string((bytes + 3) / 4 * 4, 'x');
}

std::string Write(const std::string& bytes) {
  std::string path = ::testing::TempDir() + "/record_reader_test.rec";
  COOPER_EXPECT_OK(WriteFileAtomically(path, bytes));
  return path;
}

std::unique_ptr<RecordReader> Open(const std::string& bytes, bool skip = false) {
  auto reader = RecordReader::Open(Write(bytes), {.skip_corrupted = skip});
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

// Returns the rest of the records; an error fails the test.
std::vector<std::string> ReadAll(RecordReader& reader) {
  std::vector<std::string> records;
  std::string record;
  while (true) {
    const auto found = reader.Read(&record);
    EXPECT_TRUE(found.ok()) << found.status();
    if (!found.ok() || !*found) return records;
    records.push_back(record);
  }
}

std::string Encode(const std::vector<std::string>& records) {
  std::string bytes;
  for (const std::string& record : records) COOPER_EXPECT_OK(AppendRecord(record, &bytes));
  return bytes;
}

TEST(RecordFormatTest, SplitsARecordAtAlignedMagicNumbers) {
  const struct {
    std::string record;
    std::string bytes;
  } cases[] = {
      {"", kMagic + Word(0)},
      {"abcde", kMagic + Word(5) + "abcde" + std::string(3, '\0')},
      {kMagic, kMagic + Word(1u << 29) + kMagic + Word(3u << 29)},
      {"abcd" + kMagic + kMagic + "e", kMagic + Word(1u << 29 | 4) + "abcd" + kMagic +
                                           Word(2u << 29) + kMagic + Word(3u << 29 | 1) + "e" +
                                           std::string(3, '\0')},
      // Not at a multiple of four.
      {"a" + kMagic, kMagic + Word(5) + "a" + kMagic + std::string(3, '\0')},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(Encode({test.record}), test.bytes) << test.record;
    EXPECT_THAT(ReadAll(*Open(test.bytes)), ElementsAre(test.record));
  }
}

TEST(RecordFormatTest, RefusesRecordsLongerThanMxnets) {
  std::string out;
  const std::string record(static_cast<size_t>(kMaxRecordBytes) + 1, 'x');
  EXPECT_THAT(AppendRecord(record, &out),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "a record of 536870912 bytes, expected at most 536870911"));
  EXPECT_EQ(out, "");
}

TEST(RecordReaderTest, ReadsBackRandomRecords) {
  RandomGenerator random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> records(random.NextBelow(8));
    for (std::string& record : records) {
      for (uint64_t words = random.NextBelow(5); words > 0; --words) {
        record += random.NextBelow(3) == 0 ? kMagic : Word(random.NextUint32());
      }
      record += std::string(random.NextBelow(4), 'y');
    }
    if (round % 10 == 0) records.emplace_back(200000, 'z');  // longer than the buffer
    EXPECT_EQ(ReadAll(*Open(Encode(records))), records);
    const auto reader = Open(Encode(records));
    for (const std::string& record : records) {
      EXPECT_THAT(reader->ReadLength(), IsOkAndHolds(std::optional<int64_t>(record.size())));
    }
    EXPECT_THAT(reader->ReadLength(), IsOkAndHolds(std::optional<int64_t>()));
  }
}

TEST(RecordReaderTest, TellsAndSeeksRecords) {
  const auto reader = Open(Encode({"a", "bc" + std::string(2, ' ') + kMagic, "d"}));
  std::vector<int64_t> offsets;
  std::string record;
  do {
    offsets.push_back(reader->Tell());
  } while (*reader->Read(&record));
  EXPECT_THAT(offsets, ElementsAre(0, 12, 32, 44));
  COOPER_ASSERT_OK(reader->Seek(32));
  EXPECT_THAT(ReadAll(*reader), ElementsAre("d"));
  for (const int64_t offset : {-4, 2, 48}) {
    EXPECT_THAT(reader->Seek(offset),
                StatusIs(absl::StatusCode::kOutOfRange,
                         HasSubstr(absl::StrCat("offset ", offset, " is not a multiple of 4"))));
  }
}

TEST(RecordReaderTest, FindsTheFirstRecordBehindAnOffset) {
  const std::string long_record(100000, 'x');
  const auto reader = Open(Encode({"a", "abcd" + kMagic, long_record, "d"}));
  const struct {
    int64_t offset, record;
  } cases[] = {{-1, 0},  {0, 0},   {1, 12},      {12, 12},
               {13, 32}, {32, 32}, {33, 100040}, {100041, 100052}};
  for (const auto& test : cases) {
    EXPECT_THAT(reader->FindRecord(test.offset), IsOkAndHolds(test.record)) << test.offset;
  }
  EXPECT_EQ(reader->Tell(), 0);
}

TEST(RecordReaderTest, NamesTheOffsetOfCorruptedBytes) {
  const std::string good = Part(0, 8);
  const struct {
    std::string bytes;
    const char* says;
  } cases[] = {
      {good + "abc", "offset 16: the file ends after 3 bytes of the 8 of a record's head"},
      {good + "abcdefgh",
       "offset 16: no record begins here: the bytes are 6162636465666768, "
       "expected 0a23d7ce and a length"},
      {good + Part(5, 0), "offset 16: no record begins here"},
      {good + Part(2, 8), "offset 16: a record begins with a later part of one"},
      {good + Part(3, 8), "offset 16: a record begins with a later part of one"},
      {good + Part(1, 8) + good, "offset 32: the rest of a record in several parts is missing"},
      {good + Part(1, 8), "offset 16: the last part of the record is missing"},
      {good + good.substr(0, 12), "offset 16: a record claims 8 bytes, the file ends after 4"},
      {good + Part(0, 6).substr(0, 14), "offset 16: a record claims 6 bytes"},  // no padding
      {good + kMagic + Word((1u << 29) - 1),
       "offset 16: a record claims 536870911 bytes, the file ends after 0"},
  };
  for (const auto& test : cases) {
    const auto reader = Open(test.bytes);
    std::string record;
    EXPECT_THAT(reader->Read(&record), IsOkAndHolds(true));
    for (int i = 0; i < 2; ++i) {  // the reader does not move
      EXPECT_THAT(reader->Read(&record),
                  StatusIs(absl::StatusCode::kDataLoss,
                           HasSubstr(absl::StrCat("_test.rec', ", test.says))));
    }
    EXPECT_EQ(reader->Tell(), 16);
  }
}

TEST(RecordReaderTest, SkipsAndCountsCorruptedBytesIfAsked) {
  const std::string good = Encode({"good"}), other = Encode({"abcd" + kMagic + "e"});
  const struct {
    std::string bytes;
    std::vector<std::string> records;
    int64_t regions, skipped;
  } cases[] = {
      {good + good, {"good", "good"}, 0, 0},
      {"abcd" + good, {"good"}, 1, 4},
      {good + "abcdefgh" + good + "wxyz" + good, {"good", "good", "good"}, 2, 12},
      {good + Part(1, 4) + good, {"good", "good"}, 1, 12},
      {Part(3, 4) + Part(2, 0) + good, {"good"}, 1, 20},
      {good + other.substr(0, 12) + good, {"good", "good"}, 1, 12},
      {good + other.substr(12) + good, {"good", "good"}, 1, 12},
      {good + kMagic + Word(1000) + good, {"good", "good"}, 1, 8},
      {good + good.substr(0, 8), {"good"}, 1, 8},
      {good + "abc", {"good"}, 1, 3},
      {"no record at all", {}, 1, 16},
  };
  for (const auto& test : cases) {
    const auto reader = Open(test.bytes, /*skip=*/true);
    EXPECT_EQ(ReadAll(*reader), test.records);
    EXPECT_EQ(reader->skipped().regions, test.regions);
    EXPECT_EQ(reader->skipped().bytes, test.skipped);
    EXPECT_EQ(reader->Tell(), reader->size());
  }
}

TEST(RecordReaderTest, ReadsEveryTruncationUpToItsEnd) {
  const std::vector<std::string> records = {"one", "", "abcd" + kMagic + kMagic + "x", "four"};
  const std::string bytes = Encode(records);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto reader = Open(bytes.substr(0, size), /*skip=*/true);
    const std::vector<std::string> read = ReadAll(*reader);
    EXPECT_LT(read.size(), records.size());
    for (size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i], records[i]);
    EXPECT_EQ(static_cast<int64_t>(Encode(read).size()) + reader->skipped().bytes,
              static_cast<int64_t>(size));
  }
}

TEST(RecordReaderTest, SaysWhatAnotherFileIs) {
  EXPECT_THAT(RecordReader::Open("/no/such.rec"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot open '/no/such.rec'")));
  EXPECT_THAT(RecordReader::Open(::testing::TempDir()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("it is not a regular file")));
  EXPECT_THAT(RecordReader::Open(Write("a text that is no record")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not a RecordIO file (.rec): the file is text that begins with")));
  EXPECT_THAT(ReadAll(*Open("")), ElementsAre());
}

TEST(RecordReaderTest, NoticesThatTheFileWasShortened) {
  const auto reader = Open(Encode({std::string(200000, 'x')}));
  COOPER_ASSERT_OK(reader->FindRecord(0));
  // The file is shortened in place: an atomic write would leave the open file as it is.
  ASSERT_EQ(truncate(reader->path().c_str(), 100000), 0);
  std::string record;
  EXPECT_THAT(reader->Read(&record),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("offset 100000: the file has become shorter than its 200008")));
}

TEST(RecordWriterTest, TheFileAppearsWhenItIsClosed) {
  const std::string path = Write(Encode({"old"}));
  {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto unfinished, RecordWriter::Create(path));
    COOPER_ASSERT_OK(unfinished->Write("new"));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const auto old, RecordReader::Open(path));
  EXPECT_THAT(ReadAll(*old), ElementsAre("old"));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto writer, RecordWriter::Create(path));
  const std::string long_record(300000, 'x');
  COOPER_ASSERT_OK(writer->Write(long_record));
  EXPECT_EQ(writer->Tell(), 300008);
  COOPER_ASSERT_OK(writer->Write("new"));
  COOPER_ASSERT_OK(writer->Close());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto read, RecordReader::Open(path));
  EXPECT_THAT(ReadAll(*read), ElementsAre(long_record, "new"));
  EXPECT_THAT(writer->Write("late"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("_test.rec' is closed")));
  EXPECT_THAT(writer->Close(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("closed")));
  EXPECT_THAT(RecordWriter::Create("/no/such/folder/a.rec"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/folder")));
}

}  // namespace
}  // namespace cooper
