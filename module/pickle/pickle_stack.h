#ifndef COOPER_MODULE_PICKLE_PICKLE_STACK_H_
#define COOPER_MODULE_PICKLE_PICKLE_STACK_H_

// The stack of values on which the opcodes of a pickle work, with its marks and its memo.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/pickle/pickle_value.h"

namespace cooper {

// Functions that take values return kInvalidArgument if there are not so many above the last mark.
// Values are references (PickleRef): pushing and popping copies no contents. Not thread-safe.
class PickleStack {
 public:
  // `max_memo` bounds the number of values in the memo.
  explicit PickleStack(int64_t max_memo) : max_memo_(max_memo) {}

  void Push(PickleRef ref) { refs_.push_back(ref); }
  absl::StatusOr<PickleRef> Top() const;
  absl::StatusOr<PickleRef> Pop();
  // Removes the last `count` values, and returns them in the order in which they were pushed.
  absl::StatusOr<std::vector<PickleRef>> PopLast(size_t count);

  // Marks this height of the stack.
  void Mark() { marks_.push_back(refs_.size()); }
  // Removes the last mark with the values above it, and returns them. kInvalidArgument without
  // mark.
  absl::StatusOr<std::vector<PickleRef>> PopToMark();

  // Put keeps the uppermost value under a key, Memoize under the number of values kept so far. Get
  // pushes the value of a key. kInvalidArgument if there is none; kResourceExhausted beyond the
  // limit.
  absl::Status Put(uint64_t key);
  absl::Status Memoize() { return Put(memo_.size()); }
  absl::Status Get(uint64_t key);

 private:
  absl::Status Need(size_t count) const;

  const int64_t max_memo_;
  std::vector<PickleRef> refs_;
  std::vector<size_t> marks_;  // positions in refs_
  absl::flat_hash_map<uint64_t, PickleRef> memo_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PICKLE_PICKLE_STACK_H_
