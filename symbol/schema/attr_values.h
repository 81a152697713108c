#ifndef COOPER_SYMBOL_SCHEMA_ATTR_VALUES_H_
#define COOPER_SYMBOL_SCHEMA_ATTR_VALUES_H_

// Values by name as a caller writes them: numbers, bools and text.
//
//   {{"learning_rate", 0.02}, {"clip_gradient", 5}, {"lazy_update", true}, {"momentum", "0.9"}}
//
// Values are stored as the texts that symbol files and configurations use (param_text.h), so that
// readers handle one form.

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "symbol/schema/param_schema.h"
#include "symbol/schema/param_text.h"

namespace cooper {

// One value. A number becomes the shortest text that reads back as the same value, a float that of
// the equal double (0.1f becomes "0.10000000149011612"); true and false become "True" and "False".
// A char does not compile: it could be meant as a number or as text. Whether a text suits an
// attribute is checked where the operator's parameters are parsed.
class AttrValue {
 public:
  AttrValue() = default;
  // Converts implicitly, so that a list of pairs can mix numbers, bools and texts. A null pointer
  // is not allowed.
  AttrValue(const char* text) : text_(text) {}                            // NOLINT: as written
  AttrValue(std::string text) : text_(std::move(text)) {}                 // NOLINT
  AttrValue(absl::string_view text) : text_(text.data(), text.size()) {}  // NOLINT
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  AttrValue(T value) : text_(TextOf(value)) {}  // NOLINT
  AttrValue(char) = delete;

  const std::string& text() const { return text_; }
  operator const std::string&() const { return text_; }  // NOLINT

  friend bool operator==(const AttrValue& a, const AttrValue& b) { return a.text_ == b.text_; }

 private:
  template <typename T>
  static std::string TextOf(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return PrintParamText(value);
    } else if constexpr (std::is_integral_v<T>) {
      return absl::StrCat(value);
    } else {
      return PrintParamText(static_cast<double>(value));
    }
  }

  std::string text_;
};

// A map of values that converts from and to a map of texts, so that callers may pass either. The
// conversions copy all texts. A later pair of a list does not replace an earlier one of the same
// name, as in std::map.
class AttrValues : public std::map<std::string, AttrValue> {
 public:
  using std::map<std::string, AttrValue>::map;
  AttrValues() = default;
  AttrValues(const AttrMap& texts);  // NOLINT

  AttrMap texts() const;
  operator AttrMap() const { return texts(); }  // NOLINT
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_ATTR_VALUES_H_
