// The forward kernels of RNN and _rnn_layer. For each layer they compute one product of all steps'
// inputs with the i2h weight. Then each step adds the product with the h2h weight in place and runs
// the fused cell; if no reserve is kept, product and cell are one (packed_chain.h). Steps beyond
// the end of a sequence are left out everywhere (rnn_rows.h).

#include <algorithm>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/random/dropout_mask.h"
#include "executor/kernels/rnn/packed_chain.h"
#include "executor/kernels/rnn/packed_step.h"
#include "executor/kernels/rnn/rnn_arguments.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "executor/kernels/rnn/rnn_cells.h"
#include "executor/kernels/rnn/rnn_chains.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_forward_arguments.h"
#include "executor/kernels/rnn/rnn_matrix_ops.h"
#include "executor/kernels/rnn/rnn_rows.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

// The arrays of one direction of the running layer.
template <typename T>
struct Direction {
  const T* h2h_weight = nullptr;
  const T* bias = nullptr;
  T* slots = nullptr;
  T* cells = nullptr;        // (packed rows, hidden), or (batch, hidden) without a reserve
  const T* state = nullptr;  // (batch, hidden); with lengths by place
  const T* state_cell = nullptr;
  T* output = nullptr;  // this direction's features of the first row of the layer's output
};

template <typename T>
class Forward {
 public:
  Forward(RNNForm form, const KernelContext& c)
      : form_(form),
        c_(c),
        param_(c.param<RNNParam>()),
        in_(form, param_),
        plan_(param_, c.inputs[in_.data], c.reqs, c.is_train),
        dims_(plan_.dims),
        scratch_(plan_, c.workspace),
        rows_(plan_.has_lengths
                  ? RNNRows(c.inputs[in_.lengths], dims_.num_steps, dims_.batch, scratch_.row_order)
                  : RNNRows(dims_.num_steps, dims_.batch)),
        clip_(param_) {
    // Decides by the longest sequence, not by the padding, which would change the rounding of
    // products.
    const bool long_enough = rows_.longest() >= kMinRNNStepsToTranspose;
    transpose_ = plan_.transpose && long_enough;
    packed_ = plan_.packed && long_enough;
    last_output_ = plan_.own_output ? scratch_.output : c.outputs[RNNOutputs::kOutput].as<T>();
    if (plan_.keep) reserve_ = c.outputs.back().as<T>();
  }

  void Run() {
    const T* input = c_.inputs[in_.data].as<T>();
    for (int layer = 0; layer < dims_.layers; ++layer) {
      T* output = OutputOf(layer);
      const T* packed = input;
      if (!rows_.is_whole()) {
        PackRows(rows_, input, layer == 0 ? dims_.input : dims_.output_row(), scratch_.input);
        packed = scratch_.input;
      }
      for (int d = 0; d < dims_.directions; ++d) Prepare(layer, d, packed, output);
      ForEachChain(dims_, rows_, [&](int d, int64_t begin, int64_t end) {
        if (packed_) {
          RunPackedChain(directions_[d], d, begin, end);
        } else {
          RunChain(directions_[d], d, begin, end);
        }
      });
      for (int d = 0; d < dims_.directions; ++d) StoreStates(layer, d);
      ZeroPadding(rows_, dims_.output_row(), output);
      input = layer + 1 < dims_.layers ? DropFrom(layer, output) : output;
    }
    if (plan_.own_output) {
      StoreRows(c_.reqs[RNNOutputs::kOutput], input, dims_.output_row(), dims_.rows(),
                dims_.output_row(), c_.outputs[RNNOutputs::kOutput].as<T>());
    }
  }

 private:
  // Returns where a layer writes its output.
  T* OutputOf(int layer) const {
    if (layer == dims_.layers - 1) return last_output_;
    if (plan_.keep) return reserve_ + plan_.reserve.output(layer);
    return (dims_.layers - 1 - layer) % 2 == 0 ? last_output_ : scratch_.between;
  }

