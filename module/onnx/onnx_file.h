#ifndef COOPER_MODULE_ONNX_ONNX_FILE_H_
#define COOPER_MODULE_ONNX_ONNX_FILE_H_

// Writes ONNX files: the message ModelProto of the ONNX specification (onnx.proto), whose field
// numbers are in the source, in protobuf's wire format (wire_message.h). cooper does not read them.

#include <string>

#include "absl/status/status.h"
#include "module/onnx/onnx_model.h"

namespace cooper {

// Replaces the file at `path` by the model (ndarray/base/atomic_file.h). Weights are written from
// the arrays where they are, so no second copy is in memory.
//
// kInvalidArgument for a model of 2 GiB or more, which no reader of protobuf takes; then the file
// at `path` stays as it was. Other errors are those of AtomicFile.
absl::Status WriteOnnxModel(const OnnxModel& model, const std::string& path);

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_ONNX_FILE_H_
