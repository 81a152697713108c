#include "executor/arena.h"

#include <utility>

#include "ndarray/status_macros.h"

namespace cooper {

absl::Status Arena::Reserve(int64_t bytes) {
  if (storage_ != nullptr && bytes <= storage_->bytes()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(auto storage, Storage::Allocate(bytes, context_));
  storage_ = std::move(storage);
  ++generation_;
  user_ = nullptr;
  return absl::OkStatus();
}

}  // namespace cooper
