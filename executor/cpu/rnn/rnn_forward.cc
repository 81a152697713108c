// The forward kernels of RNN and _rnn_layer. Per layer: one product of all steps' inputs with the
// i2h weight, then step by step the product with the h2h weight, added to it in place, and the
// fused cell.

#include <algorithm>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cpu/dropout_mask.h"
#include "executor/cpu/padded_stride.h"
#include "executor/cpu/rnn/rnn_arguments.h"
#include "executor/cpu/rnn/rnn_cells.h"
#include "executor/cpu/rnn/rnn_dims.h"
#include "executor/cpu/rnn/rnn_pieces.h"
#include "executor/cpu/row_grain.h"
#include "executor/cpu/scratch_cursor.h"
#include "executor/kernel.h"
#include "ndarray/gemm.h"
#include "ndarray/parallel.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

enum Output { kOutput, kStateOutput, kStateCellOutput };

// With fewer steps a transposed copy of the h2h weight costs more than it gains.
constexpr int64_t kMinStepsToTranspose = 4;

// What is decided when the node is bound.
struct Plan {
  Plan(const RNNParam& param, const Shape& data, absl::Span<const WriteReq> reqs, bool is_train)
      : dims(param, data),
        reserve(param, data[0], data[1]),
        keep(reqs.back() != WriteReq::kNull),
        drop(is_train && param.p > 0 && param.num_layers > 1),
        has_cell(param.mode == RNNMode::kLstm),
        transpose(data[0] >= kMinStepsToTranspose),
        own_output(reqs[kOutput] != WriteReq::kWrite),
        has_lengths(param.use_sequence_length) {}

  RNNDims dims;
  RNNReserve reserve;
  bool keep;  // whether the reserve is wanted
  bool drop;  // whether dropout is done
  bool has_cell;
  bool transpose;
  bool own_output;  // whether the last layer's output is made in scratch memory
  bool has_lengths;
};

// Scratch memory; without `keep` it stands in for the reserve.
template <typename T>
struct Scratch {
  Scratch(const Plan& plan, void* base) {
    const RNNDims& dims = plan.dims;
    ScratchCursor cursor(base);
    const int64_t rows = dims.rows();
    weight_stride = PaddedStride(dims.recurrent * dims.hidden);
    for (int d = 0; d < dims.directions; ++d) {
      if (plan.transpose) weight[d] = cursor.Take<T>(dims.hidden * weight_stride);
      bias[d] = cursor.Take<T>(dims.slot_row());
      if (!plan.keep) {
        slots[d] = cursor.Take<T>(rows * dims.slot_row());
        if (plan.has_cell) cells[d] = cursor.Take<T>(dims.batch * dims.hidden);
      }
    }
    if (!plan.keep && dims.layers > 1) between = cursor.Take<T>(rows * dims.output_row());
    if (plan.own_output) output = cursor.Take<T>(rows * dims.output_row());
    if (plan.drop) {
      dropped = cursor.Take<T>(rows * dims.output_row());
      if (!plan.keep) mask = cursor.Take<uint8_t>(rows * dims.output_row());
    }
    if (plan.has_lengths) lengths = cursor.Take<int64_t>(dims.batch);
    bytes = cursor.bytes();
  }

  int64_t weight_stride;
  T* weight[2] = {};  // h2h weights transposed, (hidden, recurrent * hidden)
  T* bias[2] = {};    // the sum of the biases of each slot
  T* slots[2] = {};
  T* cells[2] = {};
  T* between = nullptr;  // the output of every second layer; the others use the last one's
  T* output = nullptr;
  T* dropped = nullptr;
  uint8_t* mask = nullptr;
  int64_t* lengths = nullptr;
  int64_t bytes = 0;
};

// A layer while it runs.
template <typename T>
struct Direction {
  const T* h2h_weight = nullptr;
  const T* bias = nullptr;
  T* slots = nullptr;
  T* cells = nullptr;        // (num_steps, batch, hidden), or (batch, hidden) if cell_step is 0
  int64_t cell_step = 0;     // elements from one step's cell states to the next step's
  const T* state = nullptr;  // (batch, hidden)
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
        plan_(param_, c.inputs[in_.data].shape, c.reqs, c.is_train),
        dims_(plan_.dims),
        scratch_(plan_, c.workspace),
        clip_(param_) {
    last_output_ = plan_.own_output ? scratch_.output : c.outputs[kOutput].as<T>();
    if (plan_.keep) reserve_ = c.outputs.back().as<T>();
    if (plan_.has_lengths) {
      LoadLengths(c.inputs[in_.lengths], dims_.num_steps, scratch_.lengths);
      num_active_steps_ = 0;
      for (int64_t i = 0; i < dims_.batch; ++i) {
        num_active_steps_ = std::max(num_active_steps_, scratch_.lengths[i]);
      }
    } else {
      num_active_steps_ = dims_.num_steps;
    }
  }

