#ifndef COOPER_TESTS_CONFORMANCE_CASE_DATA_H_
#define COOPER_TESTS_CONFORMANCE_CASE_DATA_H_

// The data that all kinds of golden cases share: JSON, arrays by name, and the comparison of arrays
// with a tolerance.

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

// Reads a case file of this repository; invalid JSON ends the program.
Json ReadJson(const std::string& path);

// Returns the sorted names of the entries of a folder.
std::vector<std::string> ListFolder(const std::string& path);

absl::StatusOr<Arrays> ReadArrays(const std::string& path);

// Returns the arrays whose name begins with `prefix`, under their names without it.
Arrays WithPrefix(const Arrays& arrays, absl::string_view prefix);

// Returns the array called `name`; kNotFound if the case has none.
absl::StatusOr<NDArray> FindArray(const Arrays& arrays, const std::string& name);

// Reads a shape [2, 3], where 0 is an unknown extent; [] and null are an unknown shape. A text is a
// shape that is known: "()" is a scalar's, "(2, 0)" an empty array's.
PartialShape ShapeFromJson(const Json& json);

// Reads a number, or one of "nan", "inf", "-inf".
double NumberFromJson(const Json& json);

struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-7;

  static Tolerance FromJson(const Json& json);
  // Returns whether `got` is within the tolerance. NaN matches NaN, an infinity only itself.
  bool Matches(double got, double expected) const;
};

// Compares shape, dtype and every element. The message names the difference, the worst element, and
// how many differ.
absl::Status CompareArrays(const std::string& what, const NDArray& got, const NDArray& expected,
                           Tolerance tolerance);

absl::Status CompareNumbers(const std::string& what, double got, double expected,
                            Tolerance tolerance);

// Compares texts.
absl::Status CompareTexts(const std::string& what, const std::string& got,
                          const std::string& expected);
absl::Status CompareNames(const std::string& what, const std::vector<std::string>& got,
                          const Json& expected);
absl::Status CompareShapes(const std::string& what, const PartialShape& got, const Json& expected);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_CASE_DATA_H_
