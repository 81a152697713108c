#ifndef COOPER_MODULE_KVSTORE_MPI_KVSTORE_MPI_H_
#define COOPER_MODULE_KVSTORE_MPI_KVSTORE_MPI_H_

// Stores of the types "dist_sync" and "dist_device_sync": gradients are summed over the processes
// that mpirun started, and each process applies the same update to its copy of the stored values.
// Linking this target registers the types.
//
// "dist_sync" sums in CPU memory. "dist_device_sync" does so too, unless every process has the
// parameters on GPUs, each process all of them on the same GPUs: then gradients are summed and
// values updated and copied there (device_step.h).
//
// Each call is collective unless stated otherwise. Push, Pull and Init require that all processes
// make the same calls in the same order; Step, for training, does not require the same keys.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/kvstore/device_step.h"
#include "module/kvstore/kvstore_with_values.h"
#include "module/kvstore/mpi/compressed_sum.h"
#include "module/kvstore/mpi/mpi_world.h"
#include "module/kvstore/mpi/sum_buffer.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// A store over `world`, which must outlive it. Created by CreateKVStore.
class KVStoreMpi : public KVStoreWithValues {
 public:
  KVStoreMpi(absl::string_view type, MpiWorld* world)
      : KVStoreWithValues(type),
        world_(*world),
        device_step_(world),
        sum_buffer_(world),
        compressed_sum_(world) {}

  int rank() const override { return world_.rank(); }
  int num_workers() const override { return world_.size(); }

  absl::Status Init(const std::string& key, const NDArray& value) override;
  absl::Status Push(const std::string& key, absl::Span<const NDArray> values) override;
  absl::StatusOr<KVStepInfo> Step(absl::Span<const KVItem> items, bool active) override;
  absl::Status InitAll(absl::Span<const KVItem> items) override;
  absl::StatusOr<std::vector<std::string>> AllGather(const std::string& text) override {
    return world_.AllGatherText(text);
  }
  absl::Status Barrier() override { return world_.Barrier(); }
  // Not collective: each process has residuals of its own. If one's residuals have another size
  // than their key's value, the next Push or Step of that key fails with kInvalidArgument on all
  // processes, and no process has updated it.
  absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetState() const override {
    return compressed_sum_.GetState();
  }
  absl::Status SetState(const std::vector<std::pair<std::string, NDArray>>& state) override {
    return compressed_sum_.SetState(type(), state);
  }

 protected:
  void Forget(const std::vector<std::string>& keys) override;

 private:
  // Returns null if there is no item of that key.
  static const KVItem* ItemOf(absl::Span<const KVItem> items, const std::string& key);
  // Describes this process's items: a key, a tab and a description on each line, in the order of
  // items.
  std::string TextOf(absl::Span<const KVItem> items);
  // Gives the key sets of all processes the same numbers on all, and sets the first values of new
  // keys to those of the lowest rank that has them. `text` describes this process's keys.
  absl::Status Agree(const std::string& text, absl::Span<const KVItem> items);
  uint64_t NumberOf(const std::string& text) const;
  absl::Status InitFrom(int root, const std::string& key, const std::string& spec,
                        absl::Span<const KVItem> items);
  // Returns the keys of a step, in the same order on all processes: that of the set if all brought
  // the same one, else alphabetical. `numbers` are the sets' numbers by rank.
  std::vector<std::string> KeysOf(const std::vector<uint64_t>& numbers) const;
  // Sums the gradients of `keys` over all processes and applies them; if the keys are on GPUs, also
  // to the items' outs.
  absl::Status Exchange(const std::vector<std::string>& keys, absl::Span<const KVItem> items);
  absl::Status ExchangeInMemory(const std::vector<std::string>& keys,
                                absl::Span<const KVItem> items);
  absl::Status Apply(const std::string& key, const NDArray& value, const NDArray& sum);

  // Whether `arrays` are on this process's GPUs, on all of them; the first key with such arrays
  // decides which GPUs these are.
  bool IsOnGpus(absl::Span<const NDArray> arrays);
  bool HasValueOnGpu(const std::string& key) const { return !values_.at(key).context().is_cpu(); }
  // kInvalidArgument, the same on all processes, if one has no parameters on GPUs.
  absl::Status CheckGpus(const std::vector<std::string>& texts);
  absl::Status ExchangeOnGpus(const std::vector<std::string>& keys, absl::Span<const KVItem> items);
  // Returns a key's gradients on this process's GPUs, where they can be summed; `item` may be null.
  absl::StatusOr<std::vector<NDArray>> GradsOnGpus(const NDArray& value, const KVItem* item);

  MpiWorld& world_;
  // The key sets that processes have brought to a step; and their numbers, from 1 on, by their
  // description.
  std::vector<std::vector<std::string>> key_sets_;
  std::map<std::string, uint64_t> numbers_;
  std::vector<Context> gpus_;    // of this process's parameters
  std::set<int> ranks_on_gpus_;  // that have parameters on GPUs
  DeviceStep device_step_;
  // Buffers for the gradients of a step; they grow as needed.
  SumBuffer sum_buffer_;
  NDArray flat64_;
  NDArray decompressed_;  // with compression, in place of sum_buffer_
  CompressedSum compressed_sum_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_MPI_KVSTORE_MPI_H_
