// The gradient kernels of RNN and _rnn_layer. For each layer, from the last, they run the steps
// backward: the cell, and the product with the h2h weight. Then one product over all steps gives
// each of the gradients with respect to the input and to both weights. Only tanh(c) of the forward
// pass is recomputed. Gradients overwrite the reserve. Steps beyond the end of a sequence are left
// out, as in the forward pass (rnn_rows.h).

#include <algorithm>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/reducers/column_sums.h"
#include "executor/kernels/rnn/rnn_arguments.h"
#include "executor/kernels/rnn/rnn_backward_arguments.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "executor/kernels/rnn/rnn_cells.h"
#include "executor/kernels/rnn/rnn_chains.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_matrix_ops.h"
#include "executor/kernels/rnn/rnn_rows.h"
#include "executor/program/kernel.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

// The weights' arrays, in the order of a _rnn_layer node's inputs.
enum WeightKind { kI2hWeight, kI2hBias, kH2hWeight, kH2hBias };

template <typename T>
class Backward {
 public:
  Backward(RNNForm form, const KernelContext& c)
      : form_(form),
        c_(c),
        param_(c.param<RNNParam>()),
        in_(form, param_),
        out_(form, param_),
        dims_(param_, c.inputs[in_.forward.data].shape),
        reserve_layout_(param_, dims_.num_steps, dims_.batch),
        scratch_(param_, dims_, c.workspace),
        rows_(in_.forward.lengths >= 0 ? RNNRows(c.inputs[in_.forward.lengths], dims_.num_steps,
                                                 dims_.batch, scratch_.row_order)
                                       : RNNRows(dims_.num_steps, dims_.batch)),
        clip_(param_),
        has_cell_(RNNHasCell(param_)),
        drop_(c.is_train && param_.p > 0 && dims_.layers > 1),
        reserve_(c.inputs[in_.reserve].as<T>()) {}

  void Run() {
    const WriteReq data_req = c_.reqs[out_.data];
    const auto weight_reqs = c_.reqs.subspan(out_.weights, out_.num_weights);
    const bool wants_weights = std::any_of(weight_reqs.begin(), weight_reqs.end(),
                                           [](WriteReq req) { return req != WriteReq::kNull; });
    const T* dy = c_.inputs[in_.output_grad].as<T>();
    for (int layer = dims_.layers - 1; layer >= 0; --layer) {
      for (int d = 0; d < dims_.directions; ++d) Begin(layer, d);
      ForEachChain(dims_, rows_,
                   [&](int d, int64_t begin, int64_t end) { RunChain(layer, d, dy, begin, end); });
      for (int d = 0; d < dims_.directions; ++d) StoreStateGradients(layer, d);
      if (wants_weights) {
        const T* input = InputOf(layer);
        for (int d = 0; d < dims_.directions; ++d) WeightGradients(layer, d, input);
      }
      if (layer > 0) {
        // dy is no longer needed, so the input's gradient overwrites it.
        InputGradient(layer, WriteReq::kWrite, scratch_.dy);
        if (drop_) {
          ApplyMask(scratch_.dy, MaskOf(layer - 1), param_.p, dims_.rows() * dims_.output_row(),
                    scratch_.dy);
        }
        dy = scratch_.dy;
      } else if (data_req != WriteReq::kNull) {
        InputGradient(layer, data_req, c_.outputs[out_.data].as<T>());
      }
    }
  }

 private:
  int64_t state_size() const { return dims_.batch * dims_.hidden; }
  int64_t StateAt(int layer, int d) const { return (layer * dims_.directions + d) * state_size(); }
  const T* State(int input, int layer, int d) const {
    return c_.inputs[input].as<T>() + StateAt(layer, d);
  }
  const T* OutputOf(int layer) const {
    return layer == dims_.layers - 1 ? c_.inputs[in_.output].as<T>()
                                     : reserve_ + reserve_layout_.output(layer);
  }
  const uint8_t* MaskOf(int layer) const {
    return reinterpret_cast<const uint8_t*>(reserve_ + reserve_layout_.mask(layer));
  }
  // Returns the layer's input, packed. Applies the stored dropout mask again.
  const T* InputOf(int layer) const {
    const T* input = layer == 0 ? c_.inputs[in_.forward.data].as<T>() : OutputOf(layer - 1);
    if (layer > 0 && drop_) {
      ApplyMask(input, MaskOf(layer - 1), param_.p, dims_.rows() * dims_.output_row(),
                scratch_.dropped);
      input = scratch_.dropped;
    }
    if (rows_.is_whole()) return input;
    PackRows(rows_, input, InputSize(layer), scratch_.input);
    return scratch_.input;
  }
  int64_t InputSize(int layer) const { return layer == 0 ? dims_.input : dims_.output_row(); }

