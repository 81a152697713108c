// Tests zip_reader.h and zip_writer.h with each other. That other programs read and write the same
// archives is tested with NumPy (tests/interchange).

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/zip_reader.h"
#include "ndarray/files/zip_writer.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Entry {
  std::string name;
  std::string data;
};

std::string Write(const std::vector<Entry>& entries, const ZipWriterOptions& options = {}) {
  std::string archive;
  ZipWriter writer(
      [&archive](absl::string_view bytes) {
        archive.append(bytes.data(), bytes.size());
        return absl::OkStatus();
      },
      options);
  for (const auto& [name, data] : entries) {
    const absl::string_view whole = data;
    COOPER_EXPECT_OK(
        writer.Add(name, {whole.substr(0, 1), whole.substr(std::min<size_t>(1, data.size()))}));
  }
  COOPER_EXPECT_OK(writer.Finish());
  return archive;
}

absl::StatusOr<std::string> ReadAll(const std::string& archive, const ZipEntry& entry) {
  COOPER_ASSIGN_OR_RETURN(ZipEntryReader reader, ZipEntryReader::Open(archive, entry));
  std::string data(static_cast<size_t>(entry.bytes), '\0');
  const int64_t first = entry.bytes / 3;  // in two parts
  COOPER_RETURN_IF_ERROR(reader.Read(data.data(), first));
  COOPER_RETURN_IF_ERROR(reader.Read(data.data() + first, entry.bytes - first));
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return data;
}

template <typename T>
std::string With(std::string bytes, size_t at, T number) {
  std::memcpy(bytes.data() + at, &number, sizeof(number));
  return bytes;
}

std::string Noise(size_t size) {
  std::string noise(size, '\0');
  uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return noise;
}

TEST(ZipTest, ReadsWhatItWrites) {
  const std::vector<Entry> entries = {{"a.npy", "one"},
                                      {"none", ""},
                                      {"zeros", std::string(100000, '\0')},
                                      {"noise", Noise(100000)},
                                      {"z\xc3\xa4hler", "utf-8"}};
  for (const bool compress : {false, true}) {
    for (const uint64_t zip64_from :
         {uint64_t{0}, uint64_t{4}, uint64_t{50000}, uint64_t{0xffffffff}}) {
      SCOPED_TRACE(testing::Message() << compress << " " << zip64_from);
      const std::string archive = Write(entries, {.compress = compress, .zip64_from = zip64_from});
      COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<ZipEntry> read, ParseZip(archive));
      ASSERT_EQ(read.size(), entries.size());
      for (size_t i = 0; i < entries.size(); ++i) {
        EXPECT_EQ(read[i].name, entries[i].name);
        EXPECT_THAT(ReadAll(archive, read[i]), IsOkAndHolds(entries[i].data));
      }
      COOPER_EXPECT_OK(ParseZip(archive.substr(0, archive.size() - 2) + std::string("\4\0note", 6)))
          << "a comment may follow";
    }
  }
  EXPECT_THAT(ParseZip(Write({})), IsOkAndHolds(testing::IsEmpty()));
}

TEST(ZipTest, WritesAsManyEntriesAsThereAre) {
  const std::vector<Entry> entries = [] {
    std::vector<Entry> many;
    for (int i = 0; i < 70000; ++i) many.push_back({std::to_string(i), ""});
    return many;
  }();
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<ZipEntry> read, ParseZip(Write(entries)));
  ASSERT_EQ(read.size(), entries.size());
  EXPECT_EQ(read.back().name, "69999");
}

TEST(ZipTest, RefusesNamesThatReadersCutOff) {
  ZipWriter writer([](absl::string_view) { return absl::OkStatus(); }, {});
  EXPECT_THAT(writer.Add(std::string("a\0z", 3), {}),
              StatusIs(kInvalid, HasSubstr("'a\\x00z' cannot be the name of an entry")));
  EXPECT_THAT(writer.Add(std::string(65536, 'a'), {}),
              StatusIs(kInvalid, HasSubstr("expected at most 65535 bytes")));
}

