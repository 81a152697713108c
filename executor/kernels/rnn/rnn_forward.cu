// The forward GPU kernels of RNN and _rnn_layer. For each layer and direction they compute one
// product of all steps' inputs with the i2h weight. Then each step adds the product with the h2h
// weight in place and runs the cell, in one kernel for small batches, else in two. The reserve has
// the CPU kernel's layout, except with lengths: the CPU leaves padding out, but the GPU keeps room
// for steps beyond a length, because only the device knows the lengths.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/launch/device_random.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/launch_rows.h"
#include "executor/kernels/random/dropout_bits.h"
#include "executor/kernels/rnn/rnn_arguments.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "executor/kernels/rnn/rnn_cells_cuda.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_rows_cuda.h"
#include "executor/kernels/rnn/rnn_state.h"
#include "executor/kernels/rnn/rnn_step.h"
#include "executor/kernels/rnn/rnn_step_product.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

enum Output { kOutput, kStateOutput, kStateCellOutput };

// Zeroes the rows of data (num_steps * batch, columns) that are beyond their sequence's length.
template <typename T>
__global__ void ZeroPastLengths(const int64_t* lengths, int64_t num_steps, int64_t batch,
                                int64_t columns, T* data) {
  ForEachInRows(num_steps * batch, columns, [&](int64_t row, int64_t column) {
    if (row / batch >= lengths[row % batch]) data[row * columns + column] = T{0};
  });
}

// Writes `in` with dropout to out. Draws four elements from each position of the stream, from
// `position` on. `mask` may be null.
template <typename T>
__global__ void Drop(int64_t n, const T* in, DeviceRandom source, uint64_t position,
                     uint32_t threshold, T scale, uint8_t* mask, T* out) {
  const Philox random = source.Get();
  for (int64_t block = FirstElement(); block * 4 < n; block += ElementStep()) {
    const auto bits = random.At(position + block);
    for (int64_t k = 0; k < 4 && block * 4 + k < n; ++k) {
      const int64_t i = block * 4 + k;
      const bool keeps = KeepsElement(bits[k], threshold);
      if (mask != nullptr) mask[i] = keeps;
      out[i] = keeps ? in[i] * scale : T{0};
    }
  }
}

// Decisions made when the node is bound.
struct Plan {
  Plan(const RNNParam& param, const Shape& data, absl::Span<const WriteReq> reqs, bool is_train)
      : dims(param, data),
        reserve(param, data[0], data[1]),
        keep(reqs.back() != WriteReq::kNull),
        drop(is_train && param.p > 0 && param.num_layers > 1),
        has_cell(RNNHasCell(param)),
        own_output(reqs[kOutput] != WriteReq::kWrite),
        has_lengths(param.use_sequence_length) {}

  RNNDims dims;
  RNNReserve reserve;
  bool keep;  // whether the reserve is requested
  bool drop;  // whether dropout is applied
  bool has_cell;
  bool own_output;  // whether the last layer's output is computed in the workspace
  bool has_lengths;
};

// The workspace's arrays. Without `keep` they replace the reserve.
template <typename T>
struct Scratch {
  Scratch(const Plan& plan, void* base) {
    const RNNDims& dims = plan.dims;
    ScratchCursor cursor(base);
    const int64_t rows = dims.rows();
    if (!plan.keep) {
      slots = cursor.Take<T>(rows * dims.slot_row());
      if (plan.has_cell) cells = cursor.Take<T>(dims.batch * dims.hidden);
      if (dims.layers > 1) between = cursor.Take<T>(rows * dims.output_row());
    }
    if (plan.own_output) output = cursor.Take<T>(rows * dims.output_row());
    if (plan.drop) dropped = cursor.Take<T>(rows * dims.output_row());
    if (plan.has_lengths) lengths = cursor.Take<int64_t>(dims.batch);
    bytes = cursor.bytes();
  }