  void Begin(int layer, int d) {
    ds_[d] = reserve_ + reserve_layout_.slots(layer, d);
    const auto start = [&](int grad_input, T* to) {
      if (grad_input < 0) {
        std::fill_n(to, state_size(), T{0});
      } else {
        SortRows(rows_, State(grad_input, layer, d), dims_.hidden, to);
      }
    };
    start(in_.state_grad, scratch_.dh[d]);
    if (has_cell_) start(in_.state_cell_grad, scratch_.dc[d]);
    if (scratch_.copies_weight) {
      const T* weight = WeightsOf(layer, d).h2h_weight;
      for (int64_t i = 0; i < dims_.recurrent * dims_.hidden; ++i) {
        std::copy_n(weight + i * dims_.hidden, dims_.hidden,
                    scratch_.weight[d] + i * scratch_.weight_stride);
      }
    }
  }

  RNNWeights<T> WeightsOf(int layer, int d) const {
    const RNNInputs& in = in_.forward;
    return RNNWeightsOf<T>(form_, param_, dims_.input,
                           c_.inputs.subspan(in.weights, in.num_weights), layer, d);
  }
  RNNWeights<T> GradientsOf(int layer, int d) const {
    return RNNWeightsOf<T>(form_, param_, dims_.input,
                           c_.outputs.subspan(out_.weights, out_.num_weights), layer, d);
  }
  // Returns the request for one of the four kinds of weights.
  WriteReq WeightReq(int kind) const {
    return c_.reqs[out_.weights + (out_.num_weights == 1 ? 0 : kind)];
  }

  // Runs all steps backward for the sequences at the places [begin, end).
  void RunChain(int layer, int d, const T* dy, int64_t begin, int64_t end) const {
    const int64_t hidden = dims_.hidden;
    const int64_t output_step = dims_.batch * dims_.output_row();
    const T* slots = reserve_ + reserve_layout_.slots(layer, d);
    const T* cells = has_cell_ ? reserve_ + reserve_layout_.cells(layer, d) : nullptr;
    const T* output = OutputOf(layer) + d * hidden;
    const T* weight = scratch_.copies_weight ? scratch_.weight[d] : WeightsOf(layer, d).h2h_weight;
    const int64_t weight_stride = scratch_.copies_weight ? scratch_.weight_stride : hidden;
    const T* state = State(in_.forward.state, layer, d);
    const T* state_cell = has_cell_ ? State(in_.forward.state_cell, layer, d) : nullptr;
    T* dh = scratch_.dh[d];
    T* dc = scratch_.dc[d];

    for (int64_t s = dims_.num_steps - 1; s >= 0; --s) {
      const int64_t t = dims_.StepAt(d, s);
      const int64_t t_prev = s == 0 ? 0 : dims_.StepAt(d, s - 1);
      const int64_t active_end = std::min(end, rows_.count(t));
      if (active_end <= begin) continue;
      T* ds = ds_[d] + rows_.begin(t) * dims_.slot_row();
      ParallelFor(active_end - begin, RowGrain(hidden, 2048), [&](int64_t from, int64_t to) {
        for (int64_t place = begin + from; place < begin + to; ++place) {
          const int64_t i = rows_.row(place);
          const int64_t packed = rows_.begin(t) + place;
          const bool first = rows_.IsFirst(d, t, place);
          const T* h_row = output + t * output_step + i * dims_.output_row();
          const T* dy_row = dy + t * output_step + i * dims_.output_row() + d * hidden;
          const T* slot_row = slots + packed * dims_.slot_row();
          T* ds_row = ds + place * dims_.slot_row();
          T* dh_row = dh + place * hidden;
          switch (param_.mode) {
            case RNNMode::kRnnRelu:
              PlainBackward<T, true>(hidden, h_row, dy_row, dh_row, ds_row);
              break;
            case RNNMode::kRnnTanh:
              PlainBackward<T, false>(hidden, h_row, dy_row, dh_row, ds_row);
              break;
            case RNNMode::kLstm: {
              const T* c_row = cells + packed * hidden;
              const T* c_prev =
                  first ? state_cell + i * hidden : cells + (rows_.begin(t_prev) + place) * hidden;
              T* dc_row = dc + place * hidden;
              // Calls the function directly: through a pointer it would not be compiled for the
              // CpuLevel.
              if (clip_.enabled) {
                LstmBackward<T, true>(hidden, clip_, slot_row, c_prev, c_row, dy_row, dh_row,
                                      dc_row, ds_row);
              } else {
                LstmBackward<T, false>(hidden, clip_, slot_row, c_prev, c_row, dy_row, dh_row,
                                       dc_row, ds_row);
              }
              break;
            }
            case RNNMode::kGru: {
              const T* h_prev = first ? state + i * hidden
                                      : output + t_prev * output_step + i * dims_.output_row();
              GruBackward(hidden, slot_row, h_prev, dy_row, dh_row, ds_row);
              break;
            }
          }
        }
      });
      if (s == 0 && c_.reqs[out_.state] == WriteReq::kNull) break;
      Gemm(false, false, active_end - begin, hidden, dims_.recurrent * hidden, T{1},
           ds + begin * dims_.slot_row(), dims_.slot_row(), weight, weight_stride, T{1},
           dh + begin * hidden, hidden);
    }
  }

