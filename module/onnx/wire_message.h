#ifndef COOPER_MODULE_ONNX_WIRE_MESSAGE_H_
#define COOPER_MODULE_ONNX_WIRE_MESSAGE_H_

// Writes protobuf's wire format (https://protobuf.dev/programming-guides/encoding): fields of
// numbers, bytes and nested messages. ONNX files need no more of protobuf, and a dependency on it
// would enter the build of everyone who uses cooper, where its version must suit all others.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cooper {

// A message under construction: fields in the order in which they are added. Large bytes are
// referred to, not copied.
class WireMessage {
 public:
  // Adds a field of type int32, int64 or enum.
  void AddInt(int field, int64_t value);
  // Adds a field of type float.
  void AddFloat(int field, float value);
  // Adds a field of type string or bytes, with a copy of `bytes`.
  void AddBytes(int field, absl::string_view bytes);
  // Adds a field of type bytes that refers to `bytes`: they must live until Write has returned.
  void AddLargeBytes(int field, absl::string_view bytes);
  // Adds a nested message, which `message` becomes a part of.
  void AddMessage(int field, WireMessage message);

  // Returns the bytes that Write writes, without the memory for them.
  int64_t size() const { return size_; }

  // Passes the bytes of the message to `append`, part by part. Returns the first error of `append`.
  absl::Status Write(absl::FunctionRef<absl::Status(absl::string_view)> append) const;

 private:
  // Bytes of the message: `own`, then those that `large` refers to.
  struct Part {
    std::string own;
    absl::string_view large;
  };

  // Returns the string to append to: that of the last part, or of a new one if it ends with bytes
  // that are referred to.
  std::string& Tail();
  void AppendVarint(uint64_t value);
  void AppendTag(int field, int wire_type);
  void Append(absl::string_view bytes);

  std::vector<Part> parts_;
  int64_t size_ = 0;
};

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_WIRE_MESSAGE_H_