  T* slots = nullptr;  // of the current direction
  T* cells = nullptr;
  T* between = nullptr;  // output of every second layer; the others use the last layer's
  T* output = nullptr;
  T* dropped = nullptr;
  int64_t* lengths = nullptr;
  int64_t bytes = 0;
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
  }

  absl::Status Run() {
    if (plan_.has_lengths) {
      const ArrayView& lengths = c_.inputs[in_.lengths];
      COOPER_RETURN_IF_ERROR(LaunchElements(c_, dims_.batch, LoadLengths, lengths.data,
                                            lengths.dtype, dims_.batch, dims_.num_steps,
                                            scratch_.lengths));
    }
    const T* input = c_.inputs[in_.data].as<T>();
    for (int layer = 0; layer < dims_.layers; ++layer) {
      T* output = OutputOf(layer);
      for (int d = 0; d < dims_.directions; ++d) {
        COOPER_RETURN_IF_ERROR(RunDirection(layer, d, input, output));
      }
      if (plan_.has_lengths) {
        COOPER_RETURN_IF_ERROR(LaunchRows(c_, dims_.rows(), dims_.output_row(), ZeroPastLengths<T>,
                                          scratch_.lengths, dims_.num_steps, dims_.batch,
                                          dims_.output_row(), output));
      }
      input = output;
      if (plan_.drop && layer + 1 < dims_.layers) {
        COOPER_RETURN_IF_ERROR(DropFrom(layer, output));
        input = scratch_.dropped;
      }
    }
    if (!plan_.own_output) return absl::OkStatus();
    return StoreRows(c_, c_.reqs[kOutput], input, dims_.output_row(), dims_.rows(),
                     dims_.output_row(), c_.outputs[kOutput].as<T>());
  }

 private:
  // Returns where a layer writes its output.
  T* OutputOf(int layer) const {
    if (layer == dims_.layers - 1) return last_output_;
    if (plan_.keep) return reserve_ + plan_.reserve.output(layer);
    return (dims_.layers - 1 - layer) % 2 == 0 ? last_output_ : scratch_.between;
  }

  absl::Status RunDirection(int layer, int d, const T* input, T* output) {
    const int64_t hidden = dims_.hidden;
    const int64_t state_size = dims_.batch * hidden;
    const auto weights = RNNWeightsOf<T>(form_, param_, dims_.input,
                                         c_.inputs.subspan(in_.weights, in_.num_weights), layer, d);
    T* slots = plan_.keep ? reserve_ + plan_.reserve.slots(layer, d) : scratch_.slots;
    COOPER_RETURN_IF_ERROR(InputProductsInto(weights, input, slots));

    const int64_t state_at = (layer * dims_.directions + d) * state_size;
    CellStep<T> step = {.t = 0,
                        .batch = dims_.batch,
                        .hidden = hidden,
                        .lengths = scratch_.lengths,
                        .i2h_bias = weights.i2h_bias,
                        .h2h_bias = weights.h2h_bias,
                        .h_prev = c_.inputs[in_.state].as<T>() + state_at,
                        .h_prev_stride = hidden,
                        .h_stride = dims_.output_row()};
    T* cells = nullptr;
    if (plan_.has_cell) {
      cells = plan_.keep ? reserve_ + plan_.reserve.cells(layer, d) : scratch_.cells;
      step.c_prev = c_.inputs[in_.state_cell].as<T>() + state_at;
    }
    const bool fuses = FusesSteps(dims_);
    for (int64_t s = 0; s < dims_.num_steps; ++s) {
      step.t = dims_.StepAt(d, s);
      step.slots = slots + step.t * dims_.batch * dims_.slot_row();
      step.h = output + step.t * dims_.batch * dims_.output_row() + d * hidden;
      if (plan_.has_cell) step.c = plan_.keep ? cells + step.t * state_size : cells;
      if (fuses) {
        COOPER_RETURN_IF_ERROR(LaunchStep(c_, param_.mode, weights.h2h_weight, step, clip_));
      } else {
        COOPER_RETURN_IF_ERROR(RNNCublas(c_).Gemm(
            StreamOf(c_), DTypeOf<T>(), false, true, dims_.batch, dims_.recurrent * hidden, hidden,
            step.h_prev, step.h_prev_stride, weights.h2h_weight, hidden, /*add=*/true, step.slots,
            dims_.slot_row()));
        COOPER_RETURN_IF_ERROR(LaunchCell(c_, param_.mode, step, clip_));
      }
      step.h_prev = step.h;
      step.h_prev_stride = step.h_stride;
      step.c_prev = step.c;
    }
    if (!param_.state_outputs) return absl::OkStatus();
    COOPER_RETURN_IF_ERROR(StoreState(kStateOutput, step.h_prev, step.h_prev_stride, state_at));
    if (!plan_.has_cell) return absl::OkStatus();
    return StoreState(kStateCellOutput, step.c_prev, hidden, state_at);
  }

  // Writes the products of all steps' inputs to slots. gru's slot nh has no input product and is
  // zeroed.
  absl::Status InputProductsInto(const RNNWeights<T>& weights, const T* input, T* slots) {
    const int64_t hidden = dims_.hidden;
    for (const InputProduct& product : InputProducts(param_.mode)) {
      COOPER_RETURN_IF_ERROR(RNNCublas(c_).Gemm(
          StreamOf(c_), DTypeOf<T>(), false, true, dims_.rows(), product.num_gates * hidden,
          weights.input_size, input, weights.input_size,
          weights.i2h_weight + product.first_gate * hidden * weights.input_size, weights.input_size,
          /*add=*/false, slots + product.first_slot * hidden, dims_.slot_row()));
    }
    if (param_.mode != RNNMode::kGru || dims_.rows() == 0) return absl::OkStatus();
    return CudaStatus(cudaMemset2DAsync(slots + 2 * hidden, dims_.slot_row() * sizeof(T), 0,
                                        hidden * sizeof(T), dims_.rows(), StreamOf(c_)),
                      "zeroing gru's slots");
  }

  absl::Status StoreState(int output, const T* state, int64_t stride, int64_t at) const {
    if (c_.reqs[output] == WriteReq::kNull) return absl::OkStatus();
    return StoreRows(c_, c_.reqs[output], state, stride, dims_.batch, dims_.hidden,
                     c_.outputs[output].as<T>() + at);
  }

  // Writes the input of the next layer, with dropout, to the workspace.
  absl::Status DropFrom(int layer, const T* output) const {
    const int64_t n = dims_.rows() * dims_.output_row();
    uint8_t* mask =
        plan_.keep ? reinterpret_cast<uint8_t*>(reserve_ + plan_.reserve.mask(layer)) : nullptr;
    return LaunchElements(c_, (n + 3) / 4, Drop<T>, n, output, DeviceRandomOf(c_),
                          layer * ((n + 3) / 4), DropoutThreshold(param_.p),
                          static_cast<T>(DropoutScale(param_.p)), mask, scratch_.dropped);
  }

  const RNNForm form_;
  const KernelContext& c_;
  const RNNParam& param_;
  const RNNInputs in_;
  const Plan plan_;
  const RNNDims& dims_;
  const Scratch<T> scratch_;
  const CellClip<T> clip_;
  T* last_output_ = nullptr;
  T* reserve_ = nullptr;
};