  void StoreStateGradients(int layer, int d) const {
    StoreStateGradient(out_.state, scratch_.dh[d], layer, d);
    if (has_cell_) StoreStateGradient(out_.state_cell, scratch_.dc[d], layer, d);
  }

  void StoreStateGradient(int output, const T* gradient, int layer, int d) const {
    if (c_.reqs[output] == WriteReq::kNull) return;
    UnsortRows(rows_, c_.reqs[output], gradient, dims_.hidden,
               c_.outputs[output].as<T>() + StateAt(layer, d));
  }

  static T BetaOf(WriteReq req) { return req == WriteReq::kAdd ? T{1} : T{0}; }

  void WeightGradients(int layer, int d, const T* input) const {
    const int64_t hidden = dims_.hidden;
    const RNNWeights<T> grads = GradientsOf(layer, d);
    const int64_t input_size = grads.input_size;
    if (const WriteReq req = WeightReq(kI2hWeight); req != WriteReq::kNull) {
      for (const InputProduct& product : InputProducts(param_.mode)) {
        Gemm(true, false, product.num_gates * hidden, input_size, rows_.total(), T{1},
             ds_[d] + product.first_slot * hidden, dims_.slot_row(), input, input_size, BetaOf(req),
             grads.i2h_weight + product.first_gate * hidden * input_size, input_size);
      }
    }
    if (const WriteReq req = WeightReq(kH2hWeight); req != WriteReq::kNull) {
      RecurrentWeightGradient(layer, d, BetaOf(req), grads.h2h_weight);
    }

    SumColumns(ds_[d], dims_.slot_row(), rows_.total(), dims_.slot_row(), /*add=*/false,
               scratch_.bias);
    const int64_t n = dims_.recurrent * hidden;
    StoreRows(WeightReq(kH2hBias), scratch_.bias, n, 1, n, grads.h2h_bias);
    // gru's n has its i2h bias in a slot of its own.
    if (param_.mode == RNNMode::kGru) {
      std::copy_n(scratch_.bias + 3 * hidden, hidden, scratch_.bias + 2 * hidden);
    }
    StoreRows(WeightReq(kI2hBias), scratch_.bias, n, 1, n, grads.i2h_bias);
  }

