#ifndef COOPER_MODULE_PARAMETERS_PARAMETERS_H_
#define COOPER_MODULE_PARAMETERS_PARAMETERS_H_

// The arrays of modules that train together, by name, never by position: parameters with their
// gradients, auxiliary states, and states carried from batch to batch. Executors receive the arrays
// when they are bound (DataParallelExecutorGroup) and own none of them. Learner, beside, updates
// them.
//
// A name has an array on each of the contexts or on none. Init gives it a value: from the given
// arrays, else from the initializer. A name that only a network bound later has gets its value by
// the same rules when that network is bound (Complete); given values wait for it until then.
//
// Not thread-safe; concurrent calls of const methods are allowed.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "module/initializer/initializer.h"
#include "module/options/parameter_options.h"
#include "module/parameters/saved_parameters.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/files/params_entry.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// The purpose of an array, which decides who writes it.
enum class ParameterKind {
  kArg,    // trained
  kAux,    // written by operators, such as moving means; differs between contexts
  kState,  // carried from batch to batch
};

// The array to allocate.
struct ArraySpec {
  Shape shape;
  DType dtype = DType::kFloat32;
  Context context = Context::Cpu();
  bool is_written = false;  // by a kernel: BatchNorm with fix_gamma writes gamma
};

// The arrays of one name.
struct ParameterArrays {
  std::vector<NDArray> values;  // by context
  std::vector<NDArray> grads;   // by context; null: none
  bool initialized = false;     // whether it has been given a value
  bool is_written = false;      // as ArraySpec, by the network of any bucket
};

// Functions by which a Learner keeps its optimizer states and key-value store in step with values
// that Parameters are given.
struct ParameterHooks {
  // Called after the value of a parameter that may have been trained was replaced on all contexts.
  std::function<absl::Status(const std::string& name)> value_set;
  // Called by Complete with the parameters that are about to get their first value. Returns those
  // whose values the function has; changes no array.
  std::function<absl::StatusOr<std::vector<std::string>>(const std::vector<std::string>& names)>
      find_values;
  // Called by Complete once each parameter is known to have a first value. Fills the arrays of the
  // parameters that find_values returned, and takes over the attributes (Parameters::attrs).
  std::function<absl::Status(const std::vector<std::string>& names)> fill;
};

// See the top of the file.
class Parameters {
 public:
  // `contexts` must not be empty.
  explicit Parameters(const std::vector<Context>& contexts);
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  // Sets all functions, which must not be set yet, or removes them with {}. Without them nothing
  // follows the values.
  void SetHooks(ParameterHooks hooks);

  const std::vector<Context>& contexts() const { return contexts_; }
  int num_contexts() const { return static_cast<int>(contexts_.size()); }

  // --- Arrays.

  // All names of a kind with their arrays, in alphabetical order.
  const std::map<std::string, ParameterArrays>& all(ParameterKind kind) const {
    return of(kind).by_name;
  }
  // The arrays of one name; null if there are none.
  const ParameterArrays* Find(ParameterKind kind, const std::string& name) const;
  // The names that have arrays, in alphabetical order.
  std::vector<std::string> Names(ParameterKind kind) const;
  // The parameters in the order of the networks' arguments, as Complete was called with them: those
  // of a later network that earlier ones lack come last.
  const std::vector<std::string>& arg_order() const { return arg_order_; }
  // The number of elements of all parameters on one context.
  int64_t num_elements() const;
  // The array on a context, shared with this object; null if there is none.
  NDArray Value(ParameterKind kind, const std::string& name, int context = 0) const;
  // The gradient's array, shared with this object; null if the name or its gradient does not exist.
  NDArray Grad(const std::string& name, int context = 0) const;
  // Returns the mean over the contexts, copied to CPU memory. (A key-value store keeps parameters
  // equal; auxiliary states differ between contexts.) kNotFound, naming it, if there is no array.
  absl::StatusOr<NDArray> Mean(ParameterKind kind, const std::string& name) const;
  // Returns Mean of each of these.
  absl::StatusOr<ModuleParams> Means(absl::Span<const std::string> args,
                                     absl::Span<const std::string> auxs) const;
  // The attributes of the variables that have arrays, as networks gave them to Complete.
  const std::map<std::string, AttrMap>& attrs() const { return attrs_; }

  // Allocates an array of zeros if there is none. An existing array stays, whatever its shape:
  // binding checks whether it fits.
  absl::Status Allocate(ParameterKind kind, const std::string& name, int context,
                        const ArraySpec& spec);
  // Allocates a gradient of zeros with the shape, dtype and context of the parameter's array, which
  // must exist. Takes a restored gradient that waits for it.
  absl::Status AllocateGrad(const std::string& name, int context);
  // Drops the arrays of these names that have no value yet, on all contexts, so that they may get
  // other shapes. Until Init has succeeded, no name has a value.
  void DropUninitialized(absl::Span<const std::string> args, absl::Span<const std::string> auxs);
  // Drops the arrays of all parameters, gradients and auxiliary states.
  void DropArrays();
  // Drops the arrays of these states.
  void DropStates(absl::Span<const std::string> names);
  // Zeroes all gradients, those that wait for their arrays included. Learner::ZeroGrads also clears
  // the record of what they hold.
  absl::Status ZeroGrads();
  // Changes whenever contexts get other arrays: bound executors then have to take the new ones.
  int64_t generation() const { return generation_; }

  // Undoes changes to arrays, names and waiting values at its end, unless Commit was called.
  // Elements that were overwritten stay overwritten.
  class Rollback {
   public:
    explicit Rollback(Parameters& parameters);
    ~Rollback();
    Rollback(const Rollback&) = delete;
    Rollback& operator=(const Rollback&) = delete;
    void Commit();

