#include "executor/run/arena.h"

#include <utility>

#include "ndarray/status_macros.h"

namespace cooper {

absl::Status Arena::Reserve(int64_t bytes) {
  if (storage_ != nullptr && bytes <= storage_->bytes()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(auto storage, Storage::Allocate(bytes, context_));
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
