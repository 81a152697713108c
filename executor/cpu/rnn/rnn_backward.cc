// The gradient kernel of RNN. Per layer, from the last: step by step, backward, the cell and the
// product with the h2h weight; then one product of all steps for each of the gradients with respect
// to the input and to both weights. Nothing of the forward pass is computed again but tanh(c).

#include <algorithm>

#include "absl/status/status.h"
#include "executor/cpu/rnn/rnn_cells.h"
#include "executor/cpu/rnn/rnn_dims.h"
#include "executor/cpu/rnn/rnn_pieces.h"
#include "executor/kernel.h"
#include "ndarray/gemm.h"
#include "ndarray/parallel.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

// Gradients, in the order of the outputs.
enum Gradient { kData, kParameters, kState, kStateCell };

// Where the backward node has its inputs; -1 for those that this RNN does not have.
struct Inputs {
  explicit Inputs(const RNNParam& param) {
    const bool has_cell = param.mode == RNNMode::kLstm;
    int next = 1;
    if (param.state_outputs) state_grad = next++;
    if (param.state_outputs && has_cell) state_cell_grad = next++;
    data = next++;
    parameters = next++;
    state = next++;
    if (has_cell) state_cell = next++;
    if (param.use_sequence_length) lengths = next++;
    output = next++;
    reserve = next++;
  }
  int output_grad = 0;
  int state_grad = -1, state_cell_grad = -1;
  int data, parameters, state;
  int state_cell = -1, lengths = -1;
  int output, reserve;
};

template <typename T>
struct Scratch {
  Scratch(const RNNParam& param, const RNNDims& dims, void* base) {
    ScratchCursor cursor(base);
    const int64_t rows = dims.rows();
    weight_stride = PaddedStride(dims.hidden);
    copies_weight = dims.hidden % 128 == 0;
    for (int d = 0; d < dims.directions; ++d) {
      ds[d] = cursor.Take<T>(rows * dims.slot_row());
      dh[d] = cursor.Take<T>(dims.batch * dims.hidden);
      if (param.mode == RNNMode::kLstm) dc[d] = cursor.Take<T>(dims.batch * dims.hidden);
      if (copies_weight) weight[d] = cursor.Take<T>(dims.recurrent * dims.hidden * weight_stride);
    }
    bias = cursor.Take<T>(dims.slot_row());
    if (dims.layers > 1) dy = cursor.Take<T>(rows * dims.output_row());
    if (dims.layers > 1 && param.p > 0) {
      dropped = cursor.Take<T>(rows * dims.output_row());
    }
    if (param.use_sequence_length) {
      lengths = cursor.Take<int64_t>(dims.batch);
      h_prev = cursor.Take<T>(rows * dims.hidden);
    }
    bytes = cursor.bytes();
  }

  int64_t weight_stride;
  bool copies_weight;
  T* ds[2] = {};  // gradients of the slots before activation, (num_steps, batch, slots, hidden)
  T* dh[2] = {};  // what goes from a step to the one before, (batch, hidden)
  T* dc[2] = {};
  T* weight[2] = {};  // h2h weights with padded rows
  T* bias = nullptr;  // sums of ds over all steps and rows
  T* dy = nullptr;    // the gradient of the output of the layer below
  T* dropped = nullptr;
  int64_t* lengths = nullptr;
  T* h_prev = nullptr;
  int64_t bytes = 0;
};

template <typename T>
class Backward {
 public:
  explicit Backward(const KernelContext& c)
      : c_(c),
        param_(c.param<RNNParam>()),
        in_(param_),
        dims_(param_, c.inputs[in_.data].shape),
        reserve_layout_(param_, dims_.num_steps, dims_.batch),
        scratch_(param_, dims_, c.workspace),
        clip_(param_),
        has_cell_(param_.mode == RNNMode::kLstm),
        drop_(c.is_train && param_.p > 0 && dims_.layers > 1),
        parameters_(c.inputs[in_.parameters].as<T>()),
        reserve_(c.inputs[in_.reserve].as<T>()) {
    if (in_.lengths >= 0) LoadLengths(c.inputs[in_.lengths], dims_.num_steps, scratch_.lengths);
  }

