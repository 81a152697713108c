#ifndef COOPER_SYMBOL_SCHEMA_PARAM_TEXT_H_
#define COOPER_SYMBOL_SCHEMA_PARAM_TEXT_H_

// Converts the values of operator parameters from and to the texts of symbol files. ParamSchema
// calls the overload of a field's type. Every ParseParamText fails with kInvalidArgument and a
// message that says what was expected. Texts may come from untrusted files: no text ends the
// program.

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// Parse `text` into `*value`, which is unspecified after an error. Spaces around a number or a bool
// are ignored. Integers may be written as "3", "3L" (Python 2), "3.0" or "True", since NumPy's
// results and Python's flags end up in files; one that does not fit the type is an error. Bools are
// True, False, 1, 0, 1.0, 0.0 or None, in any case. Floats are decimal numbers, inf, nan, "True" or
// "False". A dtype is a name or MXNet's code. A string is any text.
absl::Status ParseParamText(const std::string& text, int64_t* value);
absl::Status ParseParamText(const std::string& text, int* value);
absl::Status ParseParamText(const std::string& text, bool* value);  // True, true, 1, ...
absl::Status ParseParamText(const std::string& text, double* value);
absl::Status ParseParamText(const std::string& text, float* value);  // the nearest
absl::Status ParseParamText(const std::string& text, std::string* value);
absl::Status ParseParamText(const std::string& text, DType* value);  // a name or a code

// Splits "(1, 2)", "[1,2]", "(1,)", "()" or a bare "1" into the texts of its elements. Fails with
// kInvalidArgument for an empty element or a missing bracket. Tuples do not nest. Replaces
// `*elements`. Elements have no spaces around them; a comma after the last one is allowed.
absl::Status SplitParamTuple(const std::string& text, std::vector<std::string>* elements);

// Print a value as MXNet's Python front end does. ParseParamText of the same type reads the text
// back as an equal value.
std::string PrintParamText(int64_t value);
std::string PrintParamText(int value);
std::string PrintParamText(bool value);
std::string PrintParamText(double value);  // the shortest text that reads back as the same value
std::string PrintParamText(float value);
std::string PrintParamText(const std::string& value);
std::string PrintParamText(DType value);

// Declared before std::optional's, which may hold tuples.
template <typename T>
absl::Status ParseParamText(const std::string& text, std::vector<T>* value);
template <typename T>
std::string PrintParamText(const std::vector<T>& value);

// Parses "None" as the absent value.
template <typename T>
absl::Status ParseParamText(const std::string& text, std::optional<T>* value) {
  if (text == "None") {
    value->reset();
    return absl::OkStatus();
  }
  return ParseParamText(text, &value->emplace());
}

// Parses a tuple; "None" is the empty tuple.
template <typename T>
absl::Status ParseParamText(const std::string& text, std::vector<T>* value) {
  value->clear();
  if (text == "None") return absl::OkStatus();  // Python writes this for no tuple
  std::vector<std::string> elements;
  COOPER_RETURN_IF_ERROR(SplitParamTuple(text, &elements));
  for (const std::string& element : elements) {
    COOPER_RETURN_IF_ERROR(ParseParamText(element, &value->emplace_back()));
  }
  return absl::OkStatus();
}

// Print an absent value as "None", and a tuple as Python does: "(1, 2)", "(1,)", "()".
template <typename T>
std::string PrintParamText(const std::optional<T>& value) {
  return value.has_value() ? PrintParamText(*value) : "None";
}

template <typename T>
std::string PrintParamText(const std::vector<T>& value) {
  std::string text = "(";
  for (size_t i = 0; i < value.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", PrintParamText(value[i]));
  }
  return absl::StrCat(text, value.size() == 1 ? ",)" : ")");
}

// Returns the type name for documentation: "int", "float", "tuple of int", "int or None".
inline std::string ParamTypeName(const int64_t*) { return "int"; }
inline std::string ParamTypeName(const int*) { return "int"; }
inline std::string ParamTypeName(const bool*) { return "bool"; }
inline std::string ParamTypeName(const double*) { return "float"; }
inline std::string ParamTypeName(const float*) { return "float"; }
inline std::string ParamTypeName(const std::string*) { return "string"; }
inline std::string ParamTypeName(const DType*) { return "dtype"; }
template <typename T>
std::string ParamTypeName(const std::vector<T>*);
template <typename T>
std::string ParamTypeName(const std::optional<T>*) {
  return absl::StrCat(ParamTypeName(static_cast<const T*>(nullptr)), " or None");
}
template <typename T>
std::string ParamTypeName(const std::vector<T>*) {
  const std::string element = ParamTypeName(static_cast<const T*>(nullptr));
  const bool several_words = element.find(' ') != std::string::npos;
  return several_words ? absl::StrCat("tuple of (", element, ")")
                       : absl::StrCat("tuple of ", element);
}

// Fails with kInvalidArgument, with the range, if a number is outside [min, max]. NaN fails unless
// the range is unbounded. Other types have no range. Integers beyond 2^53 are compared after
// rounding to double.
template <typename T>
absl::Status CheckParamRange(const T& value, double min, double max) {
  if constexpr (std::is_arithmetic_v<T>) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto number = static_cast<double>(value);
    const bool unbounded = min <= -kInfinity && max >= kInfinity;
    if (!unbounded && !(number >= min && number <= max)) {
      return absl::InvalidArgumentError(absl::StrCat("expected a value in [", min, ", ", max, "]"));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_PARAM_TEXT_H_
