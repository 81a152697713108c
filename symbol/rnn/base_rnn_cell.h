#ifndef COOPER_SYMBOL_RNN_BASE_RNN_CELL_H_
#define COOPER_SYMBOL_RNN_BASE_RNN_CELL_H_

// The interface of recurrent cells: a cell builds the graph of one step or of a whole sequence, and
// unpacks its packed weights. A cell counts its steps to name nodes. Reset, which Unroll calls
// first, restarts the count, so that every unrolling of a cell gives the same names.
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

// The shape of one of a cell's states. The batch size is unknown, so begin states that are zeros
// get it from the other arrays of the graph.
struct StateInfo {
  PartialShape shape;
  std::string layout;  // "NC", "LNC"
};

// Creates the symbol called `name` of a state before the first step, such as "lstm_begin_state_0".
// The layout goes into the attribute `__layout__`, by which modules find the batch axis.
using StateFn =
    std::function<absl::StatusOr<Symbol>(const std::string& name, const StateInfo& info)>;
// Returns a function that creates zeros.
StateFn ZeroStates(DType dtype = DType::kFloat32);
// Returns a function that creates variables, for states that the caller provides.
StateFn VariableStates();

// The result of one step. The states are in the order of state_info.
struct StepResult {
  Symbol output;
  std::vector<Symbol> states;
};

// Options of Unroll. All cells have the same options, so that one cell can replace another.
struct UnrollOptions {
  std::optional<std::vector<Symbol>> begin_state;  // absent: BeginState()
  std::string layout = "NTC";                      // or "TNC": of merged inputs and outputs
  std::optional<bool> merge_outputs;               // absent: whichever is cheaper
  // Number of valid steps of each row, (batch_size,); the other steps are padding, as in Gluon's
  // unroll. Outputs of padding are 0, and final states are those after a row's last valid step
  // (without a valid step those after the first step, except that FusedRNNCell gives the begin
  // states). Backward cells start at the last valid step. A row's results and gradients are those
  // of its own length. Absent: all steps are valid.
  std::optional<Symbol> valid_length = std::nullopt;
};

// The result of unrolling.
struct Unrolled {
  SymbolSequence outputs;
  std::vector<Symbol> states;  // after the last valid step of each row
};

// The base of all cells. Not thread-safe: building graphs changes the counts of steps and states.
class BaseRNNCell {
 public:
  virtual ~BaseRNNCell() = default;
  BaseRNNCell(const BaseRNNCell&) = delete;
  BaseRNNCell& operator=(const BaseRNNCell&) = delete;

  // Begins a new graph: steps and states are counted from 0 again.
  virtual void Reset();

  // Builds the graph of one step. `input` is (batch_size, ...). Fails with kInvalidArgument for a
  // wrong number of states, and with kUnimplemented for cells that can only be unrolled.
  virtual absl::StatusOr<StepResult> Step(const Symbol& input,
                                          const std::vector<Symbol>& states) = 0;

  // Builds the graph of `length` steps. Fails with kInvalidArgument for a sequence of another
  // length, a wrong number of states, or a layout without T.
  virtual absl::StatusOr<Unrolled> Unroll(int length, const SymbolSequence& inputs,
                                          const UnrollOptions& options = {});

  // Return the cell's states, in the order in which Step takes and returns them, and the shapes of
  // these states.
  virtual std::vector<StateInfo> state_info() const = 0;
  std::vector<PartialShape> state_shape() const;

  // Returns symbols for the states before the first step. Fails with kFailedPrecondition if the
  // cell is the base of a modifier, which must be called instead.
  virtual absl::StatusOr<std::vector<Symbol>> BeginState(const StateFn& make = ZeroStates());

  // Returns a copy of `args` in which this cell's packed weights are replaced by one array per
  // gate. Other arrays are kept. Fails with kNotFound for a missing weight, and with
  // kInvalidArgument for a wrong shape.
  virtual absl::StatusOr<ArrayMap> UnpackWeights(ArrayMap args) const { return args; }
  // Returns a copy of `args` in which the arrays of single gates are replaced by this cell's packed
  // weights: the inverse of UnpackWeights, with the same errors.
  virtual absl::StatusOr<ArrayMap> PackWeights(ArrayMap args) const { return args; }

  // Returns the variables of this cell and of the cells in it.
  virtual const std::shared_ptr<RNNParams>& params() const { return params_; }
  const std::string& prefix() const { return prefix_; }

 protected:
  // Without `params` the cell creates its own container, with its prefix.
  BaseRNNCell(std::string prefix, std::shared_ptr<RNNParams> params);

  // Returns "lstm_t0_", then "lstm_t1_", ...
  std::string NextStepPrefix();
  // Returns "cell 'lstm_'", for errors; a modifier returns its base's description.
  virtual std::string Description() const;
  // Returns `inputs` merged or in steps, as `merge` says. Errors name Unroll and the cell.
  absl::StatusOr<SymbolSequence> UnrollInputs(int length, const SymbolSequence& inputs,
                                              const UnrollOptions& options,
                                              std::optional<bool> merge) const;
  // Fails with kInvalidArgument unless there are as many states as in state_info.
  absl::Status CheckStates(const std::vector<Symbol>& states) const;
  // Returns options.begin_state, checked, or BeginState().
  absl::StatusOr<std::vector<Symbol>> FirstStates(const UnrollOptions& options);
  // Fails with kFailedPrecondition if this cell is the base of a modifier.
  absl::Status CheckNotModified() const;

 private:
  friend class ModifierCell;

  std::string prefix_;
  std::shared_ptr<RNNParams> params_;
  bool modified_ = false;
  int num_steps_ = 0;
  int num_states_ = 0;
};

// Cells are shared between the caller and the cells that contain them.
using RNNCellPtr = std::shared_ptr<BaseRNNCell>;

// Unpack and pack the weights of several cells in turn, for checkpoints of networks with these
// cells. Errors are those of the cells' functions.
absl::StatusOr<ArrayMap> UnpackWeights(const std::vector<RNNCellPtr>& cells, ArrayMap args);
absl::StatusOr<ArrayMap> PackWeights(const std::vector<RNNCellPtr>& cells, ArrayMap args);

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_BASE_RNN_CELL_H_
