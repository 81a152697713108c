#include "io/records/indexed_records.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::vector<RecordEntry>> ReadRecordIndex(const std::string& idx_path) {
  COOPER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(idx_path));
  std::vector<RecordEntry> entries;
  absl::flat_hash_map<int64_t, int64_t> line_of;
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
    RecordEntry entry;
    if (fields.size() != 2 || !absl::SimpleAtoi(fields[0], &entry.key) ||
        !absl::SimpleAtoi(fields[1], &entry.offset)) {
      return absl::InvalidArgumentError(absl::StrCat("'", idx_path, "', line ", number, ": '",
                                                     line.substr(0, 60),
                                                     "' is not a key, a tab and an offset"));
    }
    const auto [at, is_new] = line_of.try_emplace(entry.key, number);
    if (!is_new) {
      return absl::InvalidArgumentError(absl::StrCat("'", idx_path, "', line ", number,
                                                     ": the key ", entry.key, " is also in line ",
                                                     at->second));
    }
    entries.push_back(entry);
  }
  return entries;
}

IndexedRecordReader::IndexedRecordReader(std::string idx_path, std::unique_ptr<RecordReader> reader,
                                         absl::Span<const RecordEntry> entries)
    : idx_path_(std::move(idx_path)), reader_(std::move(reader)) {
  for (const RecordEntry& entry : entries) {
    keys_.push_back(entry.key);
    offset_of_[entry.key] = entry.offset;
  }
}

absl::StatusOr<std::unique_ptr<IndexedRecordReader>> IndexedRecordReader::Open(
    const std::string& idx_path, const std::string& path, const RecordReaderOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<RecordEntry> entries, ReadRecordIndex(idx_path));
  COOPER_ASSIGN_OR_RETURN(auto reader, RecordReader::Open(path, options));
  return absl::WrapUnique(new IndexedRecordReader(idx_path, std::move(reader), entries));
}

absl::Status IndexedRecordReader::Seek(int64_t key) {
  const auto found = offset_of_.find(key);
  if (found == offset_of_.end()) {
    return absl::NotFoundError(absl::StrCat("'", idx_path_, "' has no key ", key));
  }
  return AddContext(reader_->Seek(found->second), "key ", key, " of '", idx_path_, "'");
}

absl::Status IndexedRecordReader::ReadIdx(int64_t key, std::string* record) {
  COOPER_RETURN_IF_ERROR(Seek(key));
  const int64_t offset = reader_->Tell();
  const SkippedRecords before = reader_->skipped();
  const absl::StatusOr<bool> found = reader_->Read(record);
  if (!found.ok()) return AddContext(found.status(), "key ", key, " of '", idx_path_, "'");
  if (*found && reader_->skipped().regions == before.regions) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("key ", key, " of '", idx_path_, "': '", reader_->path(),
                                          "', offset ", offset, ": no intact record begins here"));
}

IndexedRecordWriter::IndexedRecordWriter(std::string idx_path, std::unique_ptr<RecordWriter> writer)
    : idx_path_(std::move(idx_path)), writer_(std::move(writer)) {}

absl::StatusOr<std::unique_ptr<IndexedRecordWriter>> IndexedRecordWriter::Create(
    const std::string& idx_path, const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(auto writer, RecordWriter::Create(path));
  return absl::WrapUnique(new IndexedRecordWriter(idx_path, std::move(writer)));
}

absl::Status IndexedRecordWriter::WriteIdx(int64_t key, absl::string_view record) {
  const int64_t offset = Tell();
  if (offset_of_.contains(key)) {
    return absl::AlreadyExistsError(absl::StrCat(
        "'", idx_path_, "': the key ", key, " is that of the record at offset ", offset_of_[key]));
  }
  COOPER_RETURN_IF_ERROR(writer_->Write(record));
  offset_of_[key] = offset;
  absl::StrAppend(&index_, key, "\t", offset, "\n");
  return absl::OkStatus();
}

absl::Status IndexedRecordWriter::Close() {
  COOPER_RETURN_IF_ERROR(writer_->Close());
  return WriteFileAtomically(idx_path_, index_);
}

}  // namespace cooper
