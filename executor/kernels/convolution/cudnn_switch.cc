#include "executor/kernels/convolution/cudnn_switch.h"

#include <atomic>
#include <cstdlib>

#include "absl/strings/string_view.h"

namespace cooper {
namespace {

// Returns an empty string if the variable is not set.
absl::string_view Variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::atomic<CudnnUse>& Use() {
  static std::atomic<CudnnUse> use = [] {
    const absl::string_view text = Variable("COOPER_CUDNN");
    return text == "0"   ? CudnnUse::kNever
           : text == "1" ? CudnnUse::kAlways
                         : CudnnUse::kWhereFaster;
  }();
  return use;
}

}  // namespace

CudnnUse GetCudnnUse() { return Use(); }
void SetCudnnUse(CudnnUse use) { Use() = use; }

bool CudnnTunesByDefault() {
  static const bool tunes = Variable("COOPER_CUDNN_TUNE") == "1";
  return tunes;
}

}  // namespace cooper
