// The gradient GPU kernels of RNN and _rnn_layer. For each layer, from the last, and direction they
// run the steps backward: the cell, and the product with the h2h weight, in one kernel for small
// batches. Then one product over all steps gives each of the gradients with respect to the input
// and to both weights. Gradients overwrite the reserve.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/launch_rows.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/random/dropout_bits.h"
#include "executor/kernels/reducers/set_reduce.h"
#include "executor/kernels/rnn/rnn_arguments.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_gradient_cells.h"
#include "executor/kernels/rnn/rnn_gradient_scratch.h"
#include "executor/kernels/rnn/rnn_gradient_step.h"
#include "executor/kernels/rnn/rnn_rows_cuda.h"
#include "executor/kernels/rnn/rnn_state.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
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
        clip_(param_),
        has_cell_(RNNHasCell(param_)),
        drop_(c.is_train && param_.p > 0 && dims_.layers > 1),
        reserve_(c.inputs[in_.reserve].as<T>()) {}

  absl::Status Run() {
    if (in_.forward.lengths >= 0) {
      const ArrayView& lengths = c_.inputs[in_.forward.lengths];
      COOPER_RETURN_IF_ERROR(LaunchElements(c_, dims_.batch, LoadLengths, lengths.data,
                                            lengths.dtype, dims_.batch, dims_.num_steps,
                                            scratch_.lengths));
    }
    const T* dy = c_.inputs[in_.output_grad].as<T>();
    for (int layer = dims_.layers - 1; layer >= 0; --layer) {
      COOPER_RETURN_IF_ERROR(MakeInput(layer));
      T* input_grad = layer > 0 ? scratch_.dy : c_.outputs[out_.data].as<T>();
      for (int d = 0; d < dims_.directions; ++d) {
        COOPER_RETURN_IF_ERROR(RunDirection(layer, d, dy));
        COOPER_RETURN_IF_ERROR(WeightGradients(layer, d));
      }
      // Above the first layer dy is no longer needed, so the input's gradient overwrites it.
      for (int d = 0; d < dims_.directions; ++d) {
        if (layer == 0 && c_.reqs[out_.data] == WriteReq::kNull) break;
        const bool add = d > 0 || (layer == 0 && c_.reqs[out_.data] == WriteReq::kAdd);
        COOPER_RETURN_IF_ERROR(InputGradient(layer, d, add, input_grad));
      }
      if (layer > 0 && drop_) {
        COOPER_RETURN_IF_ERROR(Mask(layer - 1, input_grad, input_grad));
      }
      dy = input_grad;
    }
    return absl::OkStatus();
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
  // Returns the gradients of the slots before activation, (num_steps, batch, slots, hidden). They
  // overwrite the slots: each slot is read for the last time where its gradient is computed.
  T* SlotsOf(int layer, int d) const { return reserve_ + reserve_layout_.slots(layer, d); }
  RNNWeights<T> WeightsOf(int layer, int d) const {
    const RNNInputs& in = in_.forward;
    return RNNWeightsOf<T>(form_, param_, dims_.input,
                           c_.inputs.subspan(in.weights, in.num_weights), layer, d);
  }
  // Returns the request for one of the four kinds of weights.
  WriteReq WeightReq(WeightKind kind) const {
    return c_.reqs[out_.weights + (out_.num_weights == 1 ? 0 : int{kind})];
  }
  bool Wants(WeightKind kind) const { return WeightReq(kind) != WriteReq::kNull; }
  bool Adds(WeightKind kind) const { return WeightReq(kind) == WriteReq::kAdd; }

  absl::Status Gemm(bool transpose_a, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
                    const T* b, int64_t ldb, bool add, T* to, int64_t ldc) const {
    return RNNCublas(c_).Gemm(StreamOf(c_), DTypeOf<T>(), transpose_a, false, m, n, k, a, lda, b,
                              ldb, add, to, ldc);
  }

  // Writes `in` with the dropout mask of `layer` applied to out.
  absl::Status Mask(int layer, const T* in, T* out) const {
    const int64_t n = dims_.rows() * dims_.output_row();
    const auto* mask = reinterpret_cast<const uint8_t*>(reserve_ + reserve_layout_.mask(layer));
    return LaunchElements(c_, n, ApplyMask<T>, n, in, mask, static_cast<T>(DropoutScale(param_.p)),
                          out);
  }

  // Sets input_ to the layer's input. Applies the stored dropout mask again.
  absl::Status MakeInput(int layer) {
    if (layer == 0) {
      input_ = c_.inputs[in_.forward.data].as<T>();
      return absl::OkStatus();
    }
    input_ = OutputOf(layer - 1);
    if (!drop_ || !(Wants(kI2hWeight) || Wants(kH2hWeight))) return absl::OkStatus();
    COOPER_RETURN_IF_ERROR(Mask(layer - 1, input_, scratch_.dropped));
    input_ = scratch_.dropped;
    return absl::OkStatus();
  }

  // Copies the gradient of the final state, or zeros, to `to`.
  absl::Status StartFrom(int grad_input, int layer, int d, T* to) const {
    const size_t bytes = state_size() * sizeof(T);
    if (bytes == 0) return absl::OkStatus();
    if (grad_input < 0) {
      return CudaStatus(cudaMemsetAsync(to, 0, bytes, StreamOf(c_)), "zeroing gradients of states");
    }
    return CudaStatus(cudaMemcpyAsync(to, State(grad_input, layer, d), bytes,
                                      cudaMemcpyDeviceToDevice, StreamOf(c_)),
                      "copying gradients of states");
  }

  // Runs all steps backward.
  absl::Status RunDirection(int layer, int d, const T* dy) const {
    const int64_t hidden = dims_.hidden;
    const int64_t output_step = dims_.batch * dims_.output_row();
    const T* output = OutputOf(layer) + d * hidden;
    const T* weight = WeightsOf(layer, d).h2h_weight;
    const T* cells = has_cell_ ? reserve_ + reserve_layout_.cells(layer, d) : nullptr;
    GradientStep<T> step = {.t = 0,
                            .batch = dims_.batch,
                            .hidden = hidden,
                            .output_row = dims_.output_row(),
                            .lengths = scratch_.lengths,
                            .first_state = State(in_.forward.state, layer, d),
                            .dh = scratch_.dh,
                            .dc = scratch_.dc};
    COOPER_RETURN_IF_ERROR(StartFrom(in_.state_grad, layer, d, scratch_.dh));
    if (has_cell_) {
      COOPER_RETURN_IF_ERROR(StartFrom(in_.state_cell_grad, layer, d, scratch_.dc));
      step.first_cell = State(in_.forward.state_cell, layer, d);
    }
    LaterGradients<T> later = {.ds = nullptr,
                               .transposed = scratch_.transposed,
                               .slot_row = dims_.slot_row(),
                               .depth = dims_.recurrent * hidden};
    const bool fuses = scratch_.transposed != nullptr;
    if (fuses) {
      StridedLoop transposition;
      transposition.Add(hidden, 1, later.depth);
      transposition.Add(later.depth, hidden, 1);
      COOPER_RETURN_IF_ERROR(CudaMover::Copy(c_, transposition, DTypeOf<T>(), WriteReq::kWrite,
                                             weight, scratch_.transposed));
    }
    for (int64_t s = dims_.num_steps - 1; s >= 0; --s) {
      step.t = dims_.StepAt(d, s);
      step.is_first = s == 0;
      step.t_prev = s == 0 ? step.t : dims_.StepAt(d, s - 1);
      step.slots = SlotsOf(layer, d) + step.t * dims_.batch * dims_.slot_row();
      step.h = output + step.t * output_step;
      step.h_prev = output + step.t_prev * output_step;
      step.dy = dy + step.t * output_step + d * hidden;
      if (has_cell_) {
        step.c = cells + step.t * state_size();
        step.c_prev = cells + step.t_prev * state_size();
      }
      if (later.ds != nullptr) {
        COOPER_RETURN_IF_ERROR(LaunchGradientStep(c_, param_.mode, later, step, clip_));
      } else {
        COOPER_RETURN_IF_ERROR(LaunchCellGradients(c_, param_.mode, step, clip_));
      }
      if (fuses) later.ds = step.slots;
      // The next step's kernel computes the product, or no output needs it.
      if (s > 0 ? fuses : c_.reqs[out_.state] == WriteReq::kNull) continue;
      COOPER_RETURN_IF_ERROR(Gemm(false, dims_.batch, hidden, later.depth, step.slots,
                                  dims_.slot_row(), weight, hidden, /*add=*/true, scratch_.dh,
                                  hidden));
    }
    COOPER_RETURN_IF_ERROR(StoreStateGradient(out_.state, scratch_.dh, layer, d));
    if (!has_cell_) return absl::OkStatus();
    return StoreStateGradient(out_.state_cell, scratch_.dc, layer, d);
  }

  absl::Status StoreStateGradient(int output, const T* gradient, int layer, int d) const {
    if (c_.reqs[output] == WriteReq::kNull) return absl::OkStatus();
    return StoreRows(c_, c_.reqs[output], gradient, dims_.hidden, dims_.batch, dims_.hidden,
                     c_.outputs[output].as<T>() + StateAt(layer, d));
  }

  absl::Status WeightGradients(int layer, int d) const {
    const int64_t hidden = dims_.hidden;
    const RNNWeights<T> grads = RNNWeightsOf<T>(
        form_, param_, dims_.input, c_.outputs.subspan(out_.weights, out_.num_weights), layer, d);
    const T* ds = SlotsOf(layer, d);
    if (Wants(kI2hWeight)) {
      const int64_t input_size = grads.input_size;
      for (const InputProduct& product : InputProducts(param_.mode)) {
        COOPER_RETURN_IF_ERROR(Gemm(true, product.num_gates * hidden, input_size, dims_.rows(),
                                    ds + product.first_slot * hidden, dims_.slot_row(), input_,
                                    input_size, Adds(kI2hWeight),
                                    grads.i2h_weight + product.first_gate * hidden * input_size,
                                    input_size));
      }
    }
    if (Wants(kH2hWeight)) {
      COOPER_RETURN_IF_ERROR(RecurrentWeightGradient(layer, d, Adds(kH2hWeight), grads.h2h_weight));
    }
    if (!Wants(kI2hBias) && !Wants(kH2hBias)) return absl::OkStatus();
    return LaunchSets(c_, PlanChannels(dims_.rows(), dims_.slot_row(), 1), SumBiases<T>, ds,
                      BiasGradients<T>{.i2h = Wants(kI2hBias) ? grads.i2h_bias : nullptr,
                                       .h2h = Wants(kH2hBias) ? grads.h2h_bias : nullptr,
                                       .add_i2h = Adds(kI2hBias),
                                       .add_h2h = Adds(kH2hBias),
                                       .hidden = hidden,
                                       .is_gru = param_.mode == RNNMode::kGru});
  }

  // Computes the sum over all steps of ds^T h_prev. h_prev is the layer's output shifted by one
  // step; the first step has the initial state instead.
  absl::Status RecurrentWeightGradient(int layer, int d, bool add, T* grad) const {
    const int64_t hidden = dims_.hidden;
    const int64_t n = dims_.recurrent * hidden;
    const int64_t slot_step = dims_.batch * dims_.slot_row();
    const T* ds = SlotsOf(layer, d);
    const T* state = State(in_.forward.state, layer, d);
    const T* output = OutputOf(layer) + d * hidden;
    if (scratch_.lengths != nullptr && d == 1) {
      COOPER_RETURN_IF_ERROR(LaunchRows(c_, dims_.rows(), hidden, GatherPrevious<T>,
                                        scratch_.lengths, dims_.num_steps, dims_.batch, hidden,
                                        output, dims_.output_row(), state, scratch_.h_prev));
      return Gemm(true, n, hidden, dims_.rows(), ds, dims_.slot_row(), scratch_.h_prev, hidden, add,
                  grad, hidden);
    }
    // Without steps or sequences, a product without terms writes zeros.
    const int64_t first = dims_.num_steps == 0 ? 0 : dims_.StepAt(d, 0);
    const int64_t first_rows = dims_.num_steps == 0 ? 0 : dims_.batch;
    COOPER_RETURN_IF_ERROR(Gemm(true, n, hidden, first_rows, ds + first * slot_step,
                                dims_.slot_row(), state, hidden, add, grad, hidden));
    if (dims_.num_steps <= 1) return absl::OkStatus();
    const T* later_ds = d == 0 ? ds + slot_step : ds;
    const T* earlier = d == 0 ? output : output + dims_.batch * dims_.output_row();
    return Gemm(true, n, hidden, dims_.rows() - dims_.batch, later_ds, dims_.slot_row(), earlier,
                dims_.output_row(), /*add=*/true, grad, hidden);
  }

  // Writes or adds to `grad` the gradient of the layer's input from one direction: ds * i2h_weight.
  absl::Status InputGradient(int layer, int d, bool add, T* grad) const {
    const int64_t hidden = dims_.hidden;
    const RNNWeights<T> weights = WeightsOf(layer, d);
    for (const InputProduct& product : InputProducts(param_.mode)) {
      COOPER_RETURN_IF_ERROR(
          Gemm(false, dims_.rows(), weights.input_size, product.num_gates * hidden,
               SlotsOf(layer, d) + product.first_slot * hidden, dims_.slot_row(),
               weights.i2h_weight + product.first_gate * hidden * weights.input_size,
               weights.input_size, add, grad, weights.input_size));
      add = true;
    }
    return absl::OkStatus();
  }

  const RNNForm form_;
  const KernelContext& c_;
  const RNNParam& param_;
  const RNNBackwardInputs in_;
  const RNNInputs out_;  // gradients have the order of the forward node's inputs
  const RNNDims dims_;
  const RNNReserve reserve_layout_;
  const GradientScratch<T> scratch_;
  const CellClip<T> clip_;
  const bool has_cell_;
  const bool drop_;
  T* const reserve_;
  const T* input_ = nullptr;  // of the current layer
};

