#ifndef COOPER_IO_ITERATORS_RESIZE_ITER_H_
#define COOPER_IO_ITERATORS_RESIZE_ITER_H_

// Serves another iterator's batches in epochs of a fixed number of batches.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/batch/data_iter.h"

namespace cooper {

// Not thread-safe. States contain that of the inner iterator, so a resumed run goes on at the same
// batch.
class ResizeIter : public DataIter {
 public:
  // Serves epochs of `size` batches of `iter`, unchanged. When `iter` ends earlier it is reset and
  // continued. With `reset_internal`, Reset() resets `iter` too; without, an epoch begins where the
  // last one ended. `size` may be larger than an epoch of `iter`. A batch keeps the `pad` and
  // `index` of `iter`.
  ResizeIter(std::unique_ptr<DataIter> iter, int64_t size, bool reset_internal = true);

  // kFailedPrecondition if the inner iterator has no batch in a whole epoch.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  absl::Status Reset() override;
  // Calls HardReset() of `iter` if reset_internal is set; otherwise does what Reset() does.
  absl::Status HardReset() override;

  const std::vector<DataDesc>& provide_data() const override { return iter_->provide_data(); }
  const std::vector<DataDesc>& provide_label() const override { return iter_->provide_label(); }
  std::optional<BucketKey> default_bucket_key() const override {
    return iter_->default_bucket_key();
  }
  std::vector<BucketKey> bucket_keys() const override { return iter_->bucket_keys(); }
  absl::StatusOr<BucketShapes> bucket_shapes(const BucketKey& key) const override {
    return iter_->bucket_shapes(key);
  }
  int64_t batch_size() const override { return iter_->batch_size(); }
  std::optional<double> invalid_label(absl::string_view input) const override {
    return iter_->invalid_label(input);
  }

  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

 private:
  const std::unique_ptr<DataIter> iter_;
  const int64_t size_;
  const bool reset_internal_;
  int64_t taken_ = 0;  // batches of this epoch so far
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_RESIZE_ITER_H_
