#include "io/records/record_reader.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/file_kind.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The bytes of the magic number in a file.
constexpr absl::string_view kMagicBytes = "\x0a\x23\xd7\xce";

}  // namespace

RecordReader::RecordReader(std::unique_ptr<RecordFile> file, bool skip_corrupted)
    : file_(std::move(file)), skip_corrupted_(skip_corrupted) {}

absl::StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(
    const std::string& path, const RecordReaderOptions& options) {
  COOPER_ASSIGN_OR_RETURN(auto file, RecordFile::Open(path));
  if (file->size() > 0 && !options.skip_corrupted) {
    COOPER_ASSIGN_OR_RETURN(const absl::string_view bytes, file->Peek(0, 1));
    const std::string foreign = DescribeForeignFile(bytes, FileKind::kRecords);
    if (!foreign.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", path, "': not a RecordIO file (.rec)", foreign));
    }
  }
  return absl::WrapUnique(new RecordReader(std::move(file), options.skip_corrupted));
}

absl::StatusOr<bool> RecordReader::Read(std::string* record) {
  COOPER_ASSIGN_OR_RETURN(const std::optional<int64_t> bytes, Next(record));
  return bytes.has_value();
}

absl::StatusOr<std::optional<int64_t>> RecordReader::ReadLength() { return Next(nullptr); }

absl::Status RecordReader::Seek(int64_t offset) {
  if (offset < 0 || offset > size() || offset % kRecordWordBytes != 0) {
    return absl::OutOfRangeError(absl::StrCat("'", path(), "': offset ", offset,
                                              " is not a multiple of 4 in its ", size(), " bytes"));
  }
  offset_ = offset;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> RecordReader::FindRecord(int64_t offset) {
  int64_t at =
      (std::max<int64_t>(offset, 0) + kRecordWordBytes - 1) / kRecordWordBytes * kRecordWordBytes;
  while (at + kPartHeadBytes <= size()) {
    COOPER_ASSIGN_OR_RETURN(const absl::string_view bytes, file_->Peek(at, kPartHeadBytes));
    // Only heads that are complete in the buffer are looked at; the next buffer begins with the one
    // that is not.
    size_t i = 0;
    for (; i + kPartHeadBytes <= bytes.size(); i += kRecordWordBytes) {
      const auto head = ParsePartHead(bytes.substr(i, kPartHeadBytes));
      const int64_t begin = at + static_cast<int64_t>(i);
      if (head.has_value() && head->begins() && head->file_bytes() <= size() - begin) return begin;
    }
    at += static_cast<int64_t>(i);
  }
  return size();
}

absl::StatusOr<std::optional<int64_t>> RecordReader::Next(std::string* record) {
  int64_t begin = offset_;
  SkippedRecords skipped = skipped_;
  while (begin < size()) {
    const absl::StatusOr<Extent> extent = FindExtent(begin);
    if (extent.ok()) {
      if (record != nullptr) COOPER_RETURN_IF_ERROR(ReadPayload(begin, *extent, record));
      offset_ = extent->end;
      skipped_ = skipped;
      return extent->bytes;
    }
    if (!skip_corrupted_ || !absl::IsDataLoss(extent.status())) return extent.status();
    COOPER_ASSIGN_OR_RETURN(const int64_t next, FindRecord(begin + kRecordWordBytes));
    // Two damaged records in a row are one region.
    if (begin == offset_) ++skipped.regions;
    skipped.bytes += next - begin;
    begin = next;
  }
  offset_ = size();
  skipped_ = skipped;
  return std::nullopt;
}

// Checks the heads of the record that begins at `begin`.
absl::StatusOr<RecordReader::Extent> RecordReader::FindExtent(int64_t begin) {
  Extent extent{.end = begin};
  for (bool ends = false; !ends;) {
    const int64_t at = extent.end;
    if (at >= size()) return Corrupted(begin, "the last part of the record is missing");
    COOPER_ASSIGN_OR_RETURN(const PartHead head, ReadHead(at, /*begins=*/at == begin));
    // The magic number stands between two parts.
    extent.bytes += head.bytes + (at == begin ? 0 : kRecordWordBytes);
    if (extent.bytes > kMaxRecordBytes) {
      return Corrupted(begin, absl::StrCat("the record has more than ", kMaxRecordBytes, " bytes"));
    }
    extent.end += head.file_bytes();
    ends = head.ends();
  }
  return extent;
}

// Reads the payload of the record that begins at `begin` and whose heads are valid.
absl::Status RecordReader::ReadPayload(int64_t begin, const Extent& extent, std::string* record) {
  record->resize(static_cast<size_t>(extent.bytes));
  char* out = record->data();
  for (int64_t at = begin; at < extent.end;) {
    COOPER_ASSIGN_OR_RETURN(const PartHead head, ReadHead(at, /*begins=*/at == begin));
    if (at != begin) out = std::copy(kMagicBytes.begin(), kMagicBytes.end(), out);
    COOPER_RETURN_IF_ERROR(file_->Read(at + kPartHeadBytes, head.bytes, out));
    out += head.bytes;
    at += head.file_bytes();
  }
  return absl::OkStatus();
}

// Reads the head of a part, which begins a record or continues one, and checks that the part is
// inside the file.
absl::StatusOr<PartHead> RecordReader::ReadHead(int64_t at, bool begins) {
  const int64_t rest = size() - at;
  if (rest < kPartHeadBytes) {
    return Corrupted(at, absl::StrCat("the file ends after ", rest, " bytes of the ",
                                      kPartHeadBytes, " of a record's head"));
  }
  COOPER_ASSIGN_OR_RETURN(const absl::string_view bytes, file_->Peek(at, kPartHeadBytes));
  const std::optional<PartHead> head = ParsePartHead(bytes.substr(0, kPartHeadBytes));
  if (!head.has_value()) {
    return Corrupted(
        at, absl::StrCat("no record begins here: the bytes are ",
                         absl::BytesToHexString(bytes.substr(0, kPartHeadBytes)), ", expected ",
                         absl::BytesToHexString(kMagicBytes), " and a length"));
  }
  if (head->begins() != begins) {
    return Corrupted(at, begins ? "a record begins with a later part of one"
                                : "the rest of a record in several parts is missing");
  }
  if (head->file_bytes() > rest) {
    return Corrupted(at, absl::StrCat("a record claims ", head->bytes,
                                      " bytes, the file ends after ", rest - kPartHeadBytes));
  }
  return *head;
}

absl::Status RecordReader::Corrupted(int64_t at, absl::string_view what) const {
  return absl::DataLossError(absl::StrCat("'", path(), "', offset ", at, ": ", what));
}

}  // namespace cooper
