#include "executor/kernels/convolution/merged_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using Result = BlockedProduct::Result;

class MergedProduct : public BlockedProduct {
 public:
  MergedProduct(const ConvolutionProduct& shape, int64_t count, const Options& options,
                std::unique_ptr<const BlockedProduct> merged)
      : p_(shape), count_(count), options_(options), merged_(std::move(merged)) {
    constexpr int64_t kAlignment = 64;
    const int64_t bytes =
        p_.groups * count_ * p_.weight_step() * static_cast<int64_t>(sizeof(float));
    weight_bytes_ = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    workspace_bytes_ = weight_bytes_ + merged_->workspace_bytes();
  }

  void Run(const Arrays& arrays, char* workspace) const override {
    Arrays own = arrays;
    own.weight = reinterpret_cast<float*>(workspace);
    const bool makes_weight = options_.result == Result::kWeight;
    if (!makes_weight) {
      ForEachFilter([&](int64_t at, int64_t merged_at, int64_t of_merged) {
        std::fill_n(own.weight + of_merged, count_ * p_.g.rows(), 0.0F);
        std::copy_n(arrays.weight + at, p_.g.rows(), own.weight + merged_at);
      });
    }
    merged_->Run(own, workspace + weight_bytes_);
    if (makes_weight) {
      ForEachFilter([&](int64_t at, int64_t merged_at, int64_t /*of_merged*/) {
        for (int64_t i = 0; i < p_.g.rows(); ++i) {
          Store(arrays.weight + at + i, own.weight[merged_at + i], options_.add);
        }
      });
    }
  }

 private:
  // Calls fn(at, merged_at, of_merged) for each filter: the offset of its weights, their offset in
  // the merged weight, and the offset of the whole filter in the merged weight.
  template <typename Fn>
  void ForEachFilter(const Fn& fn) const {
    const int64_t rows = p_.g.rows();
    ParallelFor(p_.groups * p_.filters, RowGrain(rows * count_), [&](int64_t begin, int64_t end) {
      for (int64_t filter = begin; filter < end; ++filter) {
        const int64_t of_merged = filter * count_ * rows;
        fn(filter * rows, of_merged + filter / p_.filters % count_ * rows, of_merged);
      }
    });
  }

  const ConvolutionProduct p_;
  const int64_t count_;
  const Options options_;
  const std::unique_ptr<const BlockedProduct> merged_;
  int64_t weight_bytes_ = 0;
};

}  // namespace

int64_t GroupsToMerge(const ConvolutionProduct& shape, int64_t block) {
  // More groups would cost more than they gain.
  constexpr int64_t kMax = 8;
  const auto needed = [&](int64_t extent) { return block / std::gcd(extent, block); };
  // Depthwise convolutions have code of their own.
  if (shape.groups == 1 || (shape.g.channels == 1 && shape.filters == 1)) return 1;
  const int64_t count = std::lcm(needed(shape.g.channels), needed(shape.filters));
  return count <= kMax && shape.groups % count == 0 ? count : 1;
}

ConvolutionProduct MergedGroups(ConvolutionProduct shape, int64_t count) {
  shape.groups /= count;
  shape.g.channels *= count;
  shape.filters *= count;
  return shape;
}

absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeMergedProduct(
    const ConvolutionProduct& shape, int64_t count, const BlockedProduct::Options& options) {
  BlockedProduct::Options merged_options = options;
  // The merged weight is a separate array, which is overwritten.
  if (options.result == Result::kWeight) merged_options.add = false;
  COOPER_ASSIGN_OR_RETURN(auto merged,
                          BlockedProduct::Make(MergedGroups(shape, count), merged_options));
  return std::make_unique<MergedProduct>(shape, count, options, std::move(merged));
}

}  // namespace cooper
