#include "symbol/graph/hidden_attrs.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace cooper {

std::string StoredKey(const std::string& key) {
  return absl::c_linear_search(kHiddenKeys, key) ? absl::StrCat("__", key, "__") : key;
}

}  // namespace cooper
