#ifndef COOPER_SYMBOL_RNN_BASE_RNN_CELL_H_
#define COOPER_SYMBOL_RNN_BASE_RNN_CELL_H_

// What all recurrent cells can do: build the graph of one step or of a whole sequence, and take
// their packed weights apart. A cell counts its steps for the names of nodes; Reset, with which
// Unroll begins, starts again at 0, so that every unrolling of a cell gives the same names.
//
//   LSTMCell cell(200, {.prefix = "lstm_l0_"});
//   COOPER_ASSIGN_OR_RETURN(Unrolled out, cell.Unroll(length, embed, {.merge_outputs = true}));
//   out.outputs.merged();  // (batch_size, length, 200)
//
// MXNet: python/mxnet/rnn/rnn_cell.py.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/rnn_params.h"
#include "symbol/rnn/symbol_sequence.h"

namespace cooper {

// One of a cell's states. The batch size is unknown.
struct StateInfo {
  PartialShape shape;
  std::string layout;  // "NC", "LNC"
};

// Makes the symbol called `name` of a state before the first step.
using StateFn =
    std::function<absl::StatusOr<Symbol>(const std::string& name, const StateInfo& info)>;
// Zeros.
StateFn ZeroStates(DType dtype = DType::kFloat32);
// A variable, to feed the state from outside.
StateFn VariableStates();

// After one step. The states are in the order of state_info.
struct StepResult {
  Symbol output;
  std::vector<Symbol> states;
};

struct UnrollOptions {
  std::optional<std::vector<Symbol>> begin_state;  // absent: BeginState()
  std::string layout = "NTC";                      // or "TNC": of merged inputs and outputs
  std::optional<bool> merge_outputs;               // absent: whichever is less work
  // (batch_size,): how many steps of each row are real, the others being padding, as in Gluon's
  // unroll. Outputs of padding are 0, states those after a row's last real step (of a row without
  // any, after the first step, but of a FusedRNNCell the begin states), and what runs backwards
  // begins there: a row's numbers and gradients are those of its own length. Absent: all steps are
  // real.
  std::optional<Symbol> valid_length = std::nullopt;
};

struct Unrolled {
  SymbolSequence outputs;
  std::vector<Symbol> states;  // after the last step of each row
};

class BaseRNNCell {
 public:
  virtual ~BaseRNNCell() = default;
  BaseRNNCell(const BaseRNNCell&) = delete;
  BaseRNNCell& operator=(const BaseRNNCell&) = delete;

  // Begins a new graph: steps and states are counted from 0 again.
  virtual void Reset();

  // The graph of one step. `input` is (batch_size, ...). kInvalidArgument for a wrong number of
  // states, kUnimplemented for cells that can only be unrolled.
  virtual absl::StatusOr<StepResult> Step(const Symbol& input,
                                          const std::vector<Symbol>& states) = 0;

  // The graph of `length` steps. kInvalidArgument for a sequence of another length, a wrong number
  // of states, or a layout without T.
  virtual absl::StatusOr<Unrolled> Unroll(int length, const SymbolSequence& inputs,
                                          const UnrollOptions& options = {});

  virtual std::vector<StateInfo> state_info() const = 0;
  std::vector<PartialShape> state_shape() const;

  // Symbols for the states before the first step. kFailedPrecondition if the cell has become the
  // base of a modifier, which must be called instead.
  virtual absl::StatusOr<std::vector<Symbol>> BeginState(const StateFn& make = ZeroStates());

  // A copy of `args` in which this cell's weights are one array per gate instead of packed.
  // kNotFound for a missing weight, kInvalidArgument for one of a wrong shape. Others are kept.
  virtual absl::StatusOr<ArrayMap> UnpackWeights(ArrayMap args) const { return args; }
  // The reverse.
  virtual absl::StatusOr<ArrayMap> PackWeights(ArrayMap args) const { return args; }

  // The variables of this cell, and those of the cells in it.
  virtual const std::shared_ptr<RNNParams>& params() const { return params_; }
  const std::string& prefix() const { return prefix_; }

 protected:
  // Without `params` the cell makes a container of its own, with its prefix.
  BaseRNNCell(std::string prefix, std::shared_ptr<RNNParams> params);

  // "lstm_t0_", then "lstm_t1_", ...
  std::string NextStepPrefix();
  // For errors: "cell 'lstm_'"; of a modifier its base's.
  virtual std::string Description() const;
  // `inputs` merged or in steps, as `merge` says. Errors name Unroll and the cell.
  absl::StatusOr<SymbolSequence> UnrollInputs(int length, const SymbolSequence& inputs,
                                              const UnrollOptions& options,
                                              std::optional<bool> merge) const;
  // kInvalidArgument unless there are as many states as state_info has.
  absl::Status CheckStates(const std::vector<Symbol>& states) const;
  // options.begin_state, checked, or BeginState().
  absl::StatusOr<std::vector<Symbol>> FirstStates(const UnrollOptions& options);
  absl::Status CheckNotModified() const;

 private:
  friend class ModifierCell;

  std::string prefix_;
  std::shared_ptr<RNNParams> params_;
  bool modified_ = false;
  int num_steps_ = 0;
  int num_states_ = 0;
};

// Cells are shared between those that contain them and the caller.
using RNNCellPtr = std::shared_ptr<BaseRNNCell>;

// Of several cells, one after the other: what a checkpoint of a network with these cells holds.
absl::StatusOr<ArrayMap> UnpackWeights(const std::vector<RNNCellPtr>& cells, ArrayMap args);
absl::StatusOr<ArrayMap> PackWeights(const std::vector<RNNCellPtr>& cells, ArrayMap args);

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_BASE_RNN_CELL_H_
