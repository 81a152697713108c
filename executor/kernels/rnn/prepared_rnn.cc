// The kernel of _prepared_rnn: lstm and gru for prediction, with packed weights (packed_step.h).
// For each layer it computes one product of all steps' inputs, then a chain of steps
// (packed_chain.h). A few sequences through small layers do not occupy several threads that way;
// then the steps of one layer run in parallel with earlier steps of the next layer.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/rnn/packed_chain.h"
#include "executor/kernels/rnn/packed_step.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "executor/kernels/rnn/rnn_chains.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_matrix_ops.h"
#include "executor/kernels/rnn/rnn_rows.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/parallel_wavefront.h"
#include "symbol/ops/rnn/prepared_rnn_arguments.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

struct Scratch {
  Scratch(const RNNParam& param, const RNNDims& dims, WriteReq output_req, void* base) {
    ScratchCursor cursor(base);
    const int64_t rows = dims.rows();
    const int64_t states = dims.layers * dims.batch * dims.hidden;
    bias = cursor.Take<float>(dims.layers * dims.slot_row());
    slots = cursor.Take<float>(rows * dims.slot_row());
    for (int k = 0; k < RNNNumStates(param); ++k) state[k] = cursor.Take<float>(states);
    if (dims.layers > 1) between = cursor.Take<float>(rows * dims.hidden);
    if (output_req != WriteReq::kWrite) output = cursor.Take<float>(rows * dims.hidden);
    if (param.use_sequence_length) {
      input = cursor.Take<float>(rows *
                                 std::max(dims.input, dims.layers > 1 ? dims.hidden : int64_t{0}));
      row_order = cursor.Take<int64_t>(RNNRows::ScratchSize(dims.num_steps, dims.batch));
    }
    bytes = cursor.bytes();
  }

  float* bias;               // (layers, slots, hidden): the sum of the biases of each slot
  float* slots;              // (packed rows, slots, hidden), reused by each layer
  float* state[2] = {};      // (layers, batch, hidden) by place; updated by each step
  float* between = nullptr;  // output of every second layer; the others use the last layer's
  float* output = nullptr;   // the last layer's output, if it is added to the operator's
  float* input = nullptr;    // with lengths: the packed input of a layer
  int64_t* row_order = nullptr;
  int64_t bytes;
};

class PreparedRNN {
 public:
  explicit PreparedRNN(const KernelContext& c)
      : c_(c),
        param_(c.param<RNNParam>()),
        in_(param_),
        dims_(param_, c.inputs[in_.data].shape),
        scratch_(param_, dims_, c.reqs[0], c.workspace),
        rows_(in_.lengths >= 0
                  ? RNNRows(c.inputs[in_.lengths], dims_.num_steps, dims_.batch, scratch_.row_order)
                  : RNNRows(dims_.num_steps, dims_.batch)),
        clip_(param_),
        last_output_(scratch_.output != nullptr ? scratch_.output : c.outputs[0].as<float>()) {}

  void Run() const {
    for (int layer = 0; layer < dims_.layers; ++layer) {
      SumBiases(param_.mode, dims_, c_.inputs[in_.i2h_bias(layer)].as<float>(),
                c_.inputs[in_.h2h_bias(layer)].as<float>(), Bias(layer));
      TakeStates(layer);
    }
    if (const int64_t steps = StepsPerChunk(); steps > 0) {
      RunWavefront(steps);
    } else {
      for (int layer = 0; layer < dims_.layers; ++layer) RunLayer(layer);
    }
    ZeroPadding(rows_, dims_.hidden, last_output_);
    for (int layer = 0; layer < dims_.layers; ++layer) StoreStates(layer);
    if (scratch_.output != nullptr) {
      StoreRows(c_.reqs[0], last_output_, dims_.hidden, dims_.rows(), dims_.hidden,
                c_.outputs[0].as<float>());
    }
  }

 private:
  void TakeStates(int layer) const {
    for (int k = 0; k < RNNNumStates(param_); ++k) {
      SortRows(rows_, c_.inputs[in_.state(layer, k)].as<float>(), dims_.hidden, State(layer, k));
    }
  }

  void StoreStates(int layer) const {
    for (int k = 0; k < RNNNumStates(param_); ++k) {
      const int output = PreparedRNNState(param_, layer, k);
      UnsortRows(rows_, c_.reqs[output], State(layer, k), dims_.hidden,
                 c_.outputs[output].as<float>());
    }
  }

  // Runs all steps of a layer.
  void RunLayer(int layer) const {
    const float* input = InputOf(layer);
    if (!rows_.is_whole()) {
      PackRows(rows_, input, layer == 0 ? dims_.input : dims_.hidden, scratch_.input);
      input = scratch_.input;
    }
    Product(layer).Run(input, rows_.total(), scratch_.slots);
    const PackedChain chain = Chain(layer, dims_, rows_, 0);
    ForEachChain(dims_, rows_, [&](int, int64_t begin, int64_t end) { chain.Run(begin, end); });
  }