   private:
    struct Saved;
    Parameters& parameters_;
    std::unique_ptr<Saved> saved_;  // null once committed
  };

  // --- Values.

  // Whether Init or Set has given values.
  bool initialized() const { return initialized_; }
  // The names of one of several networks that share the parameters.
  struct NetworkNames {
    absl::Span<const std::string> args, auxs;
  };
  // Gives everything that has an array a value, and sets the rules for arrays that come later. Does
  // nothing to initialized parameters without force_init, except that it takes the initializer if
  // there was none. A name that only other networks have keeps its value unless it is given; with a
  // null `network` all names belong to one model.
  //
  // Errors: kInvalidArgument, naming it, if a parameter is missing in the given maps (without
  // allow_missing) or has another shape; nothing is changed then.
  absl::Status Init(const InitParamsOptions& options, const NetworkNames* network = nullptr);
  // BaseModule::SetParams for one of several networks, or for one model (null), where extra values
  // wait for networks that are bound later.
  absl::Status Set(const ArrayMap& args, const ArrayMap& auxs, const SetParamsOptions& options,
                   const NetworkNames* network = nullptr);
  // Called after a network with the names `args` and `auxs` and the attributes `attrs`
  // (Symbol::VariableAttrDict) is bound. Gives names that are new to initialized parameters their
  // values: the waiting ones, those that ParameterHooks::find_values returns, or the initializer's.
  // kFailedPrecondition, naming the parameter, if there is none.
  absl::Status Complete(absl::Span<const std::string> args, absl::Span<const std::string> auxs,
                        const std::map<std::string, AttrMap>& attrs);
  // Values that wait for an array of their name.
  const ArrayMap& waiting(ParameterKind kind) const { return of(kind).waiting; }
  // Load keeps values until ApplyLoaded sets them, and the format of their file, which Means
  // returns. ApplyLoaded does nothing if there are no values.
  void Load(ModuleParams params) {
    format_ = params.format;
    loaded_ = std::move(params);
  }
  absl::Status ApplyLoaded();
  // How files store the values. SaveForNumpyMode is called once a network that MXNet runs in NumPy
  // mode only is bound.
  const ParamsFormat& format() const { return format_; }
  void SaveForNumpyMode() { format_.np_shape = true; }
  // Gives each context the mean over all contexts.
  absl::Status Average(ParameterKind kind, const std::string& name);
  // Makes contexts in the same memory share the first context's arrays of large parameters, so that
  // one update reaches all; with `share` false, gives each context a copy of its own. Only for
  // values that a key-value store keeps equal. Arrays that are allocated later follow.
  absl::Status ShareValues(bool share);

  // --- Checkpoint and resume.

  // Copies all values, waiting ones included, and the gradients of `grads` to CPU memory: of
  // parameters only those of the first context if `args_are_equal`.
  absl::StatusOr<SavedParameters> Capture(bool args_are_equal,
                                          const std::set<std::string>& grads) const;
  // Checks that `state` has a value for every array: kInvalidArgument, naming one that is missing.
  absl::Status CheckHasAll(const SavedParameters& state) const;
  // Restores values and gradients on all contexts; `state` must not have more of them. Values whose
  // arrays do not exist yet wait for them. Call Init with the first context's parameters before.
  absl::Status Restore(const SavedParameters& state);

 private:
  // All arrays of one kind.
  struct Entries {
    std::map<std::string, ParameterArrays> by_name;
    ArrayMap waiting;
    // Restored values that wait for their arrays, by context (of parameters, only those after the
    // first context); and restored gradients of all contexts.
    std::map<std::string, std::vector<NDArray>> restored, restored_grads;
    bool given = false;  // whether Init was given values of this kind
  };

  Entries& of(ParameterKind kind) { return kinds_[static_cast<size_t>(kind)]; }
  const Entries& of(ParameterKind kind) const { return kinds_[static_cast<size_t>(kind)]; }
  ParameterArrays& EntryOf(ParameterKind kind, const std::string& name);
  void AddToOrder(absl::Span<const std::string> args);

  // Copies the first context's value to every other context.
  absl::Status Broadcast(ParameterKind kind, const std::string& name);
  // Broadcast, and a call of ParameterHooks::value_set for a parameter.
  absl::Status Publish(ParameterKind kind, const std::string& name);
  // Gives each context an array of its own where ShareValues has made them one.
  absl::Status Separate(ParameterArrays& entry);

  // Whether a parameter that Init does not give a value keeps its present one.
  bool Stays(ParameterKind kind, const std::string& name, const std::optional<ArrayMap>& given,
             const NetworkNames* network) const;
  // The names among `names` that have arrays but no value.
  std::vector<std::string> Uninitialized(ParameterKind kind,
                                         absl::Span<const std::string> names) const;
  absl::Status CheckCanInit(ParameterKind kind, absl::Span<const std::string> names) const;
  absl::Status InitNames(ParameterKind kind, absl::Span<const std::string> names);
  absl::Status InitOne(ParameterKind kind, const std::string& name);
  // Gives new arrays the restored values that wait for them.
  absl::Status ApplyRestored();
  absl::Status RestoreContext(int context, const ReplicaState& saved);

  const std::vector<Context> contexts_;
  std::array<Entries, 3> kinds_;          // by ParameterKind
  std::map<std::string, AttrMap> attrs_;  // of the variables of all networks
  std::vector<std::string> arg_order_;
  ParameterHooks hooks_;
  bool share_values_ = false;
  int64_t generation_ = 0;

  bool initialized_ = false;
  std::shared_ptr<const Initializer> initializer_;  // null: none was given
  uint64_t init_seed_ = 0;
  bool allow_missing_ = false;
  std::optional<ModuleParams> loaded_;
  ParamsFormat format_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_PARAMETERS_H_
