#include "tests/fuzz/compare_results.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"

namespace cooper {
namespace {

// Returns the relative change of a value of this dtype by rounding and the order of sums.
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

// Describes the first difference; empty if there is none.
std::string Difference(const NDArray& expected, const NDArray& actual) {
  if (expected.shape() != actual.shape() || expected.dtype() != actual.dtype()) {
    return absl::StrCat(expected.ToString(), " and ", actual.ToString());
  }
  const std::vector<double> a = *expected.AsType(DType::kFloat64)->ToVector<double>();
  const std::vector<double> b = *actual.AsType(DType::kFloat64)->ToVector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (Equal(a[i], b[i], Tolerance(expected.dtype()))) continue;
    return absl::StrCat("element ", i, " of ", expected.ToString(), ": ", a[i], " and ", b[i]);
  }
  return "";
}

}  // namespace

std::string Difference(const RandomNetwork::Results& expected, const RandomNetwork::Results& actual,
                       bool values) {
  using Results = RandomNetwork::Results;
  for (const auto step : {&Results::bind, &Results::forward, &Results::backward}) {
    const absl::Status &a = expected.*step, &b = actual.*step;
    // One side has no kernel, or none for the dtype.
    if (absl::IsUnimplemented(a) || absl::IsUnimplemented(b)) return "";
    if (absl::IsResourceExhausted(a) || absl::IsResourceExhausted(b)) return "";
    if (a.code() != b.code()) return absl::StrCat(a.ToString(), " and ", b.ToString());
    if (!a.ok()) return "";
  }
  if (!values) return "";
  if (expected.arrays.size() != actual.arrays.size()) return "not the same arrays can be read";
  for (size_t i = 0; i < expected.arrays.size(); ++i) {
    const auto& [name, array] = expected.arrays[i];
    const std::string difference = Difference(array, actual.arrays[i].second);
    if (!difference.empty()) return absl::StrCat(name, ": ", difference);
  }
  return "";
}

bool OutputsFollowFromInputs(absl::string_view json) {
  return !absl::StrContains(json, "init_output");
}

}  // namespace cooper