  // Fills the slots of a direction with the products of the input, which is packed, and prepares
  // its weights and states.
  void Prepare(int layer, int d, const T* input, T* output) {
    const int64_t hidden = dims_.hidden;
    const auto weights = RNNWeightsOf<T>(form_, param_, dims_.input,
                                         c_.inputs.subspan(in_.weights, in_.num_weights), layer, d);
    Direction<T>& dir = directions_[d];

    dir.h2h_weight = weights.h2h_weight;
    if constexpr (std::is_same_v<T, float>) {
      if (packed_) {
        PackRNNWeight(dir.h2h_weight, dims_.recurrent, hidden, hidden, scratch_.weight[d]);
      }
    }
    if (transpose_) {
      TransposeInto(dir.h2h_weight, dims_.recurrent * hidden, hidden, scratch_.weight[d],
                    scratch_.weight_stride);
    }
    dir.bias = scratch_.bias[d];
    SumBiases(param_.mode, dims_, weights.i2h_bias, weights.h2h_bias, scratch_.bias[d]);
    dir.slots = plan_.keep ? reserve_ + plan_.reserve.slots(layer, d) : scratch_.slots[d];
    const int64_t state = (layer * dims_.directions + d) * dims_.batch * hidden;
    dir.state = FirstState(c_.inputs[in_.state].as<T>() + state, scratch_.state[d]);
    if (plan_.has_cell) {
      dir.state_cell =
          FirstState(c_.inputs[in_.state_cell].as<T>() + state, scratch_.state_cell[d]);
      dir.cells = plan_.keep ? reserve_ + plan_.reserve.cells(layer, d) : scratch_.cells[d];
    }
    dir.output = output + d * hidden;

    for (const InputProduct& product : InputProducts(param_.mode)) {
      Gemm(false, true, rows_.total(), product.num_gates * hidden, weights.input_size, T{1}, input,
           weights.input_size,
           weights.i2h_weight + product.first_gate * hidden * weights.input_size,
           weights.input_size, T{0}, dir.slots + product.first_slot * hidden, dims_.slot_row());
    }
  }

  // With lengths, returns a copy by place, which the steps update with its sequence.
  const T* FirstState(const T* state, T* by_place) const {
    if (!rows_.has_lengths()) return state;
    SortRows(rows_, state, dims_.hidden, by_place);
    return by_place;
  }

  // Runs all steps of the sequences at the places [begin, end).
  void RunChain(const Direction<T>& dir, int d, int64_t begin, int64_t end) const {
    const int64_t hidden = dims_.hidden;
    const bool has_lengths = rows_.has_lengths();
    const T* h_prev = dir.state;
    int64_t h_prev_stride = hidden;
    const T* c_prev = dir.state_cell;
    for (int64_t s = 0; s < dims_.num_steps; ++s) {
      const int64_t t = dims_.StepAt(d, s);
      const int64_t active_end = std::min(end, rows_.count(t));
      if (active_end <= begin) continue;
      T* slots = dir.slots + rows_.begin(t) * dims_.slot_row();
      T* h = dir.output + t * dims_.batch * dims_.output_row();
      T* c = !plan_.has_cell ? nullptr : dir.cells + (plan_.keep ? rows_.begin(t) * hidden : 0);

      if (param_.mode == RNNMode::kGru) {
        // The input's product does not fill gru's slot nh.
        for (int64_t i = begin; i < active_end; ++i) {
          std::fill_n(slots + i * dims_.slot_row() + 2 * hidden, hidden, T{0});
        }
      }
      Gemm(false, !transpose_, active_end - begin, dims_.recurrent * hidden, hidden, T{1},
           h_prev + begin * h_prev_stride, h_prev_stride,
           transpose_ ? scratch_.weight[d] : dir.h2h_weight,
           transpose_ ? scratch_.weight_stride : hidden, T{1}, slots + begin * dims_.slot_row(),
           dims_.slot_row());

      ParallelFor(active_end - begin, RowGrain(hidden, 2048), [&](int64_t from, int64_t to) {
        for (int64_t i = begin + from; i < begin + to; ++i) {
          T* h_row = h + rows_.row(i) * dims_.output_row();
          T* c_row = plan_.has_cell ? c + i * hidden : nullptr;
          CellForward(param_.mode, clip_, hidden, dir.bias, slots + i * dims_.slot_row(),
                      h_prev + i * h_prev_stride, plan_.has_cell ? c_prev + i * hidden : nullptr,
                      c_row, h_row);
          if (!has_lengths) continue;
          std::copy_n(h_row, hidden, scratch_.state[d] + i * hidden);
          if (plan_.has_cell) std::copy_n(c_row, hidden, scratch_.state_cell[d] + i * hidden);
        }
      });
      if (has_lengths) continue;
      h_prev = h;
      h_prev_stride = dims_.output_row();
      c_prev = c;
    }
  }

