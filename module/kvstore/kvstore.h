#ifndef COOPER_MODULE_KVSTORE_KVSTORE_H_
#define COOPER_MODULE_KVSTORE_KVSTORE_H_

// A key-value store sums gradients over the devices that have copies of a parameter, and over
// processes for a type "dist_...", and copies the result back to them. MXNet:
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

// One parameter in a step of training.
struct KVItem {
  std::string key;
  // The parameter's arrays on the devices. The first one's value becomes the key's first value,
  // unless another process has the key first: then all of them take that value.
  std::vector<NDArray> weights;
  std::vector<NDArray> grads;  // by device; unchanged if `outs` are other arrays
  std::vector<NDArray> outs;   // receive the stored value at the end
};

// The result of KVStore::Step.
struct KVStepInfo {
  // Processes that had a batch. 0: the epoch is over for all.
  int active_workers = 1;
  // Keys that only other processes had in this step.
  std::vector<std::string> others;
};

// How gradients on several GPUs are summed (gradient_buckets.h).
struct KVBuckets {
  int64_t bytes = int64_t{25} << 20;  // of one GPU's gradients per sum; > 0
  bool overlap = true;                // sums may begin during the backward pass
};

// Why a training of several processes ends early.
enum class StopReason { kNone, kCallback, kSignal };

// The interface of all stores; see the top of the file.
class KVStore {
 public:
  virtual ~KVStore() = default;

  // Returns "local", "device", "dist_sync", ...
  virtual absl::string_view type() const = 0;
  // Rank and number of processes. A store of one process has rank 0 of 1.
  virtual int rank() const { return 0; }
  virtual int num_workers() const { return 1; }

  // Sets the first value of a key, which is copied; rank 0's counts. kAlreadyExists if the key has
  // one.
  virtual absl::Status Init(const std::string& key, const NDArray& value) = 0;
  // Whether a key has a value, and all keys that have one, sorted. Not collective.
  virtual bool contains(const std::string& key) const = 0;
  virtual std::vector<std::string> keys() const = 0;
  // Returns a copy of the stored value in CPU memory. Not collective. kNotFound before Init.
  virtual absl::StatusOr<NDArray> Get(const std::string& key) const = 0;
  // Replaces a key's value. Optimizer states stay. Not collective: every process has to do it in
  // the same way. kNotFound before Init.
  virtual absl::Status Set(const std::string& key, const NDArray& value) = 0;

  // Sums `values`, one per device, over the processes as well. Without an optimizer the sum
  // replaces the stored value; with one it is the gradient of its update. Errors: kNotFound before
  // Init; kInvalidArgument, naming the key, for another shape or dtype.
  virtual absl::Status Push(const std::string& key, absl::Span<const NDArray> values) = 0;
  // Copies the stored value to each of `outs`.
  virtual absl::Status Pull(const std::string& key, absl::Span<const NDArray> outs) = 0;
  // Calls Push, then Pull.
  absl::Status PushPull(const std::string& key, absl::Span<const NDArray> values,
                        absl::Span<const NDArray> outs);
  // Calls Init, then Pull.
  absl::Status Broadcast(const std::string& key, const NDArray& value,
                         absl::Span<const NDArray> outs);

  // SetUpdater makes Push update the stored value with `updater`, whose states belong to the store;
  // SetOptimizer does so with a new Updater of `optimizer`. If a module uses the store
  // (InitOptimizerOptions::kvstore_instance), the module sets its own updater with each update.
  virtual absl::Status SetUpdater(std::shared_ptr<Updater> updater) = 0;
  absl::Status SetOptimizer(std::shared_ptr<Optimizer> optimizer);
  // The updater; null without an optimizer.
  virtual const std::shared_ptr<Updater>& updater() const = 0;

  // Gives `keys` to `owner`, a module, for as long as it lives. kAlreadyExists, naming the key and
  // changing nothing, if another live owner has one of them.
  absl::Status Claim(const std::shared_ptr<const void>& owner, absl::Span<const std::string> keys);
  // Claims keys for a training that begins: the values of these keys, of the owner's other keys and
  // of keys whose owners are gone are dropped, with everything else kept for them. Every process
  // has to call it in the same way.
  absl::Status Reclaim(const std::shared_ptr<const void>& owner,
                       absl::Span<const std::string> keys);

  // Compresses gradients in transit with "type" "2bit" and "threshold" (gradient_compression.h);
  // each device has its own residuals. kInvalidArgument for a store of type "local", which moves no
  // gradients, and for unknown parameters.
  virtual absl::Status SetGradientCompression(const Kwargs& params) = 0;

  // Write and read a file with the optimizer states of all keys, in cooper's own format
  // (updater.h). kFailedPrecondition without an optimizer.
  absl::Status SaveOptimizerStates(const std::string& path) const;
  absl::Status LoadOptimizerStates(const std::string& path);

