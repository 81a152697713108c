#include "executor/cuda/nn/cudnn_switch.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace cooper {
namespace {

std::atomic<bool>& On() {
  static std::atomic<bool> on = [] {
    const char* text = std::getenv("COOPER_CUDNN");
    return text == nullptr || std::strcmp(text, "0") != 0;
  }();
  return on;
}

}  // namespace

bool CudnnIsOn() { return On(); }
void SetCudnn(bool on) { On() = on; }

}  // namespace cooper
