#include "io/records/ir_header.h"

#include <cstddef>
#include <cstring>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

#ifndef ABSL_IS_LITTLE_ENDIAN
#error "the fields of a record's header are little-endian; they are copied as they are"
#endif

// The header in a record: MXNet's struct format "IfQQ".
struct Fields {
  uint32_t flag;
  float label;
  uint64_t id;
  uint64_t id2;
};
static_assert(sizeof(Fields) == kIRHeaderBytes);

}  // namespace

std::string Pack(const IRHeader& header, absl::string_view payload) {
  const bool is_array = !header.labels.empty();
  const Fields fields = {.flag = static_cast<uint32_t>(header.labels.size()),
                         .label = is_array ? 0 : header.label,
                         .id = header.id,
                         .id2 = header.id2};
  std::string record;
  record.reserve(sizeof(fields) + header.labels.size() * sizeof(float) + payload.size());
  record.append(reinterpret_cast<const char*>(&fields), sizeof(fields));
  record.append(reinterpret_cast<const char*>(header.labels.data()),
                header.labels.size() * sizeof(float));
  record.append(payload.data(), payload.size());
  return record;
}

absl::StatusOr<UnpackedRecord> Unpack(absl::string_view record) {
  Fields fields;
  if (record.size() < sizeof(fields)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a record of ", record.size(), " bytes has no header, which has ", sizeof(fields)));
  }
  std::memcpy(&fields, record.data(), sizeof(fields));
  record.remove_prefix(sizeof(fields));
  if (fields.flag > record.size() / sizeof(float)) {
    return absl::InvalidArgumentError(absl::StrCat("the header of a record announces ", fields.flag,
                                                   " labels of ", sizeof(float), " bytes, ",
                                                   record.size(), " bytes follow"));
  }
  UnpackedRecord unpacked{.header = {.flag = fields.flag,
                                     .label = fields.label,
                                     .labels = std::vector<float>(fields.flag),
                                     .id = fields.id,
                                     .id2 = fields.id2},
                          .payload = record.substr(fields.flag * sizeof(float))};
  if (fields.flag > 0) {
    std::memcpy(unpacked.header.labels.data(), record.data(), fields.flag * sizeof(float));
  }
  return unpacked;
}

}  // namespace cooper
