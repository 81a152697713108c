#ifndef COOPER_IO_RECORDS_IR_HEADER_H_
#define COOPER_IO_RECORDS_IR_HEADER_H_

// The header that MXNet puts before an image or another payload in a record: labels and an id, as
// mx.recordio.IRHeader, pack and unpack.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cooper {

// The number of bytes of a header without an array of labels.
inline constexpr int64_t kIRHeaderBytes = 24;

// In the file: flag, label, id and id2 as little-endian numbers of 4, 4, 8 and 8 bytes, then `flag`
// floats.
struct IRHeader {
  // The number of elements of `labels`. Unpack sets it; Pack ignores it.
  uint32_t flag = 0;
  float label = 0;            // the label, if `labels` is empty
  std::vector<float> labels;  // stored in place of `label`, if not empty
  uint64_t id = 0;            // usually the number of the sample
  uint64_t id2 = 0;           // the upper bits of the id; usually 0

  friend bool operator==(const IRHeader&, const IRHeader&) = default;
};

// Returns the record that holds the header and, behind it, the payload.
std::string Pack(const IRHeader& header, absl::string_view payload);

// The result of Unpack. The labels are copied; the payload is not.
struct UnpackedRecord {
  IRHeader header;
  absl::string_view payload;  // a view of the record
};

// Splits a record. `payload` is valid as long as the bytes of `record`. kInvalidArgument if the
// record is shorter than its header and the labels that the header announces.
absl::StatusOr<UnpackedRecord> Unpack(absl::string_view record);

}  // namespace cooper

#endif  // COOPER_IO_RECORDS_IR_HEADER_H_