  void Run() {
    const T* input = c_.inputs[in_.data].as<T>();
    for (int layer = 0; layer < dims_.layers; ++layer) {
      T* output = OutputOf(layer);
      for (int d = 0; d < dims_.directions; ++d) Prepare(layer, d, input, output);
      ForEachChain(dims_, [&](int d, int64_t begin, int64_t end) {
        RunChain(directions_[d], d, begin, end);
      });
      for (int d = 0; d < dims_.directions; ++d) StoreStates(layer, d);
      if (plan_.has_lengths) {
        ZeroPastLengths(scratch_.lengths, dims_.num_steps, dims_.batch, dims_.output_row(), output);
      }
      input = layer + 1 < dims_.layers ? DropFrom(layer, output) : output;
    }
    if (plan_.own_output) {
      StoreRows(c_.reqs[kOutput], input, dims_.output_row(), dims_.rows(), dims_.output_row(),
                c_.outputs[kOutput].as<T>());
    }
  }

 private:
  // Where the output of a layer is made.
  T* OutputOf(int layer) const {
    if (layer == dims_.layers - 1) return last_output_;
    if (plan_.keep) return reserve_ + plan_.reserve.output(layer);
    return (dims_.layers - 1 - layer) % 2 == 0 ? last_output_ : scratch_.between;
  }

  void Prepare(int layer, int d, const T* input, T* output) {
    const int64_t hidden = dims_.hidden;
    const auto weights = RNNWeightsOf<T>(form_, param_, dims_.input,
                                         c_.inputs.subspan(in_.weights, in_.num_weights), layer, d);
    Direction<T>& dir = directions_[d];

    dir.h2h_weight = weights.h2h_weight;
    if (plan_.transpose) {
      TransposeInto(dir.h2h_weight, dims_.recurrent * hidden, hidden, scratch_.weight[d],
                    scratch_.weight_stride);
    }
    dir.bias = scratch_.bias[d];
    SumBiases(weights.i2h_bias, weights.h2h_bias, scratch_.bias[d]);
    dir.slots = plan_.keep ? reserve_ + plan_.reserve.slots(layer, d) : scratch_.slots[d];
    const int64_t state = (layer * dims_.directions + d) * dims_.batch * hidden;
    dir.state = c_.inputs[in_.state].as<T>() + state;
    if (plan_.has_cell) {
      dir.state_cell = c_.inputs[in_.state_cell].as<T>() + state;
      dir.cells = plan_.keep ? reserve_ + plan_.reserve.cells(layer, d) : scratch_.cells[d];
      dir.cell_step = plan_.keep ? dims_.batch * hidden : 0;
    }
    dir.output = output + d * hidden;

    const int64_t rows = num_active_steps_ * dims_.batch;
    for (const InputProduct& product : InputProducts(param_.mode)) {
      Gemm(false, true, rows, product.num_gates * hidden, weights.input_size, T{1}, input,
           weights.input_size,
           weights.i2h_weight + product.first_gate * hidden * weights.input_size,
           weights.input_size, T{0}, dir.slots + product.first_slot * hidden, dims_.slot_row());
    }
  }

  // What each slot adds: both biases, but for the two slots of gru's n.
  void SumBiases(const T* i2h, const T* h2h, T* bias) const {
    const int64_t n = dims_.recurrent * dims_.hidden;
    for (int64_t j = 0; j < n; ++j) bias[j] = i2h[j] + h2h[j];
    if (param_.mode != RNNMode::kGru) return;
    std::copy_n(h2h + 2 * dims_.hidden, dims_.hidden, bias + 2 * dims_.hidden);
    std::copy_n(i2h + 2 * dims_.hidden, dims_.hidden, bias + 3 * dims_.hidden);
  }

