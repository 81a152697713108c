#ifndef COOPER_EXECUTOR_RUN_ARENA_H_
#define COOPER_EXECUTOR_RUN_ARENA_H_

// Memory that executors share. It is as large as the largest plan among them, whatever their order.
// One executor uses it at a time: the values that it leaves there last until another one runs. All
// arenas of a device share one queue, so kernels run in the order of the calls, also if one
// executor reads in its own arena what another has computed.

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
  // Called when another user is about to overwrite the arena. The values of this user are gone
  // after the call, and it must not keep references to the block.
  virtual void OnArenaReused() = 0;

 protected:
  ~ArenaUser() = default;
};

// The block of memory of one context, and its current user. Not thread-safe: executors that share
// an arena run on one thread at a time.
class Arena {
 public:
  explicit Arena(Context context) : context_(context) {}

  // Return the context of the memory, and the size of the block in bytes.
  Context context() const { return context_; }
  int64_t bytes() const { return storage_ == nullptr ? 0 : storage_->bytes(); }
  // Returns the block; null before Reserve, and possibly after Reserve failed.
  const std::shared_ptr<Storage>& storage() const { return storage_; }

  // Returns the context's queue (GetQueue); null before Reserve.
  DeviceQueue* queue() const { return queue_; }

  // Makes the block at least `bytes` large. A larger block replaces the old one and changes
  // generation(). The current user's values stay in the old block until the next run. An old block
  // without values is freed first, so that the two never exist together. Waits for the queue if the
  // block is replaced.
  //
  // Errors: kResourceExhausted if there is not enough memory even after the pool of the device is
  // freed. The user's values stay valid, but there may be no block.
  absl::Status Reserve(int64_t bytes);
  // Returns a number that changes whenever the block is replaced or freed.
  int64_t generation() const { return generation_; }

  // Returns the user whose values the arena holds; null if there is none.
  const ArenaUser* user() const { return user_; }
  // Makes `user` the current user and tells the previous one (OnArenaReused). Called before each
  // run. `user` is not owned and must call Release before it ends.
  void Use(ArenaUser* user);
  // Ends the use of the arena by `user`. Does nothing if another user is the current one.
  void Release(const ArenaUser* user);

 private:
  Context context_;
  std::shared_ptr<Storage> storage_;
  DeviceQueue* queue_ = nullptr;
  int64_t generation_ = 0;
  // The block with the values of user_, if Reserve has replaced it.
  std::shared_ptr<Storage> retired_;
  ArenaUser* user_ = nullptr;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_ARENA_H_