template <RNNForm kForm>
absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const auto& param = c.param<RNNParam>();
  const ArrayView& data = c.inputs[RNNBackwardInputs(kForm, param).forward.data];
  const RNNDims dims(param, data.shape);
  return PrepareRNNGpu(c, data.dtype == DType::kFloat64
                              ? GradientScratch<double>(param, dims, nullptr).bytes
                              : GradientScratch<float>(param, dims, nullptr).bytes);
}

template <RNNForm kForm>
absl::Status RNNBackwardGpu(const KernelContext& c) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  const auto& param = c.param<RNNParam>();
  const ArrayView& data = c.inputs[RNNBackwardInputs(kForm, param).forward.data];
  if (data.dtype == DType::kFloat64) return Backward<double>(kForm, c).Run();
  return Backward<float>(kForm, c).Run();
}

COOPER_REGISTER_KERNEL(_backward_RNN, DeviceType::kGpu, kFloat32Or64,
                       RNNBackwardGpu<RNNForm::kPacked>, Prepare<RNNForm::kPacked>);
COOPER_REGISTER_KERNEL(_backward_rnn_layer, DeviceType::kGpu, kFloat32Or64,
                       RNNBackwardGpu<RNNForm::kLayer>, Prepare<RNNForm::kLayer>);

}  // namespace
}  // namespace cooper