  // Takes the rows [begin, end) of the batch through all steps.
  void RunChain(const Direction<T>& dir, int d, int64_t begin, int64_t end) const {
    const int64_t hidden = dims_.hidden;
    const T* h_prev = dir.state;
    int64_t h_prev_stride = hidden;
    const T* c_prev = dir.state_cell;
    for (int64_t s = 0; s < dims_.num_steps; ++s) {
      const int64_t t = dims_.StepAt(d, s);
      T* slots = dir.slots + t * dims_.batch * dims_.slot_row();
      T* h = dir.output + t * dims_.batch * dims_.output_row();
      T* c = dir.cells + t * dir.cell_step;
      const int64_t active_end = ActiveEnd(scratch_.lengths, t, begin, end);

      if (param_.mode == RNNMode::kGru) {
        // The input's product left out the slot nh.
        for (int64_t i = begin; i < active_end; ++i) {
          std::fill_n(slots + i * dims_.slot_row() + 2 * hidden, hidden, T{0});
        }
      }
      Gemm(false, !plan_.transpose, active_end - begin, dims_.recurrent * hidden, hidden, T{1},
           h_prev + begin * h_prev_stride, h_prev_stride,
           plan_.transpose ? scratch_.weight[d] : dir.h2h_weight,
           plan_.transpose ? scratch_.weight_stride : hidden, T{1},
           slots + begin * dims_.slot_row(), dims_.slot_row());

      ParallelFor(end - begin, RowGrain(hidden, 2048), [&](int64_t from, int64_t to) {
        for (int64_t i = begin + from; i < begin + to; ++i) {
          const T* h_row_prev = h_prev + i * h_prev_stride;
          const T* c_row_prev = plan_.has_cell ? c_prev + i * hidden : nullptr;
          T* h_row = h + i * dims_.output_row();
          T* c_row = plan_.has_cell ? c + i * hidden : nullptr;
          if (scratch_.lengths == nullptr || t < scratch_.lengths[i]) {
            RunCell(dir.bias, slots + i * dims_.slot_row(), h_row_prev, c_row_prev, h_row, c_row);
          } else {
            // The state waits; what is past the length becomes zero when all steps are done.
            std::copy_n(h_row_prev, hidden, h_row);
            if (c_row != c_row_prev) std::copy_n(c_row_prev, hidden, c_row);
          }
        }
      });
      h_prev = h;
      h_prev_stride = dims_.output_row();
      c_prev = c;
    }
  }

  void RunCell(const T* bias, T* slots, const T* h_prev, const T* c_prev, T* h, T* c) const {
    const int64_t n = dims_.hidden;
    switch (param_.mode) {
      case RNNMode::kRnnRelu:
        PlainForward<T, true>(n, bias, slots, h);
        return;
      case RNNMode::kRnnTanh:
        PlainForward<T, false>(n, bias, slots, h);
        return;
      case RNNMode::kLstm:
        if (clip_.enabled) {
          LstmForward<T, true>(n, clip_, bias, slots, c_prev, c, h);
        } else {
          LstmForward<T, false>(n, clip_, bias, slots, c_prev, c, h);
        }
        return;
      case RNNMode::kGru:
        GruForward(n, bias, slots, h_prev, h);
        return;
    }
  }

  void StoreStates(int layer, int d) const {
    if (!param_.state_outputs) return;
    const Direction<T>& dir = directions_[d];
    const int64_t size = dims_.batch * dims_.hidden;
    const int64_t at = (layer * dims_.directions + d) * size;
    const bool none = dims_.num_steps == 0;
    const int64_t t = dims_.StepAt(d, dims_.num_steps - 1);
    StoreRows(c_.reqs[kStateOutput],
              none ? dir.state : dir.output + t * dims_.batch * dims_.output_row(),
              none ? dims_.hidden : dims_.output_row(), dims_.batch, dims_.hidden,
              c_.outputs[kStateOutput].as<T>() + at);
    if (!plan_.has_cell) return;
    StoreRows(c_.reqs[kStateCellOutput], none ? dir.state_cell : dir.cells + t * dir.cell_step,
              dims_.hidden, dims_.batch, dims_.hidden, c_.outputs[kStateCellOutput].as<T>() + at);
  }

  // The input of the next layer.
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
  Plan plan_;
  const RNNDims& dims_;
  Scratch<T> scratch_;
  CellClip<T> clip_;
  Direction<T> directions_[2];
  T* last_output_ = nullptr;
  T* reserve_ = nullptr;
  int64_t num_active_steps_ = 0;  // the greatest length
};

bool NothingAsked(absl::Span<const WriteReq> reqs) {
  return std::all_of(reqs.begin(), reqs.end(), [](WriteReq req) { return req == WriteReq::kNull; });
}

// The data is the first input of both.
absl::StatusOr<Prepared> PrepareRNN(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckSupported(c.param<RNNParam>()));
  const Plan plan(c.param<RNNParam>(), c.inputs[0].shape, c.reqs, /*is_train=*/true);
  if (c.inputs[0].dtype == DType::kFloat64)
    return Prepared{.workspace_bytes = Scratch<double>(plan, nullptr).bytes};
  return Prepared{.workspace_bytes = Scratch<float>(plan, nullptr).bytes};
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
