#ifndef COOPER_MODULE_KVSTORE_MPI_COMPRESSED_SUM_H_
#define COOPER_MODULE_KVSTORE_MPI_COMPRESSED_SUM_H_

// Sums compressed gradients over processes (gradient_compression.h). Each process keeps the
// residuals of its own gradients by key, since the keys of a step differ.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/kvstore/gradient_compression.h"
#include "module/kvstore/mpi/mpi_world.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Used by one thread at a time. A gradient is sent as two bits for each element; the rest stays in
// the residual for the next step.
class CompressedSum {
 public:
  // `world` must outlive this object.
  explicit CompressedSum(MpiWorld* world) : world_(*world) {}

  // Replaces this process's gradients by the sum of the compressed ones of all processes. `flat`
  // has those of `keys` one after the other, without those whose `values` are float64. Collective.
  // Returns how many bytes this process sent.
  //
  // Errors: kInvalidArgument on all processes, naming key and rank, if a process's residual has
  // another size than the key's value; then no residual has changed.
  absl::StatusOr<int64_t> Sum(const GradientCompression& compression,
                              absl::Span<const std::string> keys, absl::Span<const NDArray> values,
                              absl::Span<float> flat);

  // Do KVStore::GetState and SetState for a store of `type`.
  absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetState() const;
  absl::Status SetState(absl::string_view type,
                        const std::vector<std::pair<std::string, NDArray>>& state);
  void Forget(absl::Span<const std::string> keys);

 private:
  // kInvalidArgument, naming the key, if its residual here does not have its value's size.
  absl::Status CheckResiduals(absl::Span<const std::string> keys,
                              absl::Span<const NDArray> values) const;

  MpiWorld& world_;
  std::map<std::string, std::vector<float>> residuals_;  // by key
  // Buffers of one step: the residuals, and the words of this process and of all.
  std::vector<float> residual_;
  std::vector<uint32_t> words_, all_words_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_MPI_COMPRESSED_SUM_H_
