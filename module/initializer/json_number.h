#ifndef COOPER_MODULE_INITIALIZER_JSON_NUMBER_H_
#define COOPER_MODULE_INITIALIZER_JSON_NUMBER_H_

// A number as Python's json writes a float.

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "symbol/schema/param_text.h"

namespace cooper {

// The shortest text that reads back as the same value, which shows that it is no integer: "1.0".
// JSON has no infinity and no NaN: they stand in quotes, which kwargs read as the number.
inline std::string JsonNumber(double value) {
  std::string text = PrintParamText(value);
  if (!std::isfinite(value)) return absl::StrCat("\"", text, "\"");
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace cooper

#endif  // COOPER_MODULE_INITIALIZER_JSON_NUMBER_H_
