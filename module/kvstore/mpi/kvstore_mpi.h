#ifndef COOPER_MODULE_KVSTORE_MPI_KVSTORE_MPI_H_
#define COOPER_MODULE_KVSTORE_MPI_KVSTORE_MPI_H_

// Stores of the types "dist_sync" and "dist_device_sync": gradients are summed over the processes
// that mpirun started, and each process makes the same update of its copy of the stored values.
// Linking this target makes the types known.
//
// "dist_sync" sums in CPU memory. So does "dist_device_sync", unless every process has the
// parameters on GPUs, the same for all of them: then gradients are summed, values updated and
// copied there (device_step.h).
//
// Each call is collective unless it says otherwise. Push, Pull and Init are for programs whose
// processes do the same in the same order; Step is for training, where they need not.

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
#include "module/kvstore/mpi/mpi_world.h"
#include "module/kvstore/mpi/sum_buffer.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

class KVStoreMpi : public KVStoreWithValues {
 public:
  KVStoreMpi(absl::string_view type, MpiWorld* world)
      : KVStoreWithValues(type), world_(*world), device_step_(world), sum_buffer_(world) {}

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
  // Not collective: each process has residuals of its own. If those of one are of another size than
  // their key's value, the next Push or Step of that key fails with kInvalidArgument on all, which
  // then have updated nothing of it.
  absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetState() const override;
  absl::Status SetState(const std::vector<std::pair<std::string, NDArray>>& state) override;

 protected:
  void Forget(const std::vector<std::string>& keys) override;

 private:
  // Null where there is none of that key.
  static const KVItem* ItemOf(absl::Span<const KVItem> items, const std::string& key);
  // What this process brings: a key, a tab and a description on each line, in the order of items.
  std::string TextOf(absl::Span<const KVItem> items);
  // Makes the key sets of all processes known to all, under the same numbers, and gives keys that
  // are new their first value, that of the lowest rank that has it. `text` describes this one's
  // keys.
  absl::Status Agree(const std::string& text, absl::Span<const KVItem> items);
  uint64_t NumberOf(const std::string& text) const;
  absl::Status InitFrom(int root, const std::string& key, const std::string& spec,
                        absl::Span<const KVItem> items);
  // The keys of a step to which processes have brought these sets, by rank, in the same order on
  // all: that of the only set, or the alphabet's.
  std::vector<std::string> KeysOf(const std::vector<uint64_t>& numbers) const;
  // Sums the gradients of `keys` over all processes, and applies them: to the items' outs too if
  // the keys are on GPUs.
  absl::Status Exchange(const std::vector<std::string>& keys, absl::Span<const KVItem> items);
  absl::Status ExchangeInMemory(const std::vector<std::string>& keys,
                                absl::Span<const KVItem> items);
  absl::Status Compressed(const std::vector<std::string>& keys, absl::Span<float> flat);
  // kInvalidArgument, naming it, for a key whose residuals here are not of its value's size.
  absl::Status CheckResiduals(const std::vector<std::string>& keys) const;
  absl::Status Apply(const std::string& key, const NDArray& value, const NDArray& sum);

  // Whether arrays of a key are on this process's GPUs, all of them; the first such key says which
  // those are.
  bool IsOnGpus(absl::Span<const NDArray> arrays);
  bool HasValueOnGpu(const std::string& key) const { return !values_.at(key).context().is_cpu(); }
  // kInvalidArgument, the same on all, if a process has nothing on GPUs.
  absl::Status CheckGpus(const std::vector<std::string>& texts);
  absl::Status ExchangeOnGpus(const std::vector<std::string>& keys, absl::Span<const KVItem> items);
  // The gradients of a key that this process need not have, where its GPUs can sum them.
  absl::StatusOr<std::vector<NDArray>> GradsOnGpus(const NDArray& value, const KVItem* item);

  MpiWorld& world_;
  // The sets of keys that processes have brought to a step, and their numbers, from 1 on, by their
  // description.
  std::vector<std::vector<std::string>> key_sets_;
  std::map<std::string, uint64_t> numbers_;
  std::vector<Context> gpus_;    // of this process's parameters
  std::set<int> ranks_on_gpus_;  // that have brought parameters on GPUs
  DeviceStep device_step_;
  // Where gradients meet; they grow as needed.
  SumBuffer sum_buffer_;
  NDArray flat64_;
  NDArray decompressed_;  // with compression, in place of sum_buffer_
  // What compression has kept back of this process's gradients, by key; and of those of one step.
  std::map<std::string, std::vector<float>> residuals_;
  std::vector<float> residual_;
  std::vector<uint32_t> words_, all_words_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_MPI_KVSTORE_MPI_H_
