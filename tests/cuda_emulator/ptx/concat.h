#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_CONCAT_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_CONCAT_H_

// absl::StrCat with support for std::string_view, which differs from absl::string_view if Abseil
// was built as C++14.

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace cooper::ptx {

inline absl::string_view AbslView(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

template <typename T>
const T& Text(const T& value) {
  return value;
}
inline absl::string_view Text(std::string_view text) { return AbslView(text); }
inline absl::string_view Text(const std::string& text) { return text; }
inline absl::string_view Text(const char* text) { return text; }

// Returns the concatenation of values that absl::StrCat or std::string_view supports.
template <typename... T>
std::string Concat(const T&... values) {
  return absl::StrCat(Text(values)...);
}

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_CONCAT_H_
