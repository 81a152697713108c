#ifndef COOPER_IO_RECORDS_RECORD_FORMAT_H_
#define COOPER_IO_RECORDS_RECORD_FORMAT_H_

// The framing of RecordIO files (.rec), which MXNet and dmlc-core write.
//
// A file is a sequence of parts. A part is the magic number, a word with its kind (the upper three
// bits) and its number of bytes (the lower 29), the bytes, and zeros up to a multiple of four.
// Words are little-endian. A record whose bytes contain the magic number at a multiple of four is
// split there into several parts, and the magic number is left out. In a file, the magic number at
// a multiple of four is therefore always the head of a part.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cooper {

inline constexpr uint32_t kRecordMagic = 0xced7230a;
inline constexpr int64_t kRecordWordBytes = 4;
inline constexpr int64_t kPartHeadBytes = 8;
// The greatest size of a record: MXNet's writer accepts no longer one.
inline constexpr int64_t kMaxRecordBytes = (int64_t{1} << 29) - 1;

// The kind of a part: a whole record, or the first, a middle or the last part of one that was
// split.
enum class RecordPart { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

// The head of a part, decoded. Between two parts of a record belongs the magic number that was left
// out.
struct PartHead {
  RecordPart part = RecordPart::kWhole;
  int64_t bytes = 0;  // without the padding

  // Returns whether a record begins with the part, and whether one ends with it.
  bool begins() const { return part == RecordPart::kWhole || part == RecordPart::kFirst; }
  bool ends() const { return part == RecordPart::kWhole || part == RecordPart::kLast; }
  // Returns the size of the part in the file: its head, its bytes and the padding.
  int64_t file_bytes() const {
    return kPartHeadBytes + (bytes + kRecordWordBytes - 1) / kRecordWordBytes * kRecordWordBytes;
  }
};

// Parses the head of a part from its kPartHeadBytes bytes. nullopt if they are none.
std::optional<PartHead> ParsePartHead(absl::string_view head);

// Appends the parts of a record to `out`. kInvalidArgument if it has more than kMaxRecordBytes.
absl::Status AppendRecord(absl::string_view record, std::string* out);

}  // namespace cooper

#endif  // COOPER_IO_RECORDS_RECORD_FORMAT_H_
