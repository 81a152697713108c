// Random networks of operators give on gpu(0) what they give on the CPU: they are refused, or not,
// alike, and where numbers are small and finite so are outputs, gradients and auxiliary states but
// for rounding. COOPER_FUZZ_KEEP_GOING tells all that differ, rather than to end at the first.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "ndarray/context.h"
#include "ndarray/device.h"
#include "ndarray/ndarray.h"
#include "symbol/json.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/random_network.h"

namespace cooper {
namespace {

// What rounding, and another order of sums, may change, of a value and beside it.
double Tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 1e-6;
    case DType::kFloat32:
      return 2e-3;
    case DType::kFloat16:
      return 3e-2;
    case DType::kBfloat16:
      return 1e-1;
    default:
      return 0;
  }
}

bool Equal(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * (1 + std::max(std::abs(a), std::abs(b)));
}

// Where they differ, or nothing.
std::string Difference(const NDArray& on_cpu, const NDArray& on_gpu) {
  if (on_cpu.shape() != on_gpu.shape() || on_cpu.dtype() != on_gpu.dtype()) {
    return absl::StrCat(on_cpu.ToString(), " and ", on_gpu.ToString());
  }
  const std::vector<double> a = *on_cpu.AsType(DType::kFloat64)->ToVector<double>();
  const std::vector<double> b = *on_gpu.AsType(DType::kFloat64)->ToVector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (Equal(a[i], b[i], Tolerance(on_cpu.dtype()))) continue;
    return absl::StrCat("element ", i, " of ", on_cpu.ToString(), ": ", a[i], " and ", b[i]);
  }
  return "";
}

// What differs between the runs, or nothing.
std::string Difference(const RandomNetwork::Results& on_cpu, const RandomNetwork::Results& on_gpu,
                       bool values) {
  using Results = RandomNetwork::Results;
  for (const auto step : {&Results::bind, &Results::forward, &Results::backward}) {
    const absl::Status &a = on_cpu.*step, &b = on_gpu.*step;
    // There is no kernel, or none for the dtype.
    if (absl::IsUnimplemented(a) || absl::IsUnimplemented(b)) return "";
    if (a.code() != b.code()) return absl::StrCat(a.ToString(), " and ", b.ToString());
    if (!a.ok()) return "";
  }
  if (!values) return "";
  if (on_cpu.arrays.size() != on_gpu.arrays.size()) return "not the same arrays can be read";
  for (size_t i = 0; i < on_cpu.arrays.size(); ++i) {
    const auto& [name, array] = on_cpu.arrays[i];
    const std::string difference = Difference(array, on_gpu.arrays[i].second);
    if (!difference.empty()) return absl::StrCat(name, ": ", difference);
  }
  return "";
}

bool HasGpu() {
  static const bool has = [] {
    const absl::Status status = FindDevice(Context::Gpu(0)).status();
    if (!status.ok()) std::cout << "nothing to compare: " << status.message() << "\n";
    return status.ok();
  }();
  return has;
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
  // Where all_finite is to leave its output as it is, nobody knows what that is.
  const std::string json = cooper::SymbolToJson(on_cpu.symbol());
  const bool comparable = tame && !absl::StrContains(json, "init_output");
  const std::string difference =
      cooper::Difference(cpu_results, on_gpu.Run(cooper::Context::Gpu(0)), comparable);
  if (difference.empty()) return 0;
  const std::string text = absl::StrCat("CPU and GPU differ: ", difference, "\n", json);
  CHECK(std::getenv("COOPER_FUZZ_KEEP_GOING") != nullptr) << text;
  std::cerr << text << "\n";
  return 0;
}
