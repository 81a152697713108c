#ifndef COOPER_MODULE_OPTIMIZER_UPDATER_H_
#define COOPER_MODULE_OPTIMIZER_UPDATER_H_

// An optimizer together with the states of all parameters, by name. Modules update with it, and
// checkpoints save it.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "module/optimizer/convert_states.h"
#include "module/optimizer/optimizer.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Options of Updater::LoadStates.
struct LoadStatesOptions {
  // The parameters that the states have to fit. States of others are checked at their next update.
  ArrayMap weights;
  // Whether the learning rate stays unchanged, unless a scheduler sets it; the scheduler continues
  // from the file's position.
  bool keep_rate = false;
  MxnetPositions positions;  // for files of MXNet
};

// Several updaters, one per device, may share an optimizer. Not thread-safe.
class Updater {
 public:
  explicit Updater(std::shared_ptr<Optimizer> optimizer) : optimizer_(std::move(optimizer)) {}

  // Calls Optimizer::Update with the state of that name, which is created on first use.
  absl::Status Update(const std::string& name, const NDArray& weight, const NDArray& grad);

  // A parameter to update. Refers to objects of the caller.
  struct Parameter {
    const std::string& name;
    const NDArray& weight;
    const NDArray& grad;
  };
  // Calls Optimizer::UpdateAll with the states of those names. Allocates nothing if the states
  // exist.
  absl::Status UpdateAll(absl::Span<const Parameter> parameters);
  // Call PrepareAll, RunPrepared and ReleasePrepared of the optimizer with the states of those
  // names.
  absl::StatusOr<int64_t> PrepareAll(absl::Span<const Parameter> parameters);
  absl::Status RunPrepared(DeviceQueue* queue) const { return optimizer_->RunPrepared(queue); }
  void ReleasePrepared() { optimizer_->ReleasePrepared(parameters_); }

  // Calls Optimizer::WeightChanged with the state of that name, if there is one.
  absl::Status WeightChanged(const std::string& name, const NDArray& weight) const;

  Optimizer& optimizer() const { return *optimizer_; }

  // Returns the states as named arrays, which can be written as a .params file: arrays such as
  // "fc_weight:momentum" (shared, not copied), "fc_weight:master" for a float32 master copy,
  // "fc_weight:num_updates" for the count (int64), and ":optimizer" for Optimizer::SaveState, a
  // text in uint8. With all of them a run resumes bit for bit.
  absl::StatusOr<std::vector<std::pair<std::string, NDArray>>> GetStates() const;

  // Replaces all states by those of GetStates. A state moves to its weight's device at the next
  // update. States of names that `weights` lacks are checked at their next update.
  //
  // Errors: kInvalidArgument, changing nothing, if an array belongs to no state of this kind of
  // optimizer, one is missing, a count is out of range, or a state does not fit its weight in
  // `weights`.
  absl::Status SetStates(const std::vector<std::pair<std::string, NDArray>>& states,
                         const ArrayMap& weights = {});

  // Writes GetStates to a file.
  absl::Status SaveStates(const std::string& path) const;
  // Calls SetStates with the contents of a file of SaveStates, or with the states in a pickle of
  // MXNet (of Module or of Gluon's Trainer, recognised by its first bytes). A file of Module has
  // neither counts nor rate, and leaves both unchanged, as in MXNet: a new optimizer continues from
  // its begin_num_update. Errors: those of SetStates, ParseMxnetStates and ConvertMxnetStates.
  absl::Status LoadStates(const std::string& path, const LoadStatesOptions& options = {});

 private:
  absl::Status SetMxnetStates(absl::string_view bytes, const LoadStatesOptions& options);
  absl::StatusOr<ParameterState*> StateOf(const std::string& name, const NDArray& weight);

  std::shared_ptr<Optimizer> optimizer_;
  std::map<std::string, ParameterState> states_;
  std::vector<Optimizer::Parameter> parameters_;  // of UpdateAll; reused to avoid allocations
};

// Returns OK if the file at `path` begins as one that Updater::LoadStates reads, else the error of
// CheckParamsFile. Reads only the first bytes.
absl::Status CheckStatesFile(const std::string& path);

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_UPDATER_H_
