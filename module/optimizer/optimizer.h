#ifndef COOPER_MODULE_OPTIMIZER_OPTIMIZER_H_
#define COOPER_MODULE_OPTIMIZER_OPTIMIZER_H_

// The base of all optimizers: learning rate, weight decay and update counts for each parameter, by
// name. An operator computes a step (symbol/ops/optimizer), with its kernel for the parameter's
// device.
//
// An optimizer holds what all parameters share. The state of one parameter (momentum, counts) is a
// ParameterState, which Updater (updater.h) keeps by name and saves. CreateOptimizer
// (create_optimizer.h) creates optimizers by name; the functions beside their options (sgd.h,
// adam.h, ...) create one kind.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "executor/run/invoke.h"
#include "io/batch/key_values.h"
#include "module/lr_scheduler/lr_scheduler.h"
#include "ndarray/array/ndarray.h"
#include "symbol/ops/optimizer/update_param.h"

namespace cooper {

// The arguments of all kinds.
struct OptimizerOptions {
  double rescale_grad = 1;  // factor of every gradient
  double wd = 0;            // weight decay
  // Gradients are clipped to [-clip_gradient, clip_gradient]; unset or <= 0: no clipping.
  std::optional<double> clip_gradient;
  // Unset: the kind's default, if there is no scheduler. With a scheduler of any kind, a rate given
  // here becomes its base rate: it overwrites the scheduler's base_lr, and the warm-up leads to it
  // and a decay starts from it. (In MXNet decays and warm-ups keep their own base rate, and the
  // default rate of Adam and others overwrites base_lr too.)
  std::optional<double> learning_rate;
  std::shared_ptr<LRScheduler> lr_scheduler;
  int64_t begin_num_update = 0;  // where counts and schedule begin
  // Weights of 16-bit floats get a float32 master copy, which the update uses.
  bool multi_precision = false;
};

// The largest update count of a saved state: every smaller integer is exact as a double.
inline constexpr int64_t kMaxNumUpdates = int64_t{1} << 53;

// The optimizer state of one parameter.
struct ParameterState {
  int64_t num_updates = 0;
  std::vector<NDArray> arrays;  // in the order of Optimizer::state_names()
  NDArray master;               // the float32 copy of the weight, or null
};

// See the top of the file. Not thread-safe.
class Optimizer {
 public:
  // The constants of a kind of optimizer.
  struct Kind {
    const char* name;
    // The operator that updates a parameter with such states, as update_op.h describes.
    const char* op;
    std::vector<std::string> state_names;
    double learning_rate;  // the default
  };

  virtual ~Optimizer() = default;

  // "sgd", "adam", ...
  absl::string_view kind() const { return kind_.name; }
  // The names of the arrays of a ParameterState: "momentum", or "mean" and "var".
  const std::vector<std::string>& state_names() const { return kind_.state_names; }

  // Returns the number from which updates are counted.
  int64_t begin_num_update() const { return options_.begin_num_update; }
  // Returns whether the state of a parameter has a float32 copy of it.
  bool UsesMaster(const NDArray& weight) const;

  // Returns the initial state of a parameter, on the device of `weight`.
  absl::StatusOr<ParameterState> CreateState(const NDArray& weight) const;

  // kInvalidArgument, naming the parameter, unless `state` fits `weight`: arrays of its shape, all
  // of one dtype, and a float32 master copy exactly where CreateState allocates one.
  absl::Status CheckState(const std::string& name, const NDArray& weight,
                          const ParameterState& state) const;

  // Called after `weight` was given a value other than by an update: copies it to the state that
  // has a copy of it, such as the float32 master, from which the next update would overwrite it.
  absl::Status WeightChanged(const NDArray& weight, const ParameterState& state) const;

