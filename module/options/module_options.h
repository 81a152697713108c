#ifndef COOPER_MODULE_OPTIONS_MODULE_OPTIONS_H_
#define COOPER_MODULE_OPTIONS_MODULE_OPTIONS_H_

// The options with which a module is created and bound.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/program/kernel.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_desc.h"
#include "module/kwargs/kwargs.h"
#include "module/options/group_contexts.h"
#include "module/options/sym_gen.h"
#include "ndarray/base/context.h"
#include "symbol/json/load_limits.h"

namespace cooper {

class CompiledProgram;
class Module;
class ModuleGroup;

// Where and how a module computes its networks: the same for a Module and for each bucket of a
// BucketingModule.
struct ComputeOptions {
  // Each context computes its part of a batch, in proportion to work_load_list (empty: equal
  // parts).
  std::vector<Context> contexts = {Context::Cpu()};
  std::vector<double> work_load_list;
  // Where parts of the graph are placed, by their `ctx_group` attribute.
  GroupContexts group2ctxs;
  // Nodes whose operator has no kernel for their context run on the CPU (BindOptions::fallback).
  bool fallback = false;
  // "type" "2bit" and "threshold": compression of gradients between contexts (KVStore).
  Kwargs compression_params;
  // Parameters that are not trained: their gradients are not computed. The default bucket of a
  // BucketingModule must have all these names, and all of state_names; another bucket uses the ones
  // that it has.
  std::vector<std::string> fixed_param_names;
  // Arguments that persist from batch to batch (GetStates, SetStates). They are zero at first and
  // after a forced Bind, which may change their shapes.
  std::vector<std::string> state_names;
  // Graph passes to switch off (PassNames() in executor/executor.h).
  std::set<std::string> disabled_passes;
  // Makes outputs of classifiers the probability of each row's label instead of all classes
  // (LabelProbabilities, symbol/ops/loss/label_probabilities.h): no array has the size of rows
  // times classes. In training, GetOutputs and UpdateMetric must then come after Backward. Only
  // metrics that read nothing but the label's prediction work: Perplexity, CrossEntropy,
  // NegativeLogLikelihood.
  bool label_probabilities = false;
  // Limits of the symbol files, for Load.
  LoadLimits load_limits;
};

// Options for creating a Module.
struct ModuleOptions {
  // Arguments that a batch provides; the others are states and parameters.
  std::vector<std::string> data_names = {"data"};
  // Empty: a module without labels, which ignores those of an iterator.
  std::vector<std::string> label_names = {"softmax_label"};
  ComputeOptions compute;
  // The group to share with other modules; it must have the same contexts. Null: a new group.
  std::shared_ptr<ModuleGroup> group;
};

// Options for binding a module.
struct ModuleBindOptions {
  std::vector<DataDesc> data_shapes;
  // Empty: the module computes without labels. A label of the symbol whose shape does not follow
  // from the data's (a reshaped one, for example) must still be described.
  std::vector<DataDesc> label_shapes;
  // The key of the bucket that has these shapes, an iterator's default one; Fit sets it. A
  // BucketingModule with another default key refuses the shapes. Absent: accepted by any default
  // key.
  std::optional<BucketKey> bucket_key = std::nullopt;
  bool for_training = true;
  bool inputs_need_grad = false;
  // Without it, binding a bound module again changes nothing.
  bool force_rebind = false;
  // Gradient requests of all parameters, and of single ones by name; with inputs_need_grad also of
  // data. Labels, states and fixed parameters have no gradients.
  WriteReq grad_req = WriteReq::kWrite;
  std::map<std::string, WriteReq> grad_reqs;
  // Limit of what binding allocates and of the activations, in bytes on each context. A network
  // that needs more is kResourceExhausted before anything is allocated. Set it (with
  // LoadCheckpoint's limits) to bound the cost of untrusted symbol files.
  int64_t max_bytes = int64_t{1} << 40;
  // Seed of the numbers that dropout and other random operators draw. Binding restarts their stream
  // for all modules that share it. Absent: the stream continues; a new module's starts from
  // DefaultSeed() (ndarray/base/default_seed.h). The modules of a SequentialModule use this seed
  // and the ones that follow it.
  std::optional<uint64_t> seed;
  // The program to run, from Compile of this module with the same options. Null, or a program of
  // other options: Bind compiles. For a Module only.
  std::shared_ptr<const CompiledProgram> compiled;
  // A module with parameters, on the same contexts. The module being bound leaves its group and
  // joins this one's (module_group.h): both then share parameters of the same name, their
  // gradients, the optimizer and the arena, for as long as either lives. A forced Bind of one
  // zeroes the gradients of all members and allocates its states anew; members with states of the
  // same names must be bound again to see them. For a Module only.
  const Module* shared_module = nullptr;
};

// Returns the arguments of a symbol that are neither data, labels nor states.
std::vector<std::string> ParamNames(const std::vector<std::string>& args,
                                    const ModuleOptions& options);

// Returns the options of a bucket's module. Without `has_all_names`, which is for the default
// bucket, names of fixed parameters and states that the symbol lacks are removed.
ModuleOptions OptionsForBucket(const BucketSymbol& bucket, const ComputeOptions& compute,
                               bool has_all_names);

// kInvalidArgument, naming the argument, if grad_reqs requests a gradient for a label, a state, a
// fixed parameter, or data without inputs_need_grad. (MXNet computes them.)
absl::Status CheckGradReqs(const ModuleOptions& options, const ModuleBindOptions& bind);

// Returns the options that a bound module keeps: without `seed`, `compiled` and `shared_module`,
// which only the Bind that they are given to uses. Further executors, bound with the result,
// continue the stream.
ModuleBindOptions KeptOptions(ModuleBindOptions given);

// Returns OK, and logs a warning about each option of `requested` that a module which stays bound
// ignores.
absl::Status CheckSameBinding(const ModuleBindOptions& bound, const ModuleBindOptions& requested);

// Returns the gradient request of an argument.
WriteReq GradReqOf(const std::string& arg, const ModuleOptions& options,
                   const ModuleBindOptions& bind);

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIONS_MODULE_OPTIONS_H_
