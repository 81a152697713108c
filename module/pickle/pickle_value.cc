#include "module/pickle/pickle_value.h"

namespace cooper {

const PickleValue* Pickle::Find(const PickleValue& dict, absl::string_view key) const {
  const PickleValue* found = nullptr;
  if (dict.type != PickleType::kDict) return found;
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& candidate = (*this)[dict.items[i]];
    if (candidate.type == PickleType::kText && candidate.text == key) {
      found = &(*this)[dict.items[i + 1]];
    }
  }
  return found;
}

}  // namespace cooper
