// Reads the lengths of records in RecordIO files from the headers of their parts only.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/file_kind.h"
#include "ndarray/base/status_macros.h"
#include "tools/buckets/sample_lengths.h"

namespace cooper {
namespace {

constexpr uint32_t kMagic = 0xced7230a;
// Bits of the length in the word after the magic number; the upper three bits tell which part it
// is.
constexpr int kLengthBits = 29;
enum Part { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

uint32_t Word(const unsigned char* bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

// Fails if the file is of another known kind, and names the kind. A short read is left to the loop
// over the records.
absl::Status CheckKind(std::ifstream& file) {
  char begin[1024];
  file.read(begin, sizeof(begin));
  const absl::string_view bytes(begin, static_cast<size_t>(file.gcount()));
  file.clear();
  const std::string foreign = DescribeForeignFile(bytes, FileKind::kRecords);
  if (foreign.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("not a RecordIO file (.rec)", foreign));
}

}  // namespace

absl::StatusOr<SampleLengths> RecordLengths(const std::string& path, const RecordLayout& layout) {
  if (layout.header_bytes < 0 || layout.bytes_per_token < 1) {
    return absl::InvalidArgumentError(absl::StrCat("records: header_bytes is ", layout.header_bytes,
                                                   ", bytes_per_token ", layout.bytes_per_token));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("records '", path, "' cannot be read"));
  COOPER_RETURN_IF_ERROR(AddContext(CheckKind(file), "records '", path, "'"));
  file.seekg(0, std::ios::end);
  const int64_t end = file.tellg();
  SampleLengths lengths{.noun = "record"};
  int64_t begin = 0;    // of the record
  int64_t length = -1;  // of its parts so far; -1: none has begun
  for (int64_t at = 0; at < end;) {
    const auto error = [&](const auto&... what) {
      return absl::InvalidArgumentError(
          absl::StrCat("records '", path, "', offset ", at, ": ", what...));
    };
    unsigned char head[8];
    file.seekg(at);
    if (!file.read(reinterpret_cast<char*>(head), sizeof(head)) || Word(head) != kMagic) {
      return error("no record");
    }
    const uint32_t part = Word(head + 4) >> kLengthBits;
    const int64_t bytes = Word(head + 4) & ((1u << kLengthBits) - 1);
    if (part > kLast || (part == kWhole || part == kFirst) != (length < 0)) {
      return error("a part of a record out of its place");
    }
    if (length < 0) begin = at;
    // The magic number at which the writer split the record belongs to it.
    length = length < 0 ? bytes : length + static_cast<int64_t>(sizeof(kMagic)) + bytes;
    const int64_t next = at + static_cast<int64_t>(sizeof(head)) + (bytes + 3) / 4 * 4;
    if (next > end) return error("the record ends behind the file");
    if (part == kWhole || part == kLast) {
      if (length < layout.header_bytes) {
        at = begin;
        return error("the record has ", length, " bytes, fewer than its header of ",
                     layout.header_bytes);
      }
      const int64_t tokens =
          (length - layout.header_bytes + layout.bytes_per_token - 1) / layout.bytes_per_token;
      if (tokens > kMaxSampleLength) {
        at = begin;
        return error("the record has more than ", kMaxSampleLength, " tokens");
      }
      if (tokens > 0) {
        lengths.first.push_back(tokens);
      } else {
        ++lengths.empty;
      }
      length = -1;
    }
    at = next;
  }
  if (length >= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("records '", path, "', offset ", begin, ": the last part is missing"));
  }
  if (!lengths.first.empty()) return lengths;
  return absl::InvalidArgumentError(
      absl::StrCat("records '", path, "': there is no length above 0"));
}

}  // namespace cooper
