#include "ndarray/array/device_graphs.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace cooper {
namespace {

bool IsAskedFor(const char* setting) {
  const char* text = std::getenv("COOPER_DEVICE_GRAPHS");
  return text != nullptr && std::strcmp(text, setting) == 0;
}

std::atomic<bool>& On() {
  static std::atomic<bool> on = !IsAskedFor("0");
  return on;
}

}  // namespace

bool DeviceGraphsAreOn() { return On(); }
void SetDeviceGraphs(bool on) { On() = on; }

bool DeviceGraphsFromFirstRun() {
  static const bool from_first_run = IsAskedFor("2");
  return from_first_run;
}

}  // namespace cooper
