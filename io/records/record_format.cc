#include "io/records/record_format.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

constexpr int kLengthBits = 29;
constexpr uint32_t kLengthMask = (uint32_t{1} << kLengthBits) - 1;

uint32_t LoadWord(absl::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) {
    word |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return word;
}

void AppendWord(uint32_t word, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(word >> shift));
}

void AppendPart(RecordPart part, absl::string_view bytes, std::string* out) {
  AppendWord(kRecordMagic, out);
  AppendWord(static_cast<uint32_t>(part) << kLengthBits | static_cast<uint32_t>(bytes.size()), out);
  out->append(bytes.data(), bytes.size());
}

}  // namespace

std::optional<PartHead> ParsePartHead(absl::string_view head) {
  if (head.size() < kPartHeadBytes || LoadWord(head, 0) != kRecordMagic) return std::nullopt;
  const uint32_t word = LoadWord(head, 4);
  const uint32_t part = word >> kLengthBits;
  if (part > static_cast<uint32_t>(RecordPart::kLast)) return std::nullopt;
  return PartHead{.part = static_cast<RecordPart>(part), .bytes = word & kLengthMask};
}

absl::Status AppendRecord(absl::string_view record, std::string* out) {
  if (static_cast<int64_t>(record.size()) > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a record of ", record.size(), " bytes, expected at most ", kMaxRecordBytes));
  }
  size_t begin = 0;  // of the bytes that are in no part yet
  for (size_t at = 0; at + 4 <= record.size(); at += 4) {
    if (LoadWord(record, at) != kRecordMagic) continue;
    AppendPart(begin == 0 ? RecordPart::kFirst : RecordPart::kMiddle,
               record.substr(begin, at - begin), out);
    begin = at + 4;
  }
  AppendPart(begin == 0 ? RecordPart::kWhole : RecordPart::kLast, record.substr(begin), out);
  out->append((4 - record.size() % 4) % 4, '\0');
  return absl::OkStatus();
}

}  // namespace cooper
