#ifndef COOPER_MODULE_PREDICT_C_API_C_PREDICT_CALL_H_
#define COOPER_MODULE_PREDICT_C_API_C_PREDICT_CALL_H_

// What every function of the C interface does: it checks pointers, and turns a Status into a number
// and a text.

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Runs what a function of the interface does, which must not throw into C. 0; or -1, and
// MXGetLastError of this thread has the text.
int Call(absl::FunctionRef<absl::Status()> body);

// kInvalidArgument that names it for a null pointer.
absl::Status CheckPointer(const void* pointer, const char* name);

// As the interface has extents.
std::vector<uint32_t> Dims(const Shape& shape);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_C_API_C_PREDICT_CALL_H_