  // Makes one step: overwrites `weight` and the arrays of `state`. Allocates nothing. After an
  // error weights, counts and what the kind shares between parameters are unchanged.
  //
  // Errors: kInvalidArgument, naming the parameter, if shapes or dtypes disagree, or if the
  // learning rate is negative or not finite (for SGLD, including the parameter's multiplier);
  // kFailedPrecondition if the arrays are not on one device; kUnimplemented if no kernel for the
  // device is linked.
  absl::Status Update(const std::string& name, const NDArray& weight, const NDArray& grad,
                      ParameterState* state);

  // A parameter to update. Refers to objects of the caller.
  struct Parameter {
    const std::string& name;
    const NDArray& weight;
    const NDArray& grad;
    ParameterState* state;
  };
  // Updates the parameters in this order, after checking all arguments. Kinds whose elements are
  // independent update all parameters in one parallel loop, in which each thread has the same share
  // of every array; on a GPU, by one launch for consecutive parameters of one dtype (RunAll of
  // invoke.h).
  absl::Status UpdateAll(absl::Span<const Parameter> parameters);

  // UpdateAll in two calls. PrepareAll checks and counts the update, with UpdateAll's errors, and
  // returns a non-negative number. Two calls in this process, for any optimizers, return the same
  // number only if their RunPrepared does the same work on the same arrays: a recording of it
  // (ndarray/array/recording_queue.h) can then be replayed.
  absl::StatusOr<int64_t> PrepareAll(absl::Span<const Parameter> parameters);
  // Puts the update into `queue`, a queue of the parameters' device, or runs it as Invocation::Run
  // says. The `parameters` of the last PrepareAll must still exist.
  absl::Status RunPrepared(DeviceQueue* queue) const;
  // Restores counts and what the kind shares between parameters to the values before the last
  // PrepareAll, whose parameters must be passed again.
  void ReleasePrepared(absl::Span<const Parameter> parameters);

  // Whether the options have a learning rate.
  bool learning_rate_given() const { return options_.learning_rate.has_value(); }
  // The learning rate of the next update, without multipliers.
  double learning_rate();
  // kInvalidArgument, with the rate, if the given rate (with a scheduler, its base_lr) is negative,
  // infinite or NaN, or below the start of the scheduler's warm-up. Rates that a scheduler computes
  // are checked in each update.
  absl::Status CheckLearningRate() const;
  // Sets the learning rate of the next updates. Errors: kFailedPrecondition if a scheduler sets the
  // rate; kInvalidArgument as for CheckLearningRate.
  absl::Status set_learning_rate(double learning_rate);
  LRScheduler* lr_scheduler() const { return options_.lr_scheduler.get(); }

  // The factor of all gradients in the next update.
  double rescale_grad() const { return options_.rescale_grad; }
  void set_rescale_grad(double rescale_grad) { options_.rescale_grad = rescale_grad; }

  // The largest update count of a parameter, begin_num_update included.
  int64_t num_update() const { return num_update_; }

  // Sets multipliers of learning rate and weight decay by parameter name, in place of those of an
  // earlier call. A parameter without one uses its variable's attribute `__lr_mult__` or
  // `__wd_mult__`, else 1, except that names that do not end in "_weight" or "_gamma" get no decay.
  // (Names that are numbers, as a key-value store may use, get decay.)
  void SetLrMult(std::map<std::string, double> lr_mult) { lr_mult_ = std::move(lr_mult); }
  void SetWdMult(std::map<std::string, double> wd_mult) { wd_mult_ = std::move(wd_mult); }
  // Adds attributes by variable, in the format of Symbol::attr_dict, to those of earlier calls, so
  // that each bucket's symbol can add its own. kInvalidArgument if a multiplier is not a number.
  absl::Status AddSymbolAttributes(
      const std::map<std::string, std::map<std::string, std::string>>& attr_dict);

  // Saves and restores what the parameters share (counts, rate, schedule), as text in the format of
  // key_values.h. LoadState accepts the state of an optimizer of the same kind; kInvalidArgument,
  // changing nothing, otherwise and for a rate or a count that no run can reach.
  std::string SaveState() const;
  absl::Status LoadState(absl::string_view text);

