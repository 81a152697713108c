// Fuzzes RecordIO files. Of any bytes, a reader fails or returns what a simple parser finds, and
// one that skips corrupted bytes ends; files that RecordWriter writes are read back, also with
// bytes changed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "io/records/indexed_records.h"
#include "io/records/ir_header.h"
#include "io/records/record_format.h"
#include "io/records/record_reader.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch_folder.h"

namespace cooper {
namespace {

constexpr size_t kMaxText = 2000;
const char kMagic[] = "\x0a\x23\xd7\xce";

uint32_t Word(const std::string& bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 4; i > 0; --i) word = word << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return word;
}

// Returns the record that begins at `*at`, and moves behind it; nullopt if there is none.
std::optional<std::string> ParseRecord(const std::string& bytes, size_t* at) {
  std::string record;
  bool is_first = true;
  while (*at + 8 <= bytes.size() && Word(bytes, *at) == kRecordMagic) {
    const uint32_t part = Word(bytes, *at + 4) >> 29;
    const size_t length = Word(bytes, *at + 4) & 0x1fffffff;
    const size_t padded = (length + 3) / 4 * 4;
    if (part > 3 || (part == 0 || part == 1) != is_first) return std::nullopt;
    if (padded > bytes.size() - *at - 8) return std::nullopt;
    if (!is_first) record += kMagic;
    record += bytes.substr(*at + 8, length);
    *at += 8 + padded;
    if (part == 0 || part == 3) return record;
    is_first = false;
  }
  return std::nullopt;
}

// Reads the file up to its first error and compares each record, its length and its offset.
void ReadStrictly(const std::string& bytes, RecordReader& reader, RecordReader& lengths) {
  size_t at = 0;
  std::string record;
  while (at < bytes.size()) {
    CHECK(reader.Tell() == static_cast<int64_t>(at));
    const std::optional<std::string> expected = ParseRecord(bytes, &at);
    const auto found = reader.Read(&record);
    const auto length = lengths.ReadLength();
    CHECK(found.ok() == expected.has_value() && length.ok() == expected.has_value());
    if (!found.ok()) return;
    CHECK(*found && record == *expected && **length == static_cast<int64_t>(record.size()));
    (void)Unpack(record);
  }
  CHECK(!*reader.Read(&record) && !lengths.ReadLength()->has_value());
}

// Reads all intact records. Every byte of the file is in a record or counted as skipped.
void ReadSkipping(const std::string& bytes, RecordReader& reader) {
  std::string record;
  int64_t end = 0, in_records = 0;
  while (true) {
    const int64_t skipped = reader.skipped().bytes;
    const auto found = reader.Read(&record);
    CHECK(found.ok()) << found.status();
    const int64_t begin = end + reader.skipped().bytes - skipped;
    end = reader.Tell();
    if (!*found) break;
    auto at = static_cast<size_t>(begin);
    CHECK(ParseRecord(bytes, &at) == record && static_cast<int64_t>(at) == end);
    in_records += end - begin;
  }
  CHECK(in_records + reader.skipped().bytes == static_cast<int64_t>(bytes.size()));
  CHECK((reader.skipped().bytes > 0) == (reader.skipped().regions > 0));
}

std::string Records(FuzzInput& input) {
  std::string bytes;
  for (uint64_t count = input.Below(6); count > 0; --count) {
    std::string record = input.Text(40);
    if (input.OneIn(2)) record = record.substr(0, record.size() / 4 * 4) + kMagic + record;
    CHECK(AppendRecord(record, &bytes).ok());
    if (input.OneIn(3)) {
      CHECK(AppendRecord(Pack({.labels = {1, 2}, .id = 3}, record), &bytes).ok());
    }
  }
  for (uint64_t changes = input.Below(4); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = input.Below(bytes.size());
    bytes[at] = static_cast<char>(input.Below(256));
  }
  if (input.OneIn(4)) bytes.resize(input.Below(bytes.size() + 1));
  return bytes;
}

void ReadAnyIndex(FuzzInput& input, const std::string& path) {
  const std::string idx = ScratchFolder() + "/idx";
  WriteUnsynced(idx, input.OneIn(2) ? "0\t0\n5\t12\n" : input.Text(kMaxText));
  const auto reader = IndexedRecordReader::Open(idx, path, {.skip_corrupted = input.OneIn(2)});
  if (!reader.ok()) return;
  std::string record;
  for (const int64_t key : (*reader)->keys()) (*reader)->ReadIdx(key, &record).IgnoreError();
}

void ReadRecords(FuzzInput& input) {
  const std::string bytes = input.OneIn(2) ? input.Text(kMaxText) : Records(input);
  const std::string path = ScratchFolder() + "/rec";
  WriteUnsynced(path, bytes);
  const auto reader = RecordReader::Open(path);
  if (reader.ok()) ReadStrictly(bytes, **reader, **RecordReader::Open(path));
  const auto skipping = RecordReader::Open(path, {.skip_corrupted = true});
  CHECK(skipping.ok());
  ReadSkipping(bytes, **skipping);
  const auto offset = (*skipping)->FindRecord(input.Between(0, 2000));
  CHECK(offset.ok() && (*skipping)->Seek(std::min(*offset, (*skipping)->size() / 4 * 4)).ok());
  ReadAnyIndex(input, path);
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  cooper::ReadRecords(input);
  return 0;
}

// The seeds are files, each with a valid index.
extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) {
  using cooper::AppendRecord;
  using cooper::kMagic;
  std::string good, other;
  CHECK(AppendRecord("good", &good).ok());
  CHECK(AppendRecord(std::string("abcd") + kMagic + kMagic + "e", &other).ok());
  const std::string long_one = good.substr(0, 4) + "\xff\xff\xff\x1f";
  const struct {
    const char* name;
    std::string bytes;
  } files[] = {{"empty", ""},
               {"records", good + other + good},
               {"no_last_part", good + other.substr(0, 12) + good},
               {"no_first_part", good + other.substr(12) + good},
               {"cut", good + other.substr(0, 18)},
               {"claims", good + long_one + good},
               {"not_aligned", good + "abc" + good},
               {"two_gaps", "abcd" + good + "efgh" + good}};
  for (const auto& file : files) {
    seeds->push_back({file.name, cooper::SeedBytes()
                                     .Below(1, 2)
                                     .Text(file.bytes, cooper::kMaxText)
                                     .Below(12, 2001)
                                     .Below(1, 2)
                                     .bytes()});
  }
}
