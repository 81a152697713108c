#ifndef COOPER_MODULE_OPTIMIZER_OPTIMIZER_H_
#define COOPER_MODULE_OPTIMIZER_OPTIMIZER_H_

// The base of all optimizers: rates, decay and counts per parameter, which is known by its name. A
// step is made by an operator (symbol/ops/optimizer), whose kernel is that of the parameter's
// device.
//
// An optimizer holds what all parameters share; what one parameter needs (momentum, counts) is a
// ParameterState, which Updater (updater.h) keeps by name and saves. The kinds are made by
// CreateOptimizer (create_optimizer.h) or by the functions beside their options (sgd.h, adam.h,
// ...).

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

// The arguments of every kind.
struct OptimizerOptions {
  double rescale_grad = 1;  // every gradient is multiplied by it
  double wd = 0;            // weight decay
  // Gradients are clipped to [-clip_gradient, clip_gradient]; unset or <= 0: they are not.
  std::optional<double> clip_gradient;
  // Unset: the kind's own, if there is no scheduler. If there is one, a rate given here is its base
  // rate, whatever kind of schedule it is: it overwrites the scheduler's base_lr, its warm-up leads
  // there, and a decay begins there. (MXNet's decays and warm-ups keep theirs, and in MXNet the
  // default rate of Adam and others overwrites too.)
  std::optional<double> learning_rate;
  std::shared_ptr<LRScheduler> lr_scheduler;
  int64_t begin_num_update = 0;  // where counts and schedule begin
  // Weights of 16-bit floats get a float32 copy, on which the update is made.
  bool multi_precision = false;
};

// The most updates that a saved state may count: each such number is a double too.
inline constexpr int64_t kMaxNumUpdates = int64_t{1} << 53;

// What an optimizer keeps for one parameter.
struct ParameterState {
  int64_t num_updates = 0;
  std::vector<NDArray> arrays;  // in the order of Optimizer::state_names()
  NDArray master;               // the float32 copy of the weight, or null
};

class Optimizer {
 public:
  struct Kind {
    const char* name;
    // Updates a parameter with such states, as update_op.h says.
    const char* op;
    std::vector<std::string> state_names;
    double learning_rate;  // unless one is given
  };

  virtual ~Optimizer() = default;

  // "sgd", "adam", ...
  absl::string_view kind() const { return kind_.name; }
  // The arrays of a ParameterState: "momentum", or "mean" and "var".
  const std::vector<std::string>& state_names() const { return kind_.state_names; }

  // The state of a parameter that has not been updated yet.
  absl::StatusOr<ParameterState> CreateState(const NDArray& weight) const;

  // kInvalidArgument, naming the parameter, unless `state` could be that of `weight`: arrays of its
  // shape, all of one dtype, and a float32 copy just where CreateState makes one.
  absl::Status CheckState(const std::string& name, const NDArray& weight,
                          const ParameterState& state) const;

  // After `weight` was given a value that no update made: what `state` has of it, the float32 copy
  // for one, from which the next update would write it, is then that value.
  absl::Status WeightChanged(const NDArray& weight, const ParameterState& state) const;

  // One step: overwrites `weight` and the arrays of `state`. Allocates nothing. kInvalidArgument,
  // naming the parameter, if shapes or dtypes disagree, or if the learning rate is not finite or
  // negative (of SGLD, with the parameter's multiplier); kFailedPrecondition if the arrays are not
  // on one device, kUnimplemented if no kernel for it is linked. Weights, counts and what the kind
  // shares between parameters are then as before.
  absl::Status Update(const std::string& name, const NDArray& weight, const NDArray& grad,
                      ParameterState* state);

  // What UpdateAll updates. Nothing is owned.
  struct Parameter {
    const std::string& name;
    const NDArray& weight;
    const NDArray& grad;
    ParameterState* state;
  };
  // Update of each of them, in this order; arguments are checked before anything changes. Of the
  // kinds whose elements do not depend on each other all parameters are updated in one parallel
  // loop, in which each thread has the same share of every array, or on a GPU by one launch for
  // those of one dtype that follow each other (RunAll of invoke.h).
  absl::Status UpdateAll(absl::Span<const Parameter> parameters);

  // UpdateAll in two calls. The first checks, and counts the update, with UpdateAll's errors; the
  // number that it returns, which is not negative, is that of an earlier call, of whatever
  // optimizer of the process, only if RunPrepared then did the same with the same arrays: what has
  // recorded that (ndarray/array/recording_queue.h) may put it in again.
  absl::StatusOr<int64_t> PrepareAll(absl::Span<const Parameter> parameters);
  // In `queue`, of the parameters' device, or as Invocation::Run says. `parameters` of the last
  // PrepareAll must still be there.
  absl::Status RunPrepared(DeviceQueue* queue) const;
  // Counts, and what the kind shares between parameters, are as before the last PrepareAll, whose
  // parameters are given again.
  void ForgetPrepared(absl::Span<const Parameter> parameters);

