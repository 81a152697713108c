#include "tests/cuda_emulator/ptx/scopes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cooper::ptx {

std::optional<Symbol> Scopes::Find(std::string_view name) const {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  const std::string_view prefix = name.substr(0, digits);
  int64_t number = -1;
  if (digits < name.size() && name.size() - digits < 10) {
    number = 0;
    for (char c : name.substr(digits)) number = number * 10 + (c - '0');
  }
  for (size_t i = scopes_.size(); i-- > 0;) {
    const auto found = scopes_[i].names.find(name);
    if (found != scopes_[i].names.end()) return found->second;
    for (const Range& range : scopes_[i].ranges) {
      if (range.prefix != prefix || number < 0 || number >= range.count) continue;
      return Symbol{Symbol::Kind::kRegister, range.first + static_cast<int>(number)};
    }
  }
  return std::nullopt;
}

}  // namespace cooper::ptx