  // Runs all steps of the sequences at the places [begin, end) by packed_step.h.
  void RunPackedChain(const Direction<T>& dir, int d, int64_t begin, int64_t end) const {
    if constexpr (std::is_same_v<T, float>) {
      // With lengths the states are updated in place, with their sequences.
      PackedChain{.dims = dims_,
                  .rows = rows_,
                  .direction = d,
                  .step = {.mode = param_.mode,
                           .hidden = dims_.hidden,
                           .weight = scratch_.weight[d],
                           .bias = dir.bias,
                           .clip = clip_},
                  .slots = dir.slots,
                  .state = dir.state,
                  .state_cell = dir.state_cell,
                  .cell = rows_.has_lengths() ? scratch_.state_cell[d] : dir.cells,
                  .output = dir.output,
                  .last_state = scratch_.state[d]}
          .Run(begin, end);
    }
  }

  void StoreStates(int layer, int d) const {
    if (!param_.state_outputs) return;
    const Direction<T>& dir = directions_[d];
    // The final states are in the output of the last step; with lengths they have been updated in
    // place.
    const bool moved = !rows_.has_lengths() && dims_.num_steps > 0;
    const int64_t t = dims_.StepAt(d, dims_.num_steps - 1);
    StoreState(RNNOutputs::kState,
               moved ? dir.output + t * dims_.batch * dims_.output_row() : dir.state,
               moved ? dims_.output_row() : dims_.hidden, layer, d);
    if (!plan_.has_cell) return;
    StoreState(
        RNNOutputs::kStateCell,
        moved ? dir.cells + (plan_.keep ? t * dims_.batch * dims_.hidden : 0) : dir.state_cell,
        dims_.hidden, layer, d);
  }

  // Stores the final states. Rows of `state` are `stride` apart; with lengths they are by place.
  void StoreState(RNNOutputs::Output output, const T* state, int64_t stride, int layer,
                  int d) const {
    const WriteReq req = c_.reqs[output];
    if (req == WriteReq::kNull) return;
    T* out =
        c_.outputs[output].as<T>() + (layer * dims_.directions + d) * dims_.batch * dims_.hidden;
    if (rows_.has_lengths()) {
      UnsortRows(rows_, req, state, dims_.hidden, out);
    } else {
      StoreRows(req, state, stride, dims_.batch, dims_.hidden, out);
    }
  }

  // Returns the input of the next layer: the output with dropout, if any.
  const T* DropFrom(int layer, const T* output) const {
    if (!plan_.drop) return output;
    const int64_t n = dims_.rows() * dims_.output_row();
    uint8_t* mask = plan_.keep ? reinterpret_cast<uint8_t*>(reserve_ + plan_.reserve.mask(layer))
                               : scratch_.mask;
    DrawMask(c_.random, layer * ((n + 3) / 4), param_.p, n, mask);
    ApplyMask(output, mask, param_.p, n, scratch_.dropped);
    return scratch_.dropped;
  }

  const RNNForm form_;
  const KernelContext& c_;
  const RNNParam& param_;
  const RNNInputs in_;
  RNNForwardPlan plan_;
  const RNNDims& dims_;
  RNNForwardScratch<T> scratch_;
  RNNRows rows_;
  CellClip<T> clip_;
  Direction<T> directions_[2];
  T* last_output_ = nullptr;
  T* reserve_ = nullptr;
  bool transpose_ = false;
  bool packed_ = false;
};

bool NothingAsked(absl::Span<const WriteReq> reqs) {
  return std::all_of(reqs.begin(), reqs.end(), [](WriteReq req) { return req == WriteReq::kNull; });
}

// Prepares RNN and _rnn_layer, whose first input is the data: returns the workspace.
absl::StatusOr<Prepared> PrepareRNN(const PrepareContext& c) {
  const auto& param = c.param<RNNParam>();
  COOPER_RETURN_IF_ERROR(CheckSupported(param));
  const RNNForwardPlan plan(param, c.inputs[0], c.reqs, /*is_train=*/true);
  if (c.inputs[0].dtype == DType::kFloat64)
    return Prepared{.workspace_bytes = RNNForwardScratch<double>(plan, nullptr).bytes};
  return Prepared{.workspace_bytes = RNNForwardScratch<float>(plan, nullptr).bytes};
}

template <RNNForm kForm>
absl::Status RNNCpu(const KernelContext& c) {
  const DType dtype = c.inputs[0].dtype;
  if (NothingAsked(c.reqs) || c.inputs[0].shape[1] == 0) return absl::OkStatus();
  if (dtype == DType::kFloat64) {
    Forward<double>(kForm, c).Run();
  } else {
    Forward<float>(kForm, c).Run();
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(RNN, DeviceType::kCpu, kFloat32Or64, RNNCpu<RNNForm::kPacked>, PrepareRNN);
COOPER_REGISTER_KERNEL(_rnn_layer, DeviceType::kCpu, kFloat32Or64, RNNCpu<RNNForm::kLayer>,
                       PrepareRNN);

}  // namespace
}  // namespace cooper