  // Pushes the gradients of all items and pulls. On GPUs this is only queued if the type is
  // "device" or "dist_device_sync", a parameter is on several GPUs (or processes) as floats, and
  // nothing is compressed; without an optimizer a store of one process then keeps no sum.
  //
  // With several processes all take part in each step: a process whose data has ended calls it with
  // `active` false and no items until no process is active. Keys may differ: a key that a process
  // lacks counts as zero gradients there.
  //
  // Errors: kUnavailable, naming it, if a process is dead. However, a sum by NCCL that others have
  // begun waits for it forever, and so does the host where it waits for the GPU.
  virtual absl::StatusOr<KVStepInfo> Step(absl::Span<const KVItem> items, bool active);
  // RequestStop asks all processes, with the next Step, to end the training. stop_reason() is the
  // strongest request of any process in the Steps so far, the same on all. An implementation of
  // Step has to combine requested_stop_ of all processes into stop_.
  void RequestStop(StopReason reason) { requested_stop_ = std::max(requested_stop_, reason); }
  StopReason stop_reason() const { return stop_; }
  // A saved state of the training, by epoch and updates (Checkpointer).
  using SavedState = std::pair<int64_t, int64_t>;
  static constexpr SavedState kNoState = {-1, -1};
  // AnnounceSaved sets the state that this process has saved and keeps; each Step announces it to
  // the others. common_state() is the last state that all processes announced in the same Step,
  // from which a killed training can resume; kNoState if there is none so far. An implementation of
  // Step has to combine announced_state_ of all processes into common_state_.
  void AnnounceSaved(const SavedState& state) { announced_state_ = state; }
  const SavedState& common_state() const { return common_state_; }
  // Called before another training: forgets stop requests and announced states of the last one.
  // Every process has to call it.
  void ResetStop() {
    requested_stop_ = stop_ = StopReason::kNone;
    announced_state_ = common_state_ = kNoState;
  }
  // Sets how the following steps sum on GPUs; call it before the first step. kInvalidArgument if
  // `bytes` is not positive.
  absl::Status SetBuckets(const KVBuckets& buckets);
  // Reports that the work in `queue` computes the gradient of a key on the device with this index.
  // Thread-safe; ignores unknown keys.
  using GradientReady =
      std::function<absl::Status(absl::string_view key, int device, DeviceQueue& queue)>;
  // Called before the backward pass whose gradients the next Step, with the same items, will sum.
  // Returns a function to call during the pass, which begins sums as soon as their gradients are
  // ready; nothing else may write to a reported gradient until Step. Null if all sums are left to
  // Step. Discards what an earlier call began and no Step finished; an empty span only discards.
  virtual absl::StatusOr<GradientReady> BeginGradients(absl::Span<const KVItem>) {
    return GradientReady();
  }
  // Returns the texts of all processes, in the order of ranks. Collective.
  virtual absl::StatusOr<std::vector<std::string>> AllGather(const std::string& text) {
    return std::vector<std::string>{text};
  }
  // Calls Init for the items that have no value yet, and copies the stored value to their weights.
  // With an updater the stored value is the array of the first weight itself, so that an update
  // needs no copy, if that array is in CPU memory, or if it is on a GPU, has a floating dtype, and
  // Step sums on GPUs. Collective.
  virtual absl::Status InitAll(absl::Span<const KVItem> items) = 0;

  // Returns what the store keeps besides parameters and optimizer states, as named arrays: the
  // residuals of compression, "KEY:INDEX" by device. With them a run resumes bit for bit. SetState
  // takes the arrays of GetState, whose keys may get their value later; kInvalidArgument for those
  // of another store.
  virtual absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetState() const = 0;
  virtual absl::Status SetState(const std::vector<std::pair<std::string, NDArray>>& state) = 0;

  // Returns when every process has called it.
  virtual absl::Status Barrier() { return absl::OkStatus(); }

  // Bytes of gradients moved between devices or processes, and the same bytes without compression.
  struct Traffic {
    int64_t bytes = 0;
    int64_t uncompressed_bytes = 0;
  };
  virtual Traffic traffic() const = 0;

 protected:
  // Drops the values of `keys`, some of which may have none, and everything else kept for them.
  virtual void Forget(const std::vector<std::string>& keys) = 0;

  StopReason requested_stop_ = StopReason::kNone;  // by this process
  StopReason stop_ = StopReason::kNone;
  SavedState announced_state_ = kNoState;  // by this process
  SavedState common_state_ = kNoState;
  KVBuckets buckets_;

 private:
  std::map<std::string, std::weak_ptr<const void>> owners_;  // by key
};

// Creates a store: "local" or "device", which differ in compression and in where GPUs' gradients
// are summed, or a registered type. kInvalidArgument, with the known types, for others.
absl::StatusOr<std::unique_ptr<KVStore>> CreateKVStore(absl::string_view type);

// Registers a type. Called by static initializers; returns true.
using KVStoreFactory = absl::StatusOr<std::unique_ptr<KVStore>> (*)(absl::string_view type);
bool RegisterKVStore(const std::string& type, KVStoreFactory factory);

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_KVSTORE_H_