  // Computes the sum over all steps of ds^T h_prev. h_prev is the layer's output shifted by one
  // step; the first step has the initial state instead.
  void RecurrentWeightGradient(int layer, int d, T beta, T* grad) const {
    const int64_t hidden = dims_.hidden;
    const int64_t n = dims_.recurrent * hidden;
    const T* ds = ds_[d];
    if (dims_.num_steps == 0) {
      Gemm(true, false, n, hidden, 0, T{1}, ds, dims_.slot_row(), ds, hidden, beta, grad, hidden);
      return;
    }
    const T* output = OutputOf(layer) + d * hidden;
    if (rows_.has_lengths()) {
      PackPrevious(rows_, d, State(in_.forward.state, layer, d), output, dims_.output_row(), hidden,
                   scratch_.h_prev);
      Gemm(true, false, n, hidden, rows_.total(), T{1}, ds, dims_.slot_row(), scratch_.h_prev,
           hidden, beta, grad, hidden);
      return;
    }
    const int64_t first = dims_.StepAt(d, 0);
    Gemm(true, false, n, hidden, dims_.batch, T{1}, ds + first * dims_.batch * dims_.slot_row(),
         dims_.slot_row(), State(in_.forward.state, layer, d), hidden, beta, grad, hidden);
    if (dims_.num_steps == 1) return;
    const T* later_ds = d == 0 ? ds + dims_.batch * dims_.slot_row() : ds;
    const T* earlier = d == 0 ? output : output + dims_.batch * dims_.output_row();
    Gemm(true, false, n, hidden, dims_.rows() - dims_.batch, T{1}, later_ds, dims_.slot_row(),
         earlier, dims_.output_row(), T{1}, grad, hidden);
  }

  // Writes or adds to `grad` the gradient of the layer's input: the sum over directions of ds *
  // i2h_weight.
  void InputGradient(int layer, WriteReq req, T* grad) const {
    const int64_t hidden = dims_.hidden;
    const int64_t input_size = InputSize(layer);
    // With lengths the sum is computed first and then added once, with or without padding, so that
    // the bits are the same.
    const bool whole = rows_.is_whole() && (req == WriteReq::kWrite || !rows_.has_lengths());
    T* out = whole ? grad : scratch_.input;
    T beta = whole ? BetaOf(req) : T{0};
    for (int d = 0; d < dims_.directions; ++d) {
      const RNNWeights<T> weights = WeightsOf(layer, d);
      for (const InputProduct& product : InputProducts(param_.mode)) {
        Gemm(false, false, rows_.total(), input_size, product.num_gates * hidden, T{1},
             ds_[d] + product.first_slot * hidden, dims_.slot_row(),
             weights.i2h_weight + product.first_gate * hidden * input_size, input_size, beta, out,
             input_size);
        beta = T{1};
      }
    }
    if (!whole) UnpackRows(rows_, req, out, input_size, grad);
  }

  const RNNForm form_;
  const KernelContext& c_;
  const RNNParam& param_;
  const RNNBackwardInputs in_;
  const RNNInputs out_;  // gradients have the order of the forward node's inputs
  RNNDims dims_;
  RNNReserve reserve_layout_;
  RNNBackwardScratch<T> scratch_;
  RNNRows rows_;
  CellClip<T> clip_;
  bool has_cell_;
  bool drop_;
  T* reserve_;
  // Gradients of the slots before activation, (packed rows, slots, hidden). They overwrite the
  // slots: each slot is read for the last time where its gradient is computed.
  T* ds_[2] = {};
};

template <RNNForm kForm>
absl::StatusOr<Prepared> PrepareRNNBackward(const PrepareContext& c) {
  const auto& param = c.param<RNNParam>();
  const ArrayView& data = c.inputs[RNNBackwardInputs(kForm, param).forward.data];
  const RNNDims dims(param, data.shape);
  if (data.dtype == DType::kFloat64)
    return Prepared{.workspace_bytes = RNNBackwardScratch<double>(param, dims, nullptr).bytes};
  return Prepared{.workspace_bytes = RNNBackwardScratch<float>(param, dims, nullptr).bytes};
}

template <RNNForm kForm>
absl::Status RNNBackwardCpu(const KernelContext& c) {
  const auto& param = c.param<RNNParam>();
  const ArrayView& data = c.inputs[RNNBackwardInputs(kForm, param).forward.data];
  if (data.dtype == DType::kFloat64) {
    Backward<double>(kForm, c).Run();
  } else {
    Backward<float>(kForm, c).Run();
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_backward_RNN, DeviceType::kCpu, kFloat32Or64,
                       RNNBackwardCpu<RNNForm::kPacked>, PrepareRNNBackward<RNNForm::kPacked>);
COOPER_REGISTER_KERNEL(_backward_rnn_layer, DeviceType::kCpu, kFloat32Or64,
                       RNNBackwardCpu<RNNForm::kLayer>, PrepareRNNBackward<RNNForm::kLayer>);

}  // namespace
}  // namespace cooper