  void Run() {
    const bool wants_data = c_.reqs[kData] != WriteReq::kNull;
    const bool wants_parameters = c_.reqs[kParameters] != WriteReq::kNull;
    const T* dy = c_.inputs[in_.output_grad].as<T>();
    for (int layer = dims_.layers - 1; layer >= 0; --layer) {
      for (int d = 0; d < dims_.directions; ++d) Begin(layer, d);
      ForEachChain(dims_,
                   [&](int d, int64_t begin, int64_t end) { RunChain(layer, d, dy, begin, end); });
      for (int d = 0; d < dims_.directions; ++d) {
        StoreStateGradients(layer, d);
      }
      if (wants_parameters) {
        const T* input = InputOf(layer);
        for (int d = 0; d < dims_.directions; ++d) WeightGradients(layer, d, input);
      }
      if (layer > 0) {
        // dy has been used up: its place can be taken.
        for (int d = 0; d < dims_.directions; ++d) {
          InputGradient(layer, d, d == 0 ? T(0) : T(1), scratch_.dy);
        }
        if (drop_) {
          ApplyMask(scratch_.dy, MaskOf(layer - 1), param_.p, dims_.rows() * dims_.output_row(),
                    scratch_.dy);
        }
        dy = scratch_.dy;
      } else if (wants_data) {
        for (int d = 0; d < dims_.directions; ++d) {
          InputGradient(layer, d, d == 0 && c_.reqs[kData] == WriteReq::kWrite ? T(0) : T(1),
                        c_.outputs[kData].as<T>());
        }
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
  // What the layer had as its input: with dropout made again from the mask.
  const T* InputOf(int layer) const {
    if (layer == 0) return c_.inputs[in_.data].as<T>();
    const T* output = OutputOf(layer - 1);
    if (!drop_) return output;
    ApplyMask(output, MaskOf(layer - 1), param_.p, dims_.rows() * dims_.output_row(),
              scratch_.dropped);
    return scratch_.dropped;
  }

  void Begin(int layer, int d) const {
    const auto start = [&](int grad_input, T* to) {
      if (grad_input < 0) {
        std::fill_n(to, state_size(), T(0));
      } else {
        std::copy_n(State(grad_input, layer, d), state_size(), to);
      }
    };
    start(in_.state_grad, scratch_.dh[d]);
    if (has_cell_) start(in_.state_cell_grad, scratch_.dc[d]);
    if (scratch_.copies_weight) {
      const T* weight = parameters_ + Offsets(layer, d).h2h_weight;
      for (int64_t i = 0; i < dims_.recurrent * dims_.hidden; ++i) {
        std::copy_n(weight + i * dims_.hidden, dims_.hidden,
                    scratch_.weight[d] + i * scratch_.weight_stride);
      }
    }
  }

  RNNWeightOffsets Offsets(int layer, int d) const {
    return RNNOffsets(param_, dims_.input, layer, d);
  }

  // Takes the gradients of the rows [begin, end) of the batch back through all steps.
  void RunChain(int layer, int d, const T* dy, int64_t begin, int64_t end) const {
    const int64_t hidden = dims_.hidden;
    const int64_t slot_step = dims_.batch * dims_.slot_row();
    const int64_t output_step = dims_.batch * dims_.output_row();
    const T* slots = reserve_ + reserve_layout_.slots(layer, d);
    const T* cells = has_cell_ ? reserve_ + reserve_layout_.cells(layer, d) : nullptr;
    const T* output = OutputOf(layer) + d * hidden;
    const T* weight =
        scratch_.copies_weight ? scratch_.weight[d] : parameters_ + Offsets(layer, d).h2h_weight;
    const int64_t weight_stride = scratch_.copies_weight ? scratch_.weight_stride : hidden;
    const T* state = State(in_.state, layer, d);
    const T* state_cell = has_cell_ ? State(in_.state_cell, layer, d) : nullptr;
    T* dh = scratch_.dh[d];
    T* dc = scratch_.dc[d];

    for (int64_t s = dims_.num_steps - 1; s >= 0; --s) {
      const int64_t t = dims_.StepAt(d, s);
      const int64_t t_prev = s == 0 ? 0 : dims_.StepAt(d, s - 1);
      T* ds = scratch_.ds[d] + t * slot_step;
      ParallelFor(end - begin, std::max<int64_t>(1, 2048 / hidden), [&](int64_t from, int64_t to) {
        for (int64_t i = begin + from; i < begin + to; ++i) {
          T* ds_row = ds + i * dims_.slot_row();
          if (scratch_.lengths != nullptr && t >= scratch_.lengths[i]) {
            // The state waited: dh and dc stay as they are.
            std::fill_n(ds_row, dims_.slot_row(), T(0));
            continue;
          }
          // Going from the last step, a sequence starts at its own length.
          const bool first =
              s == 0 || (scratch_.lengths != nullptr && t_prev >= scratch_.lengths[i]);
          const T* h_row = output + t * output_step + i * dims_.output_row();
          const T* dy_row = dy + t * output_step + i * dims_.output_row() + d * hidden;
          const T* slot_row = slots + t * slot_step + i * dims_.slot_row();
          switch (param_.mode) {
            case RNNMode::kRnnRelu:
              PlainBackward<T, true>(hidden, h_row, dy_row, dh + i * hidden, ds_row);
              break;
            case RNNMode::kRnnTanh:
              PlainBackward<T, false>(hidden, h_row, dy_row, dh + i * hidden, ds_row);
              break;
            case RNNMode::kLstm: {
              const T* c_row = cells + t * state_size() + i * hidden;
              const T* c_prev =
                  first ? state_cell + i * hidden : cells + t_prev * state_size() + i * hidden;
              const auto run = clip_.enabled ? LstmBackward<T, true> : LstmBackward<T, false>;
              run(hidden, clip_, slot_row, c_prev, c_row, dy_row, dh + i * hidden, dc + i * hidden,
                  ds_row);
              break;
            }
            case RNNMode::kGru: {
              const T* h_prev = first ? state + i * hidden
                                      : output + t_prev * output_step + i * dims_.output_row();
              GruBackward(hidden, slot_row, h_prev, dy_row, dh + i * hidden, ds_row);
              break;
            }
          }
        }
      });
      if (s == 0 && c_.reqs[kState] == WriteReq::kNull) break;
      const int64_t active_end = ActiveEnd(scratch_.lengths, t, begin, end);
      Gemm(false, false, active_end - begin, hidden, dims_.recurrent * hidden, T(1),
           ds + begin * dims_.slot_row(), dims_.slot_row(), weight, weight_stride, T(1),
           dh + begin * hidden, hidden);
    }
  }

  void StoreStateGradients(int layer, int d) const {
    StoreRows(c_.reqs[kState], scratch_.dh[d], dims_.hidden, dims_.batch, dims_.hidden,
              c_.outputs[kState].as<T>() + StateAt(layer, d));
    if (!has_cell_) return;
    StoreRows(c_.reqs[kStateCell], scratch_.dc[d], dims_.hidden, dims_.batch, dims_.hidden,
              c_.outputs[kStateCell].as<T>() + StateAt(layer, d));
  }

  void WeightGradients(int layer, int d, const T* input) const {
    const int64_t hidden = dims_.hidden;
    const RNNWeightOffsets offsets = Offsets(layer, d);
    T* grad = c_.outputs[kParameters].as<T>();
    const bool add = c_.reqs[kParameters] == WriteReq::kAdd;
    const T beta = add ? T(1) : T(0);
    for (const InputProduct& product : InputProducts(param_.mode)) {
      Gemm(true, false, product.num_gates * hidden, offsets.input_size, dims_.rows(), T(1),
           scratch_.ds[d] + product.first_slot * hidden, dims_.slot_row(), input,
           offsets.input_size, beta,
           grad + offsets.i2h_weight + product.first_gate * hidden * offsets.input_size,
           offsets.input_size);
    }
    RecurrentWeightGradient(layer, d, beta, grad + offsets.h2h_weight);

    SumRows(scratch_.ds[d], dims_.rows(), dims_.slot_row(), scratch_.bias);
    const WriteReq req = c_.reqs[kParameters];
    const int64_t n = dims_.recurrent * hidden;
    StoreRows(req, scratch_.bias, n, 1, n, grad + offsets.h2h_bias);
    // gru's n adds its i2h bias in a slot of its own.
    if (param_.mode == RNNMode::kGru) {
      std::copy_n(scratch_.bias + 3 * hidden, hidden, scratch_.bias + 2 * hidden);
    }
    StoreRows(req, scratch_.bias, n, 1, n, grad + offsets.i2h_bias);
  }

  // The sum over all steps of ds^T h_prev. The outputs of a layer are its previous outputs too, one
  // step further; only the first step has the initial state instead.
  void RecurrentWeightGradient(int layer, int d, T beta, T* grad) const {
    const int64_t hidden = dims_.hidden;
    const int64_t n = dims_.recurrent * hidden;
    const T* ds = scratch_.ds[d];
    if (dims_.num_steps == 0) {
      Gemm(true, false, n, hidden, 0, T(1), ds, dims_.slot_row(), ds, hidden, beta, grad, hidden);
      return;
    }
    const T* output = OutputOf(layer) + d * hidden;
    if (scratch_.lengths != nullptr && d == 1) {
      GatherPrevious(output, State(in_.state, layer, d));
      Gemm(true, false, n, hidden, dims_.rows(), T(1), ds, dims_.slot_row(), scratch_.h_prev,
           hidden, beta, grad, hidden);
      return;
    }
    const int64_t first = dims_.StepAt(d, 0);
    Gemm(true, false, n, hidden, dims_.batch, T(1), ds + first * dims_.batch * dims_.slot_row(),
         dims_.slot_row(), State(in_.state, layer, d), hidden, beta, grad, hidden);
    if (dims_.num_steps == 1) return;
    const T* later_ds = d == 0 ? ds + dims_.batch * dims_.slot_row() : ds;
    const T* earlier = d == 0 ? output : output + dims_.batch * dims_.output_row();
    Gemm(true, false, n, hidden, dims_.rows() - dims_.batch, T(1), later_ds, dims_.slot_row(),
         earlier, dims_.output_row(), T(1), grad, hidden);
  }

  // For the direction from the last step: what each step had as its previous output.
  void GatherPrevious(const T* output, const T* state) const {
    for (int64_t t = 0; t < dims_.num_steps; ++t) {
      for (int64_t i = 0; i < dims_.batch; ++i) {
        const bool first = t + 1 >= scratch_.lengths[i];
        const T* from = first ? state + i * dims_.hidden
                              : output + ((t + 1) * dims_.batch + i) * dims_.output_row();
        std::copy_n(from, dims_.hidden, scratch_.h_prev + (t * dims_.batch + i) * dims_.hidden);
      }
    }
  }

  // grad = beta grad + ds W
  void InputGradient(int layer, int d, T beta, T* grad) const {
    const int64_t hidden = dims_.hidden;
    const RNNWeightOffsets offsets = Offsets(layer, d);
    for (const InputProduct& product : InputProducts(param_.mode)) {
      Gemm(false, false, dims_.rows(), offsets.input_size, product.num_gates * hidden, T(1),
           scratch_.ds[d] + product.first_slot * hidden, dims_.slot_row(),
           parameters_ + offsets.i2h_weight + product.first_gate * hidden * offsets.input_size,
           offsets.input_size, beta, grad, offsets.input_size);
      beta = T(1);
    }
  }

  const KernelContext& c_;
  const RNNParam& param_;
  Inputs in_;
  RNNDims dims_;
  RNNReserve reserve_layout_;
  Scratch<T> scratch_;
  CellClip<T> clip_;
  bool has_cell_;
  bool drop_;
  const T* parameters_;
  const T* reserve_;
};

int64_t RNNBackwardWorkspace(const PrepareContext& c) {
  const auto& param = c.param<RNNParam>();
  const ArrayView& data = c.inputs[Inputs(param).data];
  const RNNDims dims(param, data.shape);
  if (data.dtype == DType::kFloat64) return Scratch<double>(param, dims, nullptr).bytes;
  return Scratch<float>(param, dims, nullptr).bytes;
}

absl::Status RNNBackwardCpu(const KernelContext& c) {
  const auto& param = c.param<RNNParam>();
  const ArrayView& data = c.inputs[Inputs(param).data];
  if (absl::Status status = CheckSupported("gradient of RNN", param, data.dtype); !status.ok()) {
    return status;
  }
  if (data.dtype == DType::kFloat64) {
    Backward<double>(c).Run();
  } else {
    Backward<float>(c).Run();
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_backward_RNN, DeviceType::kCpu, RNNBackwardCpu, RNNBackwardWorkspace);

}  // namespace
}  // namespace cooper
