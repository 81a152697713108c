#include "module/onnx/wire_message.h"

#include <cstring>

#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Types of fields in the wire format.
constexpr int kVarint = 0, kLengthDelimited = 2, kFixed32 = 5;

}  // namespace

std::string& WireMessage::Tail() {
  if (parts_.empty() || !parts_.back().large.empty()) parts_.emplace_back();
  return parts_.back().own;
}

void WireMessage::Append(absl::string_view bytes) {
  Tail().append(bytes.data(), bytes.size());
  size_ += static_cast<int64_t>(bytes.size());
}

void WireMessage::AppendVarint(uint64_t value) {
  char bytes[10];
  int count = 0;
  while (value >= 0x80) {
    bytes[count++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[count++] = static_cast<char>(value);
  Append({bytes, static_cast<size_t>(count)});
}

void WireMessage::AppendTag(int field, int wire_type) {
  AppendVarint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire_type));
}

void WireMessage::AddInt(int field, int64_t value) {
  AppendTag(field, kVarint);
  AppendVarint(static_cast<uint64_t>(value));
}

void WireMessage::AddFloat(int field, float value) {
  AppendTag(field, kFixed32);
  char bytes[sizeof(value)];  // little-endian, as all machines that cooper runs on
  std::memcpy(bytes, &value, sizeof(value));
  Append({bytes, sizeof(bytes)});
}

void WireMessage::AddBytes(int field, absl::string_view bytes) {
  AppendTag(field, kLengthDelimited);
  AppendVarint(bytes.size());
  Append(bytes);
}

void WireMessage::AddLargeBytes(int field, absl::string_view bytes) {
  AppendTag(field, kLengthDelimited);
  AppendVarint(bytes.size());
  parts_.back().large = bytes;
  size_ += static_cast<int64_t>(bytes.size());
}

void WireMessage::AddMessage(int field, WireMessage message) {
  AppendTag(field, kLengthDelimited);
  AppendVarint(static_cast<uint64_t>(message.size_));
  for (Part& part : message.parts_) {
    Tail().append(part.own);
    parts_.back().large = part.large;
  }
  size_ += message.size_;
}

absl::Status WireMessage::Write(absl::FunctionRef<absl::Status(absl::string_view)> append) const {
  for (const Part& part : parts_) {
    if (!part.own.empty()) COOPER_RETURN_IF_ERROR(append(part.own));
    if (!part.large.empty()) COOPER_RETURN_IF_ERROR(append(part.large));
  }
  return absl::OkStatus();
}

}  // namespace cooper
