#include "ndarray/device_graphs.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace cooper {
namespace {

std::atomic<bool>& On() {
  static std::atomic<bool> on = [] {
    const char* text = std::getenv("COOPER_DEVICE_GRAPHS");
    return text == nullptr || std::strcmp(text, "0") != 0;
  }();
  return on;
}

}  // namespace

bool DeviceGraphsAreOn() { return On(); }
void SetDeviceGraphs(bool on) { On() = on; }

}  // namespace cooper
