#ifndef COOPER_MODULE_OPTIONS_MODULE_OPTIONS_H_
#define COOPER_MODULE_OPTIONS_MODULE_OPTIONS_H_

// What a module is made with and what it is bound with.

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
#include "ndarray/base/context.h"
#include "symbol/json/load_limits.h"

namespace cooper {

class Symbol;  // symbol.h

class Module;
class ModuleGroup;

struct ModuleOptions {
  // Arguments that a batch gives; the others are states and parameters.
  std::vector<std::string> data_names = {"data"};
  // Empty: a module without labels, which passes over those that an iterator has.
  std::vector<std::string> label_names = {"softmax_label"};
  // Each computes on its part of a batch, in proportion to work_load_list (empty: equal parts).
  std::vector<Context> contexts = {Context::Cpu()};
  std::vector<double> work_load_list;
  // Where parts of the graph are placed, by their `ctx_group` attribute.
  GroupContexts group2ctxs;
  // Nodes whose operator has no kernel for their context run on the CPU (BindOptions::fallback).
  bool fallback = false;
  // "type" "2bit" and "threshold": how gradients travel between contexts (KVStore).
  Kwargs compression_params;
  // Parameters that are not trained: no gradient is computed for them.
  std::vector<std::string> fixed_param_names;
  // Arguments that last from batch to batch, zero at first and after a forced Bind, which may
  // change their shapes (GetStates, SetStates).
  std::vector<std::string> state_names;
  // Passes that graphs are bound without (PassNames() in executor/executor.h).
  std::set<std::string> disabled_passes;
  // Outputs of classifiers are the probability of each row's label instead of those of all classes
  // (LabelProbabilities, symbol/ops/loss/label_probabilities.h): no array has the size of rows
  // times classes. In training, GetOutputs and UpdateMetric then come after Backward, and take
  // metrics that look at the label's prediction alone: Perplexity, CrossEntropy,
  // NegativeLogLikelihood.
  bool label_probabilities = false;
  // Of the symbol file, for Load.
  LoadLimits load_limits;
  // What the module shares with others; it must have been made for the same contexts. Null: a group
  // of its own.
  std::shared_ptr<ModuleGroup> group;
};

struct ModuleBindOptions {
  std::vector<DataDesc> data_shapes;
  // Empty: the module computes without labels. A label of the symbol whose shape does not follow
  // from the data's (one that is reshaped, say) has to be described all the same.
  std::vector<DataDesc> label_shapes;
  // The key of the bucket that these are the shapes of, an iterator's default one; Fit gives it. A
  // BucketingModule with another default key refuses them. Absent: whatever its default key is.
  std::optional<BucketKey> bucket_key = std::nullopt;
  bool for_training = true;
  bool inputs_need_grad = false;
  // Without it, binding a bound module again changes nothing.
  bool force_rebind = false;
  // Of all parameters, and of single ones by name; of data too with inputs_need_grad. Labels,
  // states and fixed parameters have none.
  WriteReq grad_req = WriteReq::kWrite;
  std::map<std::string, WriteReq> grad_reqs;
  // What binding may allocate and the activations may take, on each context; kResourceExhausted,
  // before anything is allocated, for a network that needs more. Who trains or runs symbol files of
  // strangers sets what they may cost (with LoadCheckpoint's limits).
  int64_t max_bytes = int64_t{1} << 40;
  // Of the numbers that dropout and other random operators draw. Binding begins their stream anew,
  // for all modules that share it. Absent: the stream goes on; a new module's has
  // DefaultSeed() (ndarray/base/default_seed.h). The modules of a SequentialModule draw with this
  // seed and those that follow it.
  std::optional<uint64_t> seed;
  // A module with parameters, on the same contexts. The one that is bound becomes a member of its
  // group (module_group.h) in place of its own: parameters of one name, their gradients, optimizer
  // and arena are from then on those of both, however long either lives. A forced Bind of one
  // begins gradients of all of them anew, and its states, which others of the same names have to be
  // bound again to see. For a Module only.
  const Module* shared_module = nullptr;
};

// Those of a symbol's arguments that are neither data, labels nor states.
std::vector<std::string> ParamNames(const std::vector<std::string>& args,
                                    const ModuleOptions& options);

// Drops the names that are no arguments of the symbol: those of a default bucket in another one.
void KeepArguments(const Symbol& symbol, std::vector<std::string>* names);

// kInvalidArgument, naming it, if grad_reqs asks for a gradient of what has none: labels, states,
// fixed parameters, and data without inputs_need_grad. MXNet makes them.
absl::Status CheckGradReqs(const ModuleOptions& options, const ModuleBindOptions& bind);

// OK. Logs what of `asked` a module that stays bound as it is ignores.
absl::Status StayBound(const ModuleBindOptions& bound, const ModuleBindOptions& asked);

// What is asked of an argument's gradient.
WriteReq GradReqOf(const std::string& arg, const ModuleOptions& options,
                   const ModuleBindOptions& bind);

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIONS_MODULE_OPTIONS_H_
