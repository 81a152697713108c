// Reads the lengths of records in RecordIO files from the heads of their parts only.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/records/record_reader.h"
#include "ndarray/base/status_macros.h"
#include "tools/buckets/sample_lengths.h"

namespace cooper {

absl::StatusOr<SampleLengths> RecordLengths(const std::string& path, const RecordLayout& layout) {
  if (layout.header_bytes < 0 || layout.bytes_per_token < 1) {
    return absl::InvalidArgumentError(absl::StrCat("records: header_bytes is ", layout.header_bytes,
                                                   ", bytes_per_token ", layout.bytes_per_token));
  }
  COOPER_ASSIGN_OR_RETURN(const auto reader, AddContext(RecordReader::Open(path), "records"));
  SampleLengths lengths{.noun = "record"};
  while (true) {
    const int64_t begin = reader->Tell();
    COOPER_ASSIGN_OR_RETURN(const std::optional<int64_t> bytes,
                            AddContext(reader->ReadLength(), "records"));
    if (!bytes.has_value()) break;
    const auto error = [&](const auto&... what) {
      return absl::InvalidArgumentError(
          absl::StrCat("records: '", path, "', offset ", begin, ": the record has ", what...));
    };
    if (*bytes < layout.header_bytes) {
      return error(*bytes, " bytes, fewer than its header of ", layout.header_bytes);
    }
    const int64_t tokens =
        (*bytes - layout.header_bytes + layout.bytes_per_token - 1) / layout.bytes_per_token;
    if (tokens > kMaxSampleLength) return error("more than ", kMaxSampleLength, " tokens");
    if (tokens > 0) {
      lengths.first.push_back(tokens);
    } else {
      ++lengths.empty;
    }
  }
  if (!lengths.first.empty()) return lengths;
  return absl::InvalidArgumentError(
      absl::StrCat("records: '", path, "': there is no length above 0"));
}

}  // namespace cooper
