#include "symbol/schema/param_text.h"

#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace cooper {
namespace {

absl::Status Expected(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat("expected ", what));
}

}  // namespace

absl::Status ParseParamText(const std::string& text, int64_t* value) {
  // Python 2 writes long integers with an L.
  absl::string_view digits = absl::StripAsciiWhitespace(text);
  if (digits.size() > 1 && (digits.back() == 'L' || digits.back() == 'l')) digits.remove_suffix(1);
  if (absl::SimpleAtoi(digits, value)) return absl::OkStatus();
  if (digits == "True" || digits == "true") {
    *value = 1;
    return absl::OkStatus();
  }
  if (digits == "False" || digits == "false") {
    *value = 0;
    return absl::OkStatus();
  }
  // Accepts whole numbers written as floats, such as the results of divisions in NumPy.
  double d = 0;
  if (absl::SimpleAtod(digits, &d) && d == std::floor(d) && std::abs(d) < 9e15) {
    *value = static_cast<int64_t>(d);
    return absl::OkStatus();
  }
  return Expected("an integer");
}

absl::Status ParseParamText(const std::string& text, int* value) {
  int64_t wide = 0;
  COOPER_RETURN_IF_ERROR(ParseParamText(text, &wide));
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    return Expected("an integer of 32 bits");
  }
  *value = static_cast<int>(wide);
  return absl::OkStatus();
}

absl::Status ParseParamText(const std::string& text, bool* value) {
  const std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text));
  if (lower == "true" || lower == "1" || lower == "1.0") {
    *value = true;
    return absl::OkStatus();
  }
  if (lower == "false" || lower == "0" || lower == "0.0" || lower == "none") {
    *value = false;
    return absl::OkStatus();
  }
  return Expected("True or False");
}

absl::Status ParseParamText(const std::string& text, double* value) {
  if (absl::SimpleAtod(text, value)) return absl::OkStatus();
  bool flag = false;
  if (ParseParamText(text, &flag).ok() && text != "None") {
    *value = flag ? 1 : 0;
    return absl::OkStatus();
  }
  return Expected("a number");
}

absl::Status ParseParamText(const std::string& text, float* value) {
  double wide = 0;
  COOPER_RETURN_IF_ERROR(ParseParamText(text, &wide));
  *value = static_cast<float>(wide);
  return absl::OkStatus();
}

absl::Status ParseParamText(const std::string& text, std::string* value) {
  *value = text;
  return absl::OkStatus();
}

absl::Status ParseParamText(const std::string& text, DType* value) {
  auto dtype = DTypeFromName(text);
  if (!dtype.ok()) {
    int64_t code = 0;
    if (!absl::SimpleAtoi(text, &code)) return Expected("a dtype such as float32");
    dtype = DTypeFromCode(code);
  }
  if (!dtype.ok()) return dtype.status();
  *value = *dtype;
  return absl::OkStatus();
}

absl::Status SplitParamTuple(const std::string& text, std::vector<std::string>* elements) {
  elements->clear();
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  const bool round = rest.size() >= 2 && rest.front() == '(' && rest.back() == ')';
  const bool square = rest.size() >= 2 && rest.front() == '[' && rest.back() == ']';
  if (round || square) {
    rest = absl::StripAsciiWhitespace(rest.substr(1, rest.size() - 2));
  } else if (!rest.empty() && (rest.front() == '(' || rest.front() == '[')) {
    return Expected("a tuple such as (2, 2)");
  }
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    absl::string_view element = absl::StripAsciiWhitespace(rest.substr(0, comma));
    if (element.empty()) return Expected("a tuple such as (2, 2)");
    elements->emplace_back(element.data(), element.size());
    if (comma == absl::string_view::npos) break;
    rest = absl::StripLeadingAsciiWhitespace(rest.substr(comma + 1));
  }
  return absl::OkStatus();
}

std::string PrintParamText(int64_t value) { return absl::StrCat(value); }
std::string PrintParamText(int value) { return absl::StrCat(value); }
std::string PrintParamText(bool value) { return value ? "True" : "False"; }

std::string PrintParamText(double value) {
  for (int digits = 6; digits < 17; ++digits) {
    std::string text = absl::StrFormat("%.*g", digits, value);
    double back = 0;
    if (absl::SimpleAtod(text, &back) && back == value) return text;
  }
  return absl::StrFormat("%.17g", value);
}

std::string PrintParamText(float value) {
  for (int digits = 6; digits < 9; ++digits) {
    std::string text = absl::StrFormat("%.*g", digits, value);
    float back = 0;
    if (absl::SimpleAtof(text, &back) && back == value) return text;
  }
  return absl::StrFormat("%.9g", value);
}

std::string PrintParamText(const std::string& value) { return value; }
std::string PrintParamText(DType value) { return DTypeName(value); }

}  // namespace cooper
