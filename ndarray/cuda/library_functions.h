#ifndef COOPER_NDARRAY_CUDA_LIBRARY_FUNCTIONS_H_
#define COOPER_NDARRAY_CUDA_LIBRARY_FUNCTIONS_H_

// Looks up the functions of a CUDA library that is opened at run time (dynload.h), and reports an
// error if the library or a function is missing.
//
//   LibraryFunctions library("libcublas.so.13");
//   library.Find("cublasCreate_v2", functions.create);
//   COOPER_RETURN_IF_ERROR(library.status());

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ndarray/cuda/dynload.h"

namespace cooper {

// The functions of one library. Opens the library at the first lookup. Functions stay valid for the
// rest of the program, because libraries are never closed. Not thread-safe.
class LibraryFunctions {
 public:
  // `purpose` completes the error message: " is needed for products on a gpu and".
  explicit LibraryFunctions(std::string soname, absl::string_view purpose = "")
      : soname_(std::move(soname)), purpose_(purpose) {}

  // Sets `function`; if it is missing, sets it to null and makes status() an error.
  template <typename Function>
  void Find(const char* symbol, Function& function) {
    FindOptional(symbol, function);
    if (function == nullptr) absl::StrAppend(&missing_, " ", symbol);
  }
  // Sets `function`; a missing optional function is null and is not an error. Function is a pointer
  // to a function of the library's signature, which is not checked.
  template <typename Function>
  void FindOptional(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>(CudaSymbol(soname_.c_str(), symbol));
  }

  // Returns kFailedPrecondition if the library or a function passed to Find is missing.
  absl::Status status() const {
    if (LoadCudaLibrary(soname_.c_str()) == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          soname_, purpose_,
          " was not found: looked in the folders of $COOPER_CUDA_LIB_PATH, where the loader looks, "
          "and in /usr/local/cuda/lib64"));
    }
    if (missing_.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(soname_, " has no", missing_));
  }

 private:
  const std::string soname_;
  const std::string purpose_;
  std::string missing_;
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_LIBRARY_FUNCTIONS_H_
