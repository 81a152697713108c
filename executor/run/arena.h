#ifndef COOPER_EXECUTOR_RUN_ARENA_H_
#define COOPER_EXECUTOR_RUN_ARENA_H_

// The memory that executors share, as large as the largest plan among them, whatever their order,
// and the queue in which they work in it. One executor uses it at a time, so what one leaves there
// lasts until another runs. All arenas of a device have one queue: kernels run in the order of the
// calls, whether executors share an arena, or one reads in its own what another has computed.

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "ndarray/array/device.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/context.h"

namespace cooper {

// A user of an arena: an executor that computes in it.
class ArenaUser {
 public:
  // Called when another user is about to overwrite the arena: what this one has there is gone, and
  // it must not hold on to the block.
  virtual void OnArenaReused() = 0;

 protected:
  ~ArenaUser() = default;
};

// Not thread-safe: executors that share an arena run on one thread at a time.
class Arena {
 public:
  explicit Arena(Context context) : context_(context) {}

  Context context() const { return context_; }
  int64_t bytes() const { return storage_ == nullptr ? 0 : storage_->bytes(); }
  // Null before Reserve, and where it has failed.
  const std::shared_ptr<Storage>& storage() const { return storage_; }

  // The context's (GetQueue); null until Reserve.
  DeviceQueue* queue() const { return queue_; }

  // Makes room for a plan of `bytes`. A larger block replaces the old one, which users notice by
  // generation(); what the present user has in the old block lasts until the next run. A block that
  // holds nobody's values is given back before the larger one is taken, so that no two of them are
  // there at a time. kResourceExhausted if there is no memory, not even with what the pool keeps:
  // the user's values stay, and there may be no other block.
  absl::Status Reserve(int64_t bytes);
  // Changes whenever the block does.
  int64_t generation() const { return generation_; }

  // The user whose values the arena holds; null if there is none.
  const ArenaUser* user() const { return user_; }
  // Before each run, by the user that runs. It is not owned and calls Release before it ends.
  void Use(ArenaUser* user);
  // Does nothing unless `user` is the present one.
  void Release(const ArenaUser* user);

 private:
  Context context_;
  std::shared_ptr<Storage> storage_;
  DeviceQueue* queue_ = nullptr;
  int64_t generation_ = 0;
  std::shared_ptr<Storage> retired_;  // the block that user_ has computed in, if it was replaced
  ArenaUser* user_ = nullptr;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_ARENA_H_
