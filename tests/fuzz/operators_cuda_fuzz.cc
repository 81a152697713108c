// Fuzzes random networks of operators on gpu(0) against the CPU: both reject them, or neither; and
// with small, finite numbers outputs, gradients and auxiliary states agree up to rounding. With
// COOPER_FUZZ_KEEP_GOING it reports all differences instead of ending at the first.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "ndarray/array/device.h"
#include "ndarray/base/context.h"
#include "symbol/json/json.h"
#include "tests/fuzz/compare_results.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/random_network.h"

namespace cooper {
namespace {

bool HasGpu() {
  static const bool has = [] {
    const absl::Status status = FindDevice(Context::Gpu(0)).status();
    if (!status.ok()) std::cout << "nothing to compare: " << status.message() << "\n";
    return status.ok();
  }();
  return has;
}

// Returns whether CPU and GPU must compute the same. Kernels of _shuffle draw different
// permutations.
bool DevicesAgree(absl::string_view json) {
  return OutputsFollowFromInputs(json) && !absl::StrContains(json, "\"_shuffle\"");
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8 || !cooper::HasGpu()) return 0;
  const bool tame = size % 4 != 0;
  cooper::FuzzInput cpu_input(data, size), gpu_input(data, size);
  cooper::RandomNetwork on_cpu(cpu_input, tame), on_gpu(gpu_input, tame);
  if (!on_cpu.Make() || !on_gpu.Make()) return 0;
  const auto cpu_results = on_cpu.Run(cooper::Context::Cpu());
  const std::string json = cooper::SymbolToJson(on_cpu.symbol());
  const std::string difference = cooper::Difference(
      cpu_results, on_gpu.Run(cooper::Context::Gpu(0)), tame && cooper::DevicesAgree(json));
  if (difference.empty()) return 0;
  const std::string text = absl::StrCat("CPU and GPU differ: ", difference, "\n", json);
  CHECK(std::getenv("COOPER_FUZZ_KEEP_GOING") != nullptr) << text;
  std::cerr << text << "\n";
  return 0;
}
