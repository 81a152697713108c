#include "executor/run/arena.h"

#include <utility>

#include "ndarray/queue_of.h"
#include "ndarray/status_macros.h"

namespace cooper {

absl::Status Arena::Reserve(int64_t bytes) {
  if (queue_ == nullptr) {
    COOPER_ASSIGN_OR_RETURN(queue_, QueueOf(context_));
  }
  if (storage_ != nullptr && bytes <= storage_->bytes()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(auto storage,
                          AddContext(Storage::Allocate(bytes, context_), "activations as planned"));
  // Blocks that are given back may be taken for anything.
  COOPER_RETURN_IF_ERROR(queue_->Synchronize());
  // Only the first block that is replaced since the user's run can be the one it computed in.
  if (user_ != nullptr && retired_ == nullptr) retired_ = std::move(storage_);
  storage_ = std::move(storage);
  ++generation_;
  return absl::OkStatus();
}

void Arena::Use(ArenaUser* user) {
  if (user_ != nullptr && user_ != user) user_->LoseArena();
  user_ = user;
  retired_ = nullptr;
}

void Arena::Release(const ArenaUser* user) {
  if (user_ != user) return;
  user_ = nullptr;
  retired_ = nullptr;
}

}  // namespace cooper
