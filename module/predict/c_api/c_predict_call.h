#ifndef COOPER_MODULE_PREDICT_C_API_C_PREDICT_CALL_H_
#define COOPER_MODULE_PREDICT_C_API_C_PREDICT_CALL_H_

// The common part of the C interface's functions: checks of pointers, and the conversion of a
// Status to a return code and a message.

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Calls `body`, and keeps exceptions out of C. Returns 0; or -1 after an error or exception, whose
// text MXGetLastError of this thread then returns.
int Call(absl::FunctionRef<absl::Status()> body);

// kInvalidArgument, naming it, for a null pointer.
absl::Status CheckPointer(const void* pointer, const char* name);

// Returns the extents in the interface's type.
std::vector<uint32_t> Dims(const Shape& shape);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_C_API_C_PREDICT_CALL_H_
