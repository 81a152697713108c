#ifndef COOPER_EXECUTOR_ARENA_H_
#define COOPER_EXECUTOR_ARENA_H_

// The memory that executors share: as large as the largest plan among them, whatever their order.
// One executor uses it at a time, so what one leaves there lasts until another runs.

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "ndarray/context.h"
#include "ndarray/storage.h"

namespace cooper {

// Not thread-safe: executors that share an arena run on one thread at a time.
class Arena {
 public:
  explicit Arena(Context context) : context_(context) {}

  Context context() const { return context_; }
  int64_t bytes() const { return storage_ == nullptr ? 0 : storage_->bytes(); }
  const std::shared_ptr<Storage>& storage() const { return storage_; }

  // Makes room for a plan of `bytes`. A larger block replaces the old one, whose contents are lost;
  // users notice by generation(). kResourceExhausted if there is no memory; the old block stays.
  absl::Status Reserve(int64_t bytes);
  // Changes whenever the block does.
  int64_t generation() const { return generation_; }

  // Who wrote into the arena last: any address that stands for an executor.
  const void* user() const { return user_; }
  void set_user(const void* user) { user_ = user; }

 private:
  Context context_;
  std::shared_ptr<Storage> storage_;
  int64_t generation_ = 0;
  const void* user_ = nullptr;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_ARENA_H_
