#include "executor/run/arena.h"

#include <utility>

#include "ndarray/array/queue_of.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status Arena::Reserve(int64_t bytes) {
  if (queue_ == nullptr) {
    COOPER_ASSIGN_OR_RETURN(queue_, GetQueue(context_));
  }
  if (storage_ != nullptr && bytes <= storage_->bytes()) return absl::OkStatus();
  // A freed block may be allocated for other purposes, so all work in it must be done.
  COOPER_RETURN_IF_ERROR(queue_->Synchronize());
  // Only the first block that is replaced since the user's run can be the one it computed in.
  const bool holds_values = user_ != nullptr && retired_ == nullptr;
  if (storage_ != nullptr && !holds_values) {
    storage_ = nullptr;
    ++generation_;
  }
  auto storage = Storage::Allocate(bytes, context_);
  if (absl::IsResourceExhausted(storage.status())) {
    ReleasePool(context_.device_type);
    storage = Storage::Allocate(bytes, context_);
  }
  COOPER_RETURN_IF_ERROR(AddContext(storage.status(), "activations as planned"));
  if (storage_ != nullptr) retired_ = std::move(storage_);
  storage_ = *std::move(storage);
  ++generation_;
  return absl::OkStatus();
}

void Arena::Use(ArenaUser* user) {
  if (user_ != nullptr && user_ != user) user_->OnArenaReused();
  user_ = user;
  retired_ = nullptr;
}

void Arena::Release(const ArenaUser* user) {
  if (user_ != user) return;
  user_ = nullptr;
  retired_ = nullptr;
}

}  // namespace cooper
