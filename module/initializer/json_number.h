#ifndef COOPER_MODULE_INITIALIZER_JSON_NUMBER_H_
#define COOPER_MODULE_INITIALIZER_JSON_NUMBER_H_

// Writes a number in the format of floats in Python's json.

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "symbol/schema/param_text.h"

namespace cooper {

// Returns the shortest text that reads back as the same value and is not an integer: "1.0". JSON
// has neither infinity nor NaN: they are written in quotes, which Kwargs read as numbers. MXNet
// writes initializers as JSON into symbol files, so equal options give equal files.
inline std::string JsonNumber(double value) {
  std::string text = PrintParamText(value);
  if (!std::isfinite(value)) return absl::StrCat("\"", text, "\"");
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace cooper

#endif  // COOPER_MODULE_INITIALIZER_JSON_NUMBER_H_
