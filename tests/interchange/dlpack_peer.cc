// A C interface to ndarray/dlpack for torch_dlpack.py, which calls it through ctypes.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/dlpack/dlpack.h"

namespace cooper {
namespace {

// The storage of the last array that was exported.
std::weak_ptr<Storage>& LastExported() {
  static auto* last = new std::weak_ptr<Storage>;
  return *last;
}

absl::StatusOr<void*> Export(const char* dtype, bool versioned, bool read_only) {
  COOPER_ASSIGN_OR_RETURN(const NDArray floats,
                          NDArray::FromVector<float>({2, 3}, {0, 1, 2, 3, 4, 5}));
  COOPER_ASSIGN_OR_RETURN(const DType type, DTypeFromName(dtype));
  COOPER_ASSIGN_OR_RETURN(const NDArray array, floats.AsType(type));
  LastExported() = array.storage();
  if (versioned) {
    COOPER_ASSIGN_OR_RETURN(DLManagedTensorVersionedPtr tensor,
                            ToDLPackVersioned(array, {.read_only = read_only}));
    return tensor.release();
  }
  COOPER_ASSIGN_OR_RETURN(DLManagedTensorPtr tensor, ToDLPack(array));
  return tensor.release();
}

absl::StatusOr<NDArray> Import(void* tensor, bool versioned, bool copy) {
  const FromDLPackOptions options = {.copy = copy ? DLPackCopy::kIfNeeded : DLPackCopy::kNever};
  if (versioned) return FromDLPack(static_cast<DLManagedTensorVersioned*>(tensor), options);
  return FromDLPack(static_cast<DLManagedTensor*>(tensor), options);
}

}  // namespace
}  // namespace cooper

extern "C" {

// Returns a tensor of shape (2, 3) with the elements 0 to 5, or null.
void* PeerExport(const char* dtype, int versioned, int read_only) {
  return cooper::Export(dtype, versioned != 0, read_only != 0).value_or(nullptr);
}

// Returns whether the array that was exported last still exists.
int PeerExportedLives() { return cooper::LastExported().expired() ? 0 : 1; }

// Returns an array, for PeerRelease, that has taken the tensor; null, with a message, if it was not
// taken. The message has room for 1,000 bytes.
void* PeerImport(void* tensor, int versioned, int copy, char* message) {
  const absl::StatusOr<cooper::NDArray> array = cooper::Import(tensor, versioned != 0, copy != 0);
  if (array.ok()) return new cooper::NDArray(*array);
  std::snprintf(message, 1000, "%s", array.status().ToString().c_str());
  return nullptr;
}

void PeerRelease(void* array) { delete static_cast<cooper::NDArray*>(array); }

const void* PeerAddress(void* array) { return static_cast<cooper::NDArray*>(array)->raw_data(); }

// Returns the dtype's name, which lives forever.
const char* PeerDType(void* array) {
  return cooper::DTypeName(static_cast<cooper::NDArray*>(array)->dtype());
}

// Copies the elements to `out` and returns their number, or -1 if there are more than `room`.
int64_t PeerElements(void* array, double* out, int64_t room) {
  const absl::StatusOr<std::vector<double>> values =
      static_cast<cooper::NDArray*>(array)->ToVector<double>();
  if (!values.ok() || static_cast<int64_t>(values->size()) > room) return -1;
  std::copy(values->begin(), values->end(), out);
  return static_cast<int64_t>(values->size());
}

int PeerFill(void* array, double value) {
  return static_cast<cooper::NDArray*>(array)->Fill(value).ok() ? 1 : 0;
}

}  // extern "C"
