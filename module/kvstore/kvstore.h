#ifndef COOPER_MODULE_KVSTORE_KVSTORE_H_
#define COOPER_MODULE_KVSTORE_KVSTORE_H_

// Where the copies of a parameter meet: gradients are summed over devices, and over processes for a
// store of type "dist_...", and what comes of it goes back to every copy. MXNet:
// include/mxnet/kvstore.h.
//
//   COOPER_ASSIGN_OR_RETURN(auto store, CreateKVStore("local"));
//   COOPER_RETURN_IF_ERROR(store->Init("fc_weight", weight));
//   COOPER_RETURN_IF_ERROR(store->SetOptimizer(optimizer));
//   COOPER_RETURN_IF_ERROR(store->Push("fc_weight", {grad0, grad1}));
//   COOPER_RETURN_IF_ERROR(store->Pull("fc_weight", {weight0, weight1}));
//
// Keys are strings. Not thread-safe.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/kwargs/kwargs.h"
#include "module/optimizer/updater.h"
#include "ndarray/array/device.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// One parameter's part in a step of training.
struct KVItem {
  std::string key;
  // Its arrays on the devices: the first one's value is the key's first one, and all of them take
  // that of another process if that comes first.
  std::vector<NDArray> weights;
  std::vector<NDArray> grads;  // likewise; left as they are if `outs` are others
  std::vector<NDArray> outs;   // what the stored value is copied to at the end
};

struct KVStepInfo {
  // Processes that had a batch. None: the epoch is over for all.
  int active_workers = 1;
  // Keys that only other processes had in this step.
  std::vector<std::string> others;
};

// How gradients that are on several GPUs are summed (gradient_buckets.h).
struct KVBuckets {
  int64_t bytes = int64_t{25} << 20;  // of one GPU's gradients that are summed together; > 0
  bool overlap = true;                // sums may begin during the backward pass
};

// Why a training of several processes ends early.
enum class StopReason { kNone, kCallback, kSignal };

class KVStore {
 public:
  virtual ~KVStore() = default;

  // "local", "device", "dist_sync", ...
  virtual absl::string_view type() const = 0;
  // Of processes. A store within one process has rank 0 of 1.
  virtual int rank() const { return 0; }
  virtual int num_workers() const { return 1; }

  // Gives a key its first value, which is copied; that of rank 0 counts. kAlreadyExists for a key
  // that has one.
  virtual absl::Status Init(const std::string& key, const NDArray& value) = 0;
  virtual bool contains(const std::string& key) const = 0;
  virtual std::vector<std::string> keys() const = 0;
  // A copy of the stored value, in CPU memory. Not collective.
  virtual absl::StatusOr<NDArray> Get(const std::string& key) const = 0;
  // Gives a key another value. Optimizer states stay. Not collective: every process has to do it
  // alike. kNotFound before Init.
  virtual absl::Status Set(const std::string& key, const NDArray& value) = 0;

  // Sums `values`, one per device, and the other processes'. The sum takes the place of the stored
  // value; with an optimizer it is the gradient by which the stored value is updated. kNotFound
  // before Init; kInvalidArgument, naming the key, for another shape or dtype.
  virtual absl::Status Push(const std::string& key, absl::Span<const NDArray> values) = 0;
  // Copies the stored value into each of `outs`.
  virtual absl::Status Pull(const std::string& key, absl::Span<const NDArray> outs) = 0;
  absl::Status PushPull(const std::string& key, absl::Span<const NDArray> values,
                        absl::Span<const NDArray> outs);
  // Init, then Pull.
  absl::Status Broadcast(const std::string& key, const NDArray& value,
                         absl::Span<const NDArray> outs);

  // From now on Push updates. The updater's states are the store's. Of a store that a module has
  // (InitOptimizerOptions::kvstore_instance), the module sets its own with each update.
  virtual absl::Status SetUpdater(std::shared_ptr<Updater> updater) = 0;
  absl::Status SetOptimizer(std::shared_ptr<Optimizer> optimizer);
  // Null without an optimizer.
  virtual const std::shared_ptr<Updater>& updater() const = 0;

  // Makes `keys` those of `owner`, a module, for as long as it lives. kAlreadyExists, naming the
  // key and changing nothing, if another that lives has one of them.
  absl::Status Claim(const std::shared_ptr<const void>& owner, absl::Span<const std::string> keys);
  // Claim for a training that begins: these keys, and all of this owner and of those that are gone,
  // have no value any more, nor what else was kept for them. Every process has to do it alike.
  absl::Status ClaimAnew(const std::shared_ptr<const void>& owner,
                         absl::Span<const std::string> keys);

  // "type" "2bit" and "threshold": gradients are compressed on their way (gradient_compression.h),
  // each device with residuals of its own. kInvalidArgument for a store of type "local", which
  // moves no gradient, and for unknown parameters.
  virtual absl::Status SetGradientCompression(const Kwargs& params) = 0;