  // Returns the number of steps that a layer runs at a time in parallel with another layer; 0 if
  // layers do not run in parallel. Larger batches are split among threads by rows (rnn_chains.h),
  // larger weights by features (packed_chain.h), which keeps a thread's part of them in its cache.
  int64_t StepsPerChunk() const {
    constexpr int64_t kMaxRows = 15;
    constexpr int64_t kMaxWeights = 1 << 18;  // of a layer: 1 MiB, the size of a core's L2 cache
    constexpr int64_t kMinChunks = 3;
    // A chunk of steps must outweigh passing it on, and its product reads the weight once for
    // several rows.
    constexpr int64_t kMinProducts = 1 << 16;
    constexpr int64_t kRows = 6;
    const int64_t weights = 2 * PackedWeightSize(dims_.recurrent, dims_.hidden, dims_.hidden);
    const bool in_order = rows_.is_whole() || dims_.batch == 1;
    if (dims_.layers == 1 || NumThreads() == 1 || !in_order || dims_.batch > kMaxRows ||
        weights > kMaxWeights) {
      return 0;
    }
    const int64_t of_step = dims_.batch * dims_.recurrent * dims_.hidden * dims_.hidden;
    const int64_t steps =
        std::max((kRows + dims_.batch - 1) / dims_.batch, (kMinProducts + of_step - 1) / of_step);
    return rows_.longest() >= kMinChunks * steps ? steps : 0;
  }

  // Runs the layers in parallel, `steps` steps at a time. Rows are those of (num_steps, batch), or
  // of one sequence.
  void RunWavefront(int64_t steps) const {
    const int64_t longest = rows_.longest();
    Product(0).Run(InputOf(0), longest * dims_.batch, scratch_.slots);
    // Every second row of the wavefront is the input product of the next layer.
    ParallelWavefront(2 * dims_.layers - 1, (longest + steps - 1) / steps,
                      [&](int64_t row, int64_t column) {
                        const auto layer = static_cast<int>((row + 1) / 2);
                        const int64_t first = column * steps;
                        const int64_t count = std::min(steps, longest - first);
                        if (row % 2 == 1) {
                          Product(layer).Run(InputOf(layer) + first * dims_.batch * dims_.hidden,
                                             count * dims_.batch, Slots(first));
                          return;
                        }
                        RNNDims dims = dims_;
                        dims.num_steps = count;
                        const RNNRows rows(count, dims.batch);
                        Chain(layer, dims, rows, first).Run(0, dims.batch);
                      });
  }

  // Returns a chain whose `rows` and `dims` begin with step `first`.
  PackedChain Chain(int layer, const RNNDims& dims, const RNNRows& rows, int64_t first) const {
    return {.dims = dims,
            .rows = rows,
            .direction = 0,
            .step = {.mode = param_.mode,
                     .hidden = dims_.hidden,
                     .weight = c_.inputs[in_.h2h_weight(layer)].as<float>(),
                     .bias = Bias(layer),
                     .clip = clip_},
            .slots = Slots(first),
            .state = State(layer, 0),
            .state_cell = State(layer, 1),
            .cell = State(layer, 1),
            .output = OutputOf(layer) + first * dims_.batch * dims_.hidden,
            .last_state = State(layer, 0)};
  }

  PackedInputProduct Product(int layer) const {
    return {.gates = RNNNumGates(param_.mode),
            .hidden = dims_.hidden,
            .depth = layer == 0 ? dims_.input : dims_.hidden,
            .weight = c_.inputs[in_.i2h_weight(layer)].as<float>()};
  }

  const float* InputOf(int layer) const {
    return layer == 0 ? c_.inputs[in_.data].as<float>() : OutputOf(layer - 1);
  }
  float* OutputOf(int layer) const {
    return (dims_.layers - 1 - layer) % 2 == 0 ? last_output_ : scratch_.between;
  }
  // Returns the slots of a step and of the following ones. Layers share them: the output of a step
  // exists before the next layer overwrites its slots.
  float* Slots(int64_t step) const {
    return scratch_.slots + step * dims_.batch * dims_.slot_row();
  }
  float* Bias(int layer) const { return scratch_.bias + layer * dims_.slot_row(); }
  float* State(int layer, int k) const {
    float* const all = scratch_.state[k];
    return all == nullptr ? nullptr : all + layer * dims_.batch * dims_.hidden;
  }

  const KernelContext& c_;
  const RNNParam& param_;
  const PreparedRNNInputs in_;
  const RNNDims dims_;
  const Scratch scratch_;
  const RNNRows rows_;
  const CellClip<float> clip_;
  float* const last_output_;
};

absl::StatusOr<Prepared> PrepareRNN(const PrepareContext& c) {
  const auto& param = c.param<RNNParam>();
  return Prepared{.workspace_bytes =
                      Scratch(param, RNNDims(param, c.inputs[0].shape), c.reqs[0], nullptr).bytes};
}

absl::Status RunRNN(const KernelContext& c) {
  if (c.inputs[0].shape[1] == 0) return absl::OkStatus();
  PreparedRNN(c).Run();
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_prepared_rnn, DeviceType::kCpu, kFloat32Only, RunRNN, PrepareRNN);

}  // namespace
}  // namespace cooper