 protected:
  // One update of one parameter.
  struct Step {
    const std::string& name;
    int64_t size;  // number of elements
    int64_t t;     // number of this update, from 1 on
  };

  Optimizer(const OptimizerOptions& options, Kind kind);

  // Returns the operator's parameters, with the values that are the same in every step.
  virtual std::shared_ptr<UpdateParam> NewParam() const = 0;
  // Sets the values that change from step to step. The members of UpdateParam itself are already
  // set.
  virtual void SetStep(const Step&, UpdateParam*) {}
  // Whether SetStep does anything.
  virtual bool changes_with_steps() const { return true; }
  // Copies the weight into those arrays of a new state that hold one. The arrays are zero before.
  virtual absl::Status KeepWeight(const NDArray&, absl::Span<const NDArray>) const {
    return absl::OkStatus();
  }
  // Whether names without another rule get weight decay.
  virtual bool HasWeightDecay(absl::string_view name) const;
  // Whether the rate is the one before this update is counted.
  virtual bool lags_schedule() const { return false; }
  // Whether a multiplier may make a parameter's rate negative.
  virtual bool takes_negative_rates() const { return true; }
  // State that the kind shares between parameters, besides that of the base. Save writes it. Load
  // reads what Save wrote, and changes nothing if it fails.
  virtual void Save(KeyValues*) const {}
  virtual absl::Status Load(const KeyValues&) { return absl::OkStatus(); }
  // KeepShared saves the part of that state that SetStep changes; RestoreShared restores it, so
  // that a failed step leaves no trace.
  virtual void KeepShared() {}
  virtual void RestoreShared() {}

 private:
  double Multiplier(const std::string& name, const std::map<std::string, double>& given,
                    const std::map<std::string, double>& attributes, double otherwise) const;
  absl::Status Check(const Parameter& parameter) const;
  // Sets invocation `i` to the update of this parameter.
  absl::Status SetInvocation(size_t i, const Parameter& parameter);
  absl::Status NextStep(const Parameter& parameter, UpdateParam* param);
  absl::Status LoadSchedule(const KeyValues& state);
  int64_t NameOfPrepared(absl::Span<const Parameter> parameters) const;

  const uint64_t number_;  // unique among the optimizers of the process
  const Kind kind_;
  const std::string op_;
  const std::string master_op_;  // for weights with a float32 copy
  // The invocations of UpdateAll, one per parameter, and the parameters of their operators; reused
  // from step to step.
  std::vector<Invocation> invocations_;
  std::vector<std::shared_ptr<UpdateParam>> params_;
  size_t num_prepared_ = 0;
  int64_t num_update_before_ = 0;  // before the last PrepareAll

  OptimizerOptions options_;
  double learning_rate_;
  int64_t num_update_;
  std::map<std::string, double> lr_mult_;
  std::map<std::string, double> wd_mult_;
  std::map<std::string, double> attr_lr_mult_;
  std::map<std::string, double> attr_wd_mult_;
};

// An optimizer whose operator has parameters of type P.
template <typename P>
class OptimizerWith : public Optimizer {
 public:
  OptimizerWith(const OptimizerOptions& options, Kind kind, const P& param)
      : Optimizer(options, std::move(kind)), param_(param) {}

  // Makes an optimizer of a kind whose own values in P do not change from step to step.
  static std::unique_ptr<Optimizer> Make(const OptimizerOptions& options, Kind kind,
                                         const P& param) {
    auto optimizer = std::make_unique<OptimizerWith>(options, std::move(kind), param);
    optimizer->changes_with_steps_ = false;
    return optimizer;
  }

 protected:
  bool changes_with_steps() const final { return changes_with_steps_; }
  std::shared_ptr<UpdateParam> NewParam() const final { return std::make_shared<P>(param_); }
  void SetStep(const Step& step, UpdateParam* param) final { Set(step, static_cast<P*>(param)); }
  virtual void Set(const Step&, P*) {}

  const P& param() const { return param_; }

 private:
  const P param_;
  bool changes_with_steps_ = true;
};

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_OPTIMIZER_H_
