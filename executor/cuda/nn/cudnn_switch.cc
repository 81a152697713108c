#include "executor/cuda/nn/cudnn_switch.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "absl/strings/string_view.h"

namespace cooper {
namespace {

std::atomic<CudnnUse>& Use() {
  static std::atomic<CudnnUse> use = [] {
    const char* variable = std::getenv("COOPER_CUDNN");
    const absl::string_view text = variable == nullptr ? "" : variable;
    return text == "0"   ? CudnnUse::kNever
           : text == "1" ? CudnnUse::kAlways
                         : CudnnUse::kWhereFaster;
  }();
  return use;
}

}  // namespace

CudnnUse TheCudnnUse() { return Use(); }
void SetCudnnUse(CudnnUse use) { Use() = use; }

bool CudnnTunesByDefault() {
  const char* text = std::getenv("COOPER_CUDNN_TUNE");
  return text != nullptr && std::strcmp(text, "1") == 0;
}

}  // namespace cooper