  // Whether the options had a rate.
  bool learning_rate_given() const { return options_.learning_rate.has_value(); }
  // The rate of the next update, without multipliers.
  double learning_rate();
  // kInvalidArgument, with the rate, if the one that was given is negative, infinite or NaN, or
  // below that from which a scheduler's warm-up rises: of a scheduler, its base_lr. What a
  // scheduler makes of that is looked at in each update.
  absl::Status CheckLearningRate() const;
  // kFailedPrecondition if a scheduler sets it, kInvalidArgument as CheckLearningRate.
  absl::Status set_learning_rate(double learning_rate);
  LRScheduler* lr_scheduler() const { return options_.lr_scheduler.get(); }

  double rescale_grad() const { return options_.rescale_grad; }
  void set_rescale_grad(double rescale_grad) { options_.rescale_grad = rescale_grad; }

  // The largest number of updates of a parameter, begin_num_update included.
  int64_t num_update() const { return num_update_; }

  // Multipliers of rate and decay by parameter name. Each call replaces those of the last. Without
  // one, the variable's attribute `__lr_mult__` or `__wd_mult__` counts; without that, 1, except
  // that names that do not end in "_weight" or "_gamma" get no decay. (Numbers, as a key-value
  // store may use for names, do.)
  void SetLrMult(std::map<std::string, double> lr_mult) { lr_mult_ = std::move(lr_mult); }
  void SetWdMult(std::map<std::string, double> wd_mult) { wd_mult_ = std::move(wd_mult); }
  // Attributes by variable, as Symbol::attr_dict gives them; adds to those of earlier calls, so
  // that each bucket's symbol can be told. kInvalidArgument if a multiplier is no number.
  absl::Status AddSymbolAttributes(
      const std::map<std::string, std::map<std::string, std::string>>& attr_dict);

  // What the parameters share: counts, rate, schedule. Text of key_values.h. LoadState takes that
  // of an optimizer of the same kind; kInvalidArgument otherwise, and for a rate or a count that
  // no run can have reached, changing nothing.
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

  // The operator's parameters, with those that stay the same from step to step.
  virtual std::shared_ptr<UpdateParam> NewParam() const = 0;
  // Changes those that do not; UpdateParam's own are set.
  virtual void SetStep(const Step&, UpdateParam*) {}
  // Whether SetStep does anything.
  virtual bool changes_with_steps() const { return true; }
  // Takes the weight into the arrays of a state that keep one. New arrays are zero before.
  virtual absl::Status KeepWeight(const NDArray&, absl::Span<const NDArray>) const {
    return absl::OkStatus();
  }
  // Whether names without another rule get decay.
  virtual bool HasWeightDecay(absl::string_view name) const;
  // Whether the rate is that before this update is counted.
  virtual bool lags_schedule() const { return false; }
  // Whether the rate of a parameter may be negative, by its multiplier.
  virtual bool takes_negative_rates() const { return true; }
  // What a kind shares between parameters beside what the base does. Load takes what Save gave, and
  // changes nothing if it fails.
  virtual void Save(KeyValues*) const {}
  virtual absl::Status Load(const KeyValues&) { return absl::OkStatus(); }
  // Keeps what SetStep changes of it, and puts back what was kept last: a step that is not made is
  // as if it had not been asked for.
  virtual void KeepShared() {}
  virtual void PutBackShared() {}

  int64_t begin_num_update() const { return options_.begin_num_update; }

 private:
  double Multiplier(const std::string& name, const std::map<std::string, double>& given,
                    const std::map<std::string, double>& attributes, double otherwise) const;
  bool UsesMaster(const NDArray& weight) const;
  absl::Status Check(const Parameter& parameter) const;
  // Makes the i'th invocation one on these arrays.
  absl::Status SetInvocation(size_t i, const Parameter& parameter);
  absl::Status NextStep(const Parameter& parameter, UpdateParam* param);
  absl::Status LoadSchedule(const KeyValues& state);
  int64_t NameOfPrepared(absl::Span<const Parameter> parameters) const;

  const uint64_t number_;  // no other optimizer of the process has it
  const Kind kind_;
  const std::string op_;
  const std::string master_op_;  // for weights with a float32 copy
  // Of UpdateAll, one per parameter, and the parameters of their operators; kept from step to step.
  std::vector<Invocation> invocations_;
  std::vector<std::shared_ptr<UpdateParam>> params_;
  size_t num_prepared_ = 0;
  int64_t num_update_before_ = 0;  // the last PrepareAll

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

  // For kinds that change none of P's own from step to step.
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
