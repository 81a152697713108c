#include "tests/conformance/case_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"

namespace cooper::conformance {
namespace {

// Returns whether `got` matches, and sets `error` to the difference. An int64 is subtracted as an
// integer, since a double cannot hold every one.
bool ElementMatches(double got, double expected, Tolerance tolerance, double* error) {
  *error = std::abs(got - expected);
  return tolerance.Matches(got, expected);
}
bool ElementMatches(int64_t got, int64_t expected, Tolerance tolerance, double* error) {
  const uint64_t a = static_cast<uint64_t>(got), b = static_cast<uint64_t>(expected);
  *error = static_cast<double>(got > expected ? a - b : b - a);
  return *error <= tolerance.atol + tolerance.rtol * std::abs(static_cast<double>(expected));
}

template <typename T>
absl::Status CompareElements(const std::string& what, const NDArray& got, const NDArray& expected,
                             Tolerance tolerance) {
  COOPER_ASSIGN_OR_RETURN(std::vector<T> a, got.ToVector<T>());
  COOPER_ASSIGN_OR_RETURN(std::vector<T> b, expected.ToVector<T>());
  size_t wrong = 0, worst = 0;
  double worst_error = -1;
  for (size_t i = 0; i < a.size(); ++i) {
    double error;
    if (ElementMatches(a[i], b[i], tolerance, &error)) continue;
    ++wrong;
    error /= tolerance.atol + tolerance.rtol * std::abs(static_cast<double>(b[i]));
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (error > worst_error) {
      worst_error = error;
      worst = i;
    }
  }
  if (wrong == 0) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat(what, " ", expected.shape().ToString(), ": ", wrong,
                                         " of ", a.size(), " elements differ; worst at ", worst,
                                         ": got ", a[worst], ", expected ", b[worst], " (",
                                         absl::StrCat(worst_error), " times the tolerance)"));
}

}  // namespace

Json ReadJson(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  CHECK(text.ok()) << text.status();
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  CHECK(!json.is_discarded()) << path << " is not JSON";
  return json;
}

std::vector<std::string> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<Arrays> ReadArrays(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(NamedArrays list, LoadNamedArrays(path));
  return Arrays(list.begin(), list.end());
}

Arrays WithPrefix(const Arrays& arrays, absl::string_view prefix) {
  Arrays found;
  for (const auto& [name, array] : arrays) {
    if (absl::StartsWith(name, prefix)) found.emplace(name.substr(prefix.size()), array);
  }
  return found;
}

absl::StatusOr<NDArray> FindArray(const Arrays& arrays, const std::string& name) {
  auto it = arrays.find(name);
  if (it == arrays.end()) return absl::NotFoundError(absl::StrCat("the case has no ", name));
  return it->second;
}

PartialShape ShapeFromJson(const Json& json) {
  if (json.is_null()) return PartialShape();
  if (json.is_string()) {
    std::vector<int64_t> extents;
    for (const absl::string_view extent :
         absl::StrSplit(json.get<std::string>(), absl::ByAnyChar("(), "), absl::SkipEmpty())) {
      CHECK(absl::SimpleAtoi(extent, &extents.emplace_back())) << json;
    }
    return PartialShape(Shape(extents));
  }
  return PartialShape::FromMXNet(json.get<std::vector<int64_t>>());
}

double NumberFromJson(const Json& json) {
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
  return json.get<double>();
}

Tolerance Tolerance::FromJson(const Json& json) {
  return {.rtol = json.at("rtol").get<double>(), .atol = json.at("atol").get<double>()};
}

bool Tolerance::Matches(double got, double expected) const {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  return std::abs(got - expected) <= atol + rtol * std::abs(expected);
}

absl::Status CompareArrays(const std::string& what, const NDArray& got, const NDArray& expected,
                           Tolerance tolerance) {
  if (got.is_null() || got.shape() != expected.shape() || got.dtype() != expected.dtype()) {
    return absl::UnknownError(absl::StrCat(what, " is ", got.ToString(), ", expected ",
                                           expected.shape().ToString(), " ",
                                           DTypeName(expected.dtype())));
  }
  if (!got.context().is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(const NDArray copy, got.CopyTo(Context::Cpu()));
    return CompareArrays(what, copy, expected, tolerance);
  }
  if (IsFloating(expected.dtype())) {
    return CompareElements<double>(what, got, expected, tolerance);
  }
  return CompareElements<int64_t>(what, got, expected, tolerance);
}

absl::Status CompareNumbers(const std::string& what, double got, double expected,
                            Tolerance tolerance) {
  if (tolerance.Matches(got, expected)) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat(what, ": got ", got, ", expected ", expected));
}

absl::Status CompareTexts(const std::string& what, const std::string& got,
                          const std::string& expected) {
  if (got == expected) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat(what, ": got ", got, ", expected ", expected));
}

absl::Status CompareNames(const std::string& what, const std::vector<std::string>& got,
                          const Json& expected) {
  return CompareTexts(
      what, absl::StrCat("[", absl::StrJoin(got, ", "), "]"),
      absl::StrCat("[", absl::StrJoin(expected.get<std::vector<std::string>>(), ", "), "]"));
}

absl::Status CompareShapes(const std::string& what, const PartialShape& got, const Json& expected) {
  return CompareTexts(what, got.ToString(), ShapeFromJson(expected).ToString());
}

}  // namespace cooper::conformance
