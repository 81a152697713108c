#include "module/predict/c_api/c_predict_call.h"

#include <exception>
#include <string>

#include "absl/strings/str_cat.h"
#include "module/predict/c_api/c_predict_api.h"

namespace cooper {
namespace {

thread_local std::string last_error;

}  // namespace

int Call(absl::FunctionRef<absl::Status()> body) {
  absl::Status status;
  try {
    status = body();
  } catch (const std::exception& e) {
    status = absl::InternalError(e.what());
  } catch (...) {
    status = absl::InternalError("a callback threw what is no std::exception");
  }
  if (status.ok()) return 0;
  last_error = absl::StrCat(status.message());
  return -1;
}

absl::Status CheckPointer(const void* pointer, const char* name) {
  return pointer != nullptr ? absl::OkStatus()
                            : absl::InvalidArgumentError(absl::StrCat(name, " is null"));
}

std::vector<uint32_t> Dims(const Shape& shape) {
  return std::vector<uint32_t>(shape.dims().begin(), shape.dims().end());
}

}  // namespace cooper

// NOLINTNEXTLINE(readability-identifier-naming): MXNet's name.
const char* MXGetLastError() { return cooper::last_error.c_str(); }
