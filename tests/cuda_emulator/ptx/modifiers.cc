#include "tests/cuda_emulator/ptx/modifiers.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace cooper::ptx {

Modifiers::Modifiers(std::string_view opcode) {
  bool first = true;
  while (!opcode.empty()) {
    const size_t dot = opcode.find('.');
    const std::string_view part = opcode.substr(0, dot);
    if (first) {
      base_ = part;
    } else if (!part.empty()) {
      parts_.push_back(part);
    }
    first = false;
    opcode = dot == std::string_view::npos ? std::string_view() : opcode.substr(dot + 1);
  }
}

bool Modifiers::Take(std::string_view name) {
  const auto found = std::find(parts_.begin(), parts_.end(), name);
  if (found == parts_.end()) return false;
  parts_.erase(found);
  return true;
}

std::string_view Modifiers::TakeAny(std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    if (Take(name)) return name;
  }
  return {};
}

Type Modifiers::TakeType() {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (const std::optional<Type> type = TypeOfName(parts_[i])) {
      parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
      return *type;
    }
  }
  return Type::kNone;
}

void Modifiers::TakeHints() {
  const auto is_hint = [](std::string_view part) {
    return part.substr(0, 4) == "L1::" || part.substr(0, 4) == "L2::" || part == "ca" ||
           part == "cg" || part == "cs" || part == "lu" || part == "cv" || part == "wb" ||
           part == "wt" || part == "nc";
  };
  parts_.erase(std::remove_if(parts_.begin(), parts_.end(), is_hint), parts_.end());
}

}  // namespace cooper::ptx
