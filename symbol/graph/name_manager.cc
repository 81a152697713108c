#include "symbol/graph/name_manager.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

thread_local NameManager* innermost = nullptr;

}  // namespace

NameManager::NameManager(std::string prefix) : prefix_(std::move(prefix)), outer_(innermost) {
  innermost = this;
}

NameManager::~NameManager() { innermost = outer_; }

std::string NameManager::Get(const std::string& name, const std::string& hint) {
  if (!name.empty()) return absl::StrCat(prefix_, name);
  return absl::StrCat(prefix_, hint, counts_[hint]++);
}

NameManager& NameManager::Current() {
  if (innermost == nullptr) {
    thread_local NameManager base;  // its constructor makes it the innermost
  }
  return *innermost;
}

}  // namespace cooper
