#include "module/predict/output_arrays.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Smaller blocks are cached by Storage.
constexpr int64_t kMinBytes = (int64_t{1} << 20) + 1;
// Blocks are multiples of this, so that slightly different lengths use the same blocks.
constexpr int64_t kUnit = int64_t{1} << 20;

}  // namespace

// Shared by the owner and by the arrays in use.
class OutputArrays::Blocks {
 public:
  // Returns the smallest block of at least `bytes`, the most recently returned one of equals. Null
  // if there is none, or if it is too wide and as many wide blocks are in use as may be kept:
  // results in use must not hold much more memory than they need.
  std::shared_ptr<Storage> Take(int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if ((*it)->bytes() < bytes) continue;
      if (best == idle_.end() || (*it)->bytes() <= (*best)->bytes()) best = it;
    }
    if (best == idle_.end()) return nullptr;
    const bool wide = IsTooWide(**best, bytes);
    if (wide && wide_ >= kept_) return nullptr;
    wide_ += wide ? 1 : 0;
    std::shared_ptr<Storage> block = std::move(*best);
    idle_.erase(best);
    return block;
  }

  // Takes back `block`, which had a result of `bytes`. Large blocks are kept, because results of
  // all lengths fit into them: a few blocks serve requests of many shapes in any order.
  void ReturnToPool(std::shared_ptr<Storage> block, int64_t bytes) {
    std::vector<std::shared_ptr<Storage>> superfluous;  // freed without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    wide_ -= IsTooWide(*block, bytes) ? 1 : 0;
    idle_.push_back(std::move(block));
    superfluous = ExtractSuperfluous();
  }

  void KeepMore(int64_t blocks) {
    std::vector<std::shared_ptr<Storage>> superfluous;  // freed without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_ += blocks;
    superfluous = ExtractSuperfluous();
  }

  int64_t num_idle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int64_t>(idle_.size());
  }

 private:
  // Whether more than half of the block is unused.
  static bool IsTooWide(const Storage& block, int64_t bytes) { return bytes < block.bytes() / 2; }

  // Removes the smallest of the blocks in excess. An empty vector takes no memory.
  std::vector<std::shared_ptr<Storage>> ExtractSuperfluous() {
    std::vector<std::shared_ptr<Storage>> superfluous;
    while (static_cast<int64_t>(idle_.size()) > kept_) {
      const auto it =
          std::min_element(idle_.begin(), idle_.end(),
                           [](const auto& a, const auto& b) { return a->bytes() < b->bytes(); });
      superfluous.push_back(std::move(*it));
      idle_.erase(it);
    }
    return superfluous;
  }

  std::mutex mutex_;
  int64_t kept_ = 0;
  int64_t wide_ = 0;                            // wide blocks in use
  std::vector<std::shared_ptr<Storage>> idle_;  // the most recently returned one at the end
};

OutputArrays::OutputArrays(Context context)
    : context_(context), blocks_(std::make_shared<Blocks>()) {}

absl::StatusOr<NDArray> OutputArrays::Take(const Shape& shape, DType dtype) {
  const int64_t bytes = shape.num_elements() * SizeOf(dtype);
  if (bytes < kMinBytes) return NDArray::Empty(shape, dtype, context_);
  const int64_t block_bytes = (bytes + kUnit - 1) / kUnit * kUnit;
  std::shared_ptr<Storage> block = blocks_->Take(block_bytes);
  if (block == nullptr) {
    COOPER_ASSIGN_OR_RETURN(block, Storage::Allocate(block_bytes, context_));
  }
  // The destructor of the last handle returns the block, or frees it if the owner is gone.
  const auto give_back = [blocks = std::weak_ptr<Blocks>(blocks_), block,
                          block_bytes](void*) mutable {
    if (const auto to = blocks.lock()) to->ReturnToPool(std::move(block), block_bytes);
  };
  std::shared_ptr<void> owner(block->data(), give_back);
  return NDArray::View(Storage::Wrap(block->data(), bytes, context_, std::move(owner)), 0, shape,
                       dtype);
}

void OutputArrays::KeepMore(int64_t blocks) { blocks_->KeepMore(blocks); }
int64_t OutputArrays::num_idle() const { return blocks_->num_idle(); }

}  // namespace cooper
