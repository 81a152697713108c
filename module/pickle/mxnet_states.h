#ifndef COOPER_MODULE_PICKLE_MXNET_STATES_H_
#define COOPER_MODULE_PICKLE_MXNET_STATES_H_

// The optimizer states that MXNet pickles: Module.save_optimizer_states writes the states by
// parameter, Gluon's Trainer.save_states the pair of them and the optimizer.
//
// The types below hold the contents of a file. module/optimizer/convert_states.h converts them to
// the states of cooper's optimizers.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/files/params_entry.h"

namespace cooper {

// A parameter: its position, or its name in a key-value store on several contexts.
using MxnetKey = std::variant<int64_t, std::string>;

// The state of one parameter.
struct MxnetParameterState {
  MxnetKey key;
  // The arrays in the order in which nested tuples have them; null for a None.
  std::vector<ParamsEntry> arrays;
};

// The attributes of the optimizer in a file, besides the states.
struct MxnetOptimizer {
  std::string class_name;                // "Adam"
  int64_t num_update = 0;                // the largest count
  std::map<MxnetKey, int64_t> counts;    // updates by parameter
  std::map<int64_t, std::string> names;  // by position; empty if Gluon's Trainer wrote the file
  std::optional<double> learning_rate;   // none if a schedule sets it
  std::optional<double> m_schedule;      // Nadam: the product of the momenta so far
  std::optional<double> cur_lr;          // LARS: the rate of the last update
};

// The contents of a file. `optimizer` is absent if only the states were saved.
struct MxnetStates {
  std::vector<MxnetParameterState> parameters;  // in the order of the file; keys may repeat
  std::optional<MxnetOptimizer> optimizer;
};

// Returns whether `bytes` begin as a file of these states does. The first 16 bytes suffice.
bool IsMxnetStates(absl::string_view bytes);

// Parses the contents of a file. Errors: those of Unpickle; kInvalidArgument, naming the parameter
// or the attribute, for values of other kinds. The arrays take as much memory as the file's.
absl::StatusOr<MxnetStates> ParseMxnetStates(absl::string_view bytes);

}  // namespace cooper

#endif  // COOPER_MODULE_PICKLE_MXNET_STATES_H_