  // States of all keys in cooper's own format (updater.h). kFailedPrecondition without an
  // optimizer.
  absl::Status SaveOptimizerStates(const std::string& path) const;
  absl::Status LoadOptimizerStates(const std::string& path);

  // Pushes the gradients of all items and pulls. On GPUs that is only queued where the type is
  // "device" or "dist_device_sync", a parameter is on several of them (or processes) as floats and
  // nothing is compressed; without an optimizer a store of one process keeps no sum then. This is
  // where processes agree, and all of them take part in each step: a process whose data has ended
  // calls it with `active` false and no items until none is active. Keys need not be the same:
  // those that a process lacks count as zero gradients there. kUnavailable, naming it, if a process
  // is gone; but a sum by NCCL that others have begun waits for it for ever, and the host with it
  // where it waits for the GPU.
  virtual absl::StatusOr<KVStepInfo> Step(absl::Span<const KVItem> items, bool active);
  // Asks all processes, with the next Step, to end the training; and whether one had asked when the
  // last Step was made, in which all know the same: a Step of one's own has to bring
  // requested_stop_ of all processes to stop_.
  void RequestStop(StopReason reason) { requested_stop_ = std::max(requested_stop_, reason); }
  StopReason stop_reason() const { return stop_; }
  // A saved state of the training, by epoch and updates (Checkpointer).
  using SavedState = std::pair<int64_t, int64_t>;
  static constexpr SavedState kNoState = {-1, -1};
  // Tells the others with each Step which state this process has saved and keeps, by what it is
  // told here last; and the state that all processes told of in the same Step, the last one: each
  // has it, and so a training that was killed can go on from there. kNoState if there is none so
  // far. A Step of one's own has to bring told_state_ of all processes to common_state_.
  void TellSaved(const SavedState& state) { told_state_ = state; }
  const SavedState& common_state() const { return common_state_; }
  // Before another training: what was asked and told in the last one is over. Every process has to
  // do it.
  void ForgetStop() {
    requested_stop_ = stop_ = StopReason::kNone;
    told_state_ = common_state_ = kNoState;
  }
  // Before the first step: how the next ones sum on GPUs. kInvalidArgument for buckets of no bytes.
  absl::Status SetBuckets(const KVBuckets& buckets);
  // Before the backward pass whose gradients the next Step, of the same items, will bring: whether
  // sums may begin while it runs. Then GradientReady tells that `queue` holds what makes a key's
  // gradient on a device, by number; from then on until Step nobody else may write to it.
  // What an earlier call has begun, and no Step finished, is over; without items that is all.
  // GradientReady is thread-safe, and passes over keys that it does not know.
  virtual absl::StatusOr<bool> BeginGradients(absl::Span<const KVItem>) { return false; }
  virtual absl::Status GradientReady(absl::string_view, int, DeviceQueue&) {
    return absl::OkStatus();
  }
  // The texts of all processes, in the order of ranks. All take part.
  virtual absl::StatusOr<std::vector<std::string>> AllGather(const std::string& text) {
    return std::vector<std::string>{text};
  }
  // Init for the items that have no value yet, and their weights' values from then on. With an
  // updater the stored value is the first weight's own array, if that is in CPU memory, or of
  // floats on a GPU where Step sums there: an update needs no copy. All processes take part.
  virtual absl::Status InitAll(absl::Span<const KVItem> items) = 0;

  // What the store keeps beside parameters and optimizer states, as named arrays: the residuals of
  // compression, "KEY:INDEX" by device. With them a run goes on bit for bit. SetState takes what
  // GetState gave, for keys that may get their value later. kInvalidArgument for another's.
  virtual absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetState() const = 0;
  virtual absl::Status SetState(const std::vector<std::pair<std::string, NDArray>>& state) = 0;

  // Returns when every process has called it.
  virtual absl::Status Barrier() { return absl::OkStatus(); }

  // Bytes of gradients that were moved between devices or processes, as they went and as they would
  // have gone without compression.
  struct Traffic {
    int64_t bytes = 0;
    int64_t uncompressed_bytes = 0;
  };
  virtual Traffic traffic() const = 0;

 protected:
  // Drops the values of keys, which may have none, and what else is kept for them.
  virtual void Forget(const std::vector<std::string>& keys) = 0;

  StopReason requested_stop_ = StopReason::kNone;  // by this process
  StopReason stop_ = StopReason::kNone;
  SavedState told_state_ = kNoState;  // by this process
  SavedState common_state_ = kNoState;
  KVBuckets buckets_;

 private:
  std::map<std::string, std::weak_ptr<const void>> owners_;  // by key
};

// "local" and "device", which are the same but for compression, and the types that were registered.
// kInvalidArgument, with the types there are, for others.
absl::StatusOr<std::unique_ptr<KVStore>> CreateKVStore(absl::string_view type);

// Makes a type known. Called by static initializers; returns true.
using KVStoreFactory = absl::StatusOr<std::unique_ptr<KVStore>> (*)(absl::string_view type);
bool RegisterKVStore(const std::string& type, KVStoreFactory factory);

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_KVSTORE_H_
