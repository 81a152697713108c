#include "module/predict/output_arrays.h"

#include <utility>

#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Smaller ones are Storage's own to keep.
constexpr int64_t kLeastBytes = (int64_t{1} << 20) + 1;
// Blocks are multiples of this, so that lengths that differ by little use the same.
constexpr int64_t kUnit = int64_t{1} << 20;

}  // namespace

// Shared by the owner and by the arrays that are in use.
class OutputArrays::Blocks {
 public:
  // The block that came back last among those that `bytes` fill at least half; null if none does.
  std::shared_ptr<Storage> Take(int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = idle_.rbegin(); it != idle_.rend(); ++it) {
      if ((*it)->bytes() < bytes || (*it)->bytes() / 2 > bytes) continue;
      std::shared_ptr<Storage> block = std::move(*it);
      idle_.erase(std::next(it).base());
      return block;
    }
    return nullptr;
  }

  void GiveBack(std::shared_ptr<Storage> block) {
    std::shared_ptr<Storage> oldest;  // freed without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(block));
    if (static_cast<int64_t>(idle_.size()) <= kept_) return;
    oldest = std::move(idle_.front());
    idle_.pop_front();
  }

  void KeepMore(int64_t blocks) {
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_ += blocks;
  }

  int64_t num_idle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int64_t>(idle_.size());
  }

 private:
  std::mutex mutex_;
  int64_t kept_ = 0;
  std::deque<std::shared_ptr<Storage>> idle_;  // the one that came back last at the end
};

OutputArrays::OutputArrays(Context context)
    : context_(context), blocks_(std::make_shared<Blocks>()) {}

absl::StatusOr<NDArray> OutputArrays::Take(const Shape& shape, DType dtype) {
  const int64_t bytes = shape.num_elements() * SizeOf(dtype);
  if (bytes < kLeastBytes) return NDArray::Empty(shape, dtype, context_);
  const int64_t block_bytes = (bytes + kUnit - 1) / kUnit * kUnit;
  std::shared_ptr<Storage> block = blocks_->Take(block_bytes);
  if (block == nullptr) {
    COOPER_ASSIGN_OR_RETURN(block, Storage::Allocate(block_bytes, context_));
  }
  // Its end gives the block back, or frees it if there is nobody to take it any more.
  const auto give_back = [blocks = std::weak_ptr<Blocks>(blocks_), block](void*) mutable {
    if (const auto to = blocks.lock()) to->GiveBack(std::move(block));
  };
  std::shared_ptr<void> owner(block->data(), give_back);
  return NDArray::View(Storage::Wrap(block->data(), bytes, context_, std::move(owner)), 0, shape,
                       dtype);
}

void OutputArrays::KeepMore(int64_t blocks) { blocks_->KeepMore(blocks); }
int64_t OutputArrays::num_idle() const { return blocks_->num_idle(); }

}  // namespace cooper
