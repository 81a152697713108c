#include "module/pickle/pickle_stack.h"

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status PickleStack::Need(size_t count) const {
  const size_t bottom = marks_.empty() ? 0 : marks_.back();
  if (refs_.size() - bottom >= count) return absl::OkStatus();
  return absl::InvalidArgumentError("the opcode takes more values than there are");
}

absl::StatusOr<PickleRef> PickleStack::Top() const {
  COOPER_RETURN_IF_ERROR(Need(1));
  return refs_.back();
}

absl::StatusOr<PickleRef> PickleStack::Pop() {
  COOPER_RETURN_IF_ERROR(Need(1));
  const PickleRef ref = refs_.back();
  refs_.pop_back();
  return ref;
}

absl::StatusOr<std::vector<PickleRef>> PickleStack::PopLast(size_t count) {
  COOPER_RETURN_IF_ERROR(Need(count));
  const auto begin = refs_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<PickleRef> taken(begin, refs_.end());
  refs_.erase(begin, refs_.end());
  return taken;
}

absl::StatusOr<std::vector<PickleRef>> PickleStack::PopToMark() {
  if (marks_.empty()) return absl::InvalidArgumentError("there is no mark");
  COOPER_ASSIGN_OR_RETURN(std::vector<PickleRef> taken, PopLast(refs_.size() - marks_.back()));
  marks_.pop_back();
  return taken;
}

absl::Status PickleStack::Put(uint64_t key) {
  COOPER_ASSIGN_OR_RETURN(const PickleRef top, Top());
  if (static_cast<int64_t>(memo_.size()) >= max_memo_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the memo of the pickle has more than ", max_memo_, " values"));
  }
  memo_[key] = top;
  return absl::OkStatus();
}

absl::Status PickleStack::Get(uint64_t key) {
  const auto it = memo_.find(key);
  if (it == memo_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("the memo has no value ", key));
  }
  Push(it->second);
  return absl::OkStatus();
}

}  // namespace cooper
