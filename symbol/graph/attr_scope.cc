#include "symbol/graph/attr_scope.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

thread_local AttrScope* innermost = nullptr;

}  // namespace

AttrScope::AttrScope(const AttrMap& attrs) : merged_(Current()), outer_(innermost) {
  for (const auto& [key, value] : attrs) {
    const bool hidden = absl::StartsWith(key, "__") && absl::EndsWith(key, "__");
    merged_[hidden ? key : absl::StrCat("__", key, "__")] = value;
  }
  innermost = this;
}

AttrScope::~AttrScope() { innermost = outer_; }

const AttrMap& AttrScope::Current() {
  static const AttrMap* empty = new AttrMap;
  return innermost == nullptr ? *empty : innermost->merged_;
}

}  // namespace cooper