// Offsets below are those of this archive: a local header of 30 bytes, the name of 1, the data of
// 4, a record of 46 and 1 from offset 35 on, the end record of 22 from 82 on.
TEST(ZipTest, RefusesDamagedArchives) {
  const std::string whole = Write({{"a", "data"}});
  ASSERT_EQ(whole.size(), 104u);
  constexpr size_t kRecord = 35, kEnd = 82;
  const struct {
    const char* name;
    std::string bytes;
    const char* message;
  } cases[] = {
      {"Empty", "", "offset 0: no zip archive ends here"},
      {"CutOff", whole.substr(0, 100), "offset 100: no zip archive ends here"},
      {"Comment", With<uint16_t>(whole, kEnd + 20, 1), "no zip archive ends here"},
      {"Parts", With<uint16_t>(whole, kEnd + 4, 1), "offset 82: the archive has several parts"},
      {"DirectoryAt", With<uint32_t>(whole, kEnd + 16, 1000),
       "offset 1000: the archive's directory takes 47 bytes, but the file has 104"},
      {"DirectorySize", With<uint32_t>(whole, kEnd + 12, 1000), "takes 1000 bytes, but the file"},
      {"Entries", With<uint16_t>(whole, kEnd + 10, 2),
       "offset 35: a directory of 47 bytes cannot hold 2 entries"},
      {"Locator", With<uint32_t>(whole, kEnd + 16, 0xffffffff),
       "offset 82: the archive's end needs a zip64 locator"},
      {"Record", With<uint32_t>(whole, kRecord, 0), "offset 35: expected a record"},
      {"RecordCutOff", With<uint16_t>(whole, kRecord + 28, 9),
       "offset 35: the archive's directory is cut off"},
      {"Compressed", With<uint32_t>(whole, kRecord + 20, 1000),
       "entry 'a' has 1000 bytes, but the file has 104"},
      {"Stored", With<uint32_t>(whole, kRecord + 24, 5),
       "entry 'a' is stored, but its 4 bytes stand for 5"},
      {"Claimed", With<uint32_t>(With<uint16_t>(whole, kRecord + 10, 8), kRecord + 24, 6000),
       "entry 'a' claims 6000 bytes, which 4 compressed bytes cannot hold"},
      {"Zip64", With<uint32_t>(whole, kRecord + 24, 0xffffffff),
       "entry 'a' needs a zip64 field, which is missing"},
      {"LocalAt", With<uint32_t>(whole, kRecord + 42, 90),
       "offset 90: the header of entry 'a' takes 30 bytes"},
      {"Twice",
       [] {
         std::string two = Write({{"a", ""}, {"b", ""}});
         two[two.rfind('b')] = 'a';
         return two;
       }(),
       "two entries are called 'a'"},
      {"Shared",
       [] {
         const std::string two = Write({{"a", "data"}, {"b", "data"}});
         return With<uint32_t>(two, two.size() - 6, 40);
       }(),
       "offset 40: expected a record"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(ParseZip(c.bytes), StatusIs(kInvalid, HasSubstr(c.message)));
  }
  EXPECT_THAT(ParseZip(With<uint16_t>(whole, kRecord + 8, 1)),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("entry 'a' is encrypted")));
  EXPECT_THAT(
      ParseZip(With<uint16_t>(whole, kRecord + 10, 14)),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("entry 'a' is compressed by method 14, expected 0 (stored) or 8")));
}

// Many entries that share the same data would make a small archive large.
TEST(ZipTest, RefusesEntriesThatShareBytes) {
  const std::string archive = Write({{"a", std::string(50, 'x')}});
  const size_t record = 30 + 1 + 50;
  std::string shared = archive.substr(0, record);
  std::string other = archive.substr(record, 47);
  shared += other;
  other[46] = 'b';
  shared += other;
  std::string end = With<uint16_t>(archive.substr(record + 47), 10, 2);
  shared += With<uint32_t>(end, 12, 94);
  EXPECT_THAT(
      ParseZip(shared),
      StatusIs(kInvalid, HasSubstr("offset 128: the entries up to 'b' need 162 bytes before "
                                   "the directory, which begins at 81")));
}

TEST(ZipTest, RefusesDamagedEntries) {
  const std::string zeros(1000, '\0');
  const std::string stored = Write({{"a", "data"}});
  const std::string deflated = Write({{"a", zeros}}, {.compress = true});
  const auto read = [](const std::string& archive) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const std::vector<ZipEntry> entries, ParseZip(archive));
    return ReadAll(archive, entries[0]).status();
  };
  const size_t record = deflated.size() - 22 - 47;
  const size_t data = 31;
  const struct {
    const char* name;
    std::string bytes;
    const char* message;
  } cases[] = {
      {"Checksum", With<char>(stored, data, 'D'), "the checksum is 0x"},
      {"LocalSignature", With<uint32_t>(stored, 0, 0),
       "offset 0: expected the header of the entry"},
      {"LocalName", With<char>(stored, 30, 'b'), "offset 0: expected the header of the entry"},
      {"LocalMethod", With<uint16_t>(stored, 8, 8), "offset 0: expected the header of the entry"},
      {"LocalExtra", With<uint16_t>(stored, 28, 1000),
       "the entry with its header takes 1035 bytes"},
      {"Block", With<char>(deflated, data, '\xff'), "the compressed data are damaged"},
      {"Short", With<uint32_t>(deflated, record + 24, 1001), "the compressed data end 1 bytes"},
      {"Long", With<uint32_t>(deflated, record + 24, 999),
       "the compressed data have no end where they should"},
      {"CutOff", With<uint32_t>(deflated, record + 20, 6), "the compressed data are damaged"},
      {"DeflatedChecksum", With<uint32_t>(deflated, record + 16, 1), ", expected 0x1: "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(read(c.bytes), StatusIs(kInvalid, HasSubstr(c.message)));
  }
}

}  // namespace
}  // namespace cooper