// Prepares RNN and _rnn_layer, whose first input is the data: returns the state and the workspace.
absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const Plan plan(c.param<RNNParam>(), c.inputs[0].shape, c.reqs, /*is_train=*/true);
  return PrepareRNNGpu(c, c.inputs[0].dtype == DType::kFloat64
                              ? Scratch<double>(plan, nullptr).bytes
                              : Scratch<float>(plan, nullptr).bytes);
}

template <RNNForm kForm>
absl::Status RNNGpu(const KernelContext& c) {
  const bool nothing_asked = std::all_of(c.reqs.begin(), c.reqs.end(),
                                         [](WriteReq req) { return req == WriteReq::kNull; });
  if (nothing_asked || c.inputs[0].shape[1] == 0) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  if (c.inputs[0].dtype == DType::kFloat64) return Forward<double>(kForm, c).Run();
  return Forward<float>(kForm, c).Run();
}

COOPER_REGISTER_KERNEL(RNN, DeviceType::kGpu, kFloat32Or64, RNNGpu<RNNForm::kPacked>, Prepare);
COOPER_REGISTER_KERNEL(_rnn_layer, DeviceType::kGpu, kFloat32Or64, RNNGpu<RNNForm::kLayer>,
                       Prepare);

}  // namespace
}  // namespace cooper
