#ifndef COOPER_TESTS_CONFORMANCE_CASE_DATA_H_
#define COOPER_TESTS_CONFORMANCE_CASE_DATA_H_

// What every kind of golden case is made of: JSON, arrays by name, and the comparison of arrays
// under a tolerance.

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "nlohmann/json.hpp"

namespace cooper::conformance {

using Json = nlohmann::json;
using Arrays = std::map<std::string, NDArray>;

// The case files are this repository's own: one that is no JSON ends the program.
Json ReadJson(const std::string& path);

// The names of the entries of a folder, in order.
std::vector<std::string> ListFolder(const std::string& path);

absl::StatusOr<Arrays> ReadArrays(const std::string& path);

// Those whose name begins with `prefix`, without it.
Arrays WithPrefix(const Arrays& arrays, absl::string_view prefix);

// The array of that name; kNotFound if the case has none.
absl::StatusOr<NDArray> FindArray(const Arrays& arrays, const std::string& name);

// [2, 3]; 0 is an unknown extent, [] an unknown shape, null too.
PartialShape ShapeFromJson(const Json& json);

// A number, or one of "nan", "inf", "-inf".
double NumberFromJson(const Json& json);

struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-7;

  static Tolerance FromJson(const Json& json);
  // NaN matches NaN, an infinity only itself.
  bool Matches(double got, double expected) const;
};

// Shape, dtype and every element. The message says what differs, where it is worst, how often.
absl::Status CompareArrays(const std::string& what, const NDArray& got, const NDArray& expected,
                           Tolerance tolerance);

absl::Status CompareNumbers(const std::string& what, double got, double expected,
                            Tolerance tolerance);

// Two values that can be written to a stream must be equal.
absl::Status CompareTexts(const std::string& what, const std::string& got,
                          const std::string& expected);
absl::Status CompareNames(const std::string& what, const std::vector<std::string>& got,
                          const Json& expected);
absl::Status CompareShapes(const std::string& what, const PartialShape& got, const Json& expected);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_CASE_DATA_H_
