// Kernels of _fc_softmax_output and its gradient. Rows are taken in blocks: what a product leaves
// in cache the softmax finds there, and what the gradient of a block's scores is, the products with
// it use up before the next block.

#include <algorithm>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/cpu/nn/dispatch_float.h"
#include "executor/cpu/nn/softmax_row.h"
#include "executor/cpu/scratch_cursor.h"
#include "executor/kernel.h"
#include "ndarray/gemm.h"
#include "ndarray/parallel.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"

namespace cooper {
namespace {

enum Input { kData, kWeight };
enum BackwardInput { kLabel, kOutput, kBackwardData, kBackwardWeight };
enum Gradient { kDataGradient, kWeightGradient, kBiasGradient };

// Bytes of a block's scores. The forward product is slower on few rows, since the weight is brought
// into another order for each block: by a sixth on 256 rows of 10,000 classes, by a twentieth on
// 384. Those of the backward pass lose nothing.
constexpr int64_t kForwardBlockBytes = 16 << 20;
constexpr int64_t kBackwardBlockBytes = 2 << 20;
// Blocks end at multiples of this, as the products' tiles do.
constexpr int64_t kTile = 48;

int64_t BlockRows(int64_t bytes, int64_t rows, int64_t row_bytes) {
  const int64_t fitting = bytes / std::max<int64_t>(row_bytes, 1) / kTile * kTile;
  return std::min(rows, std::max(fitting, kTile));
}

int64_t RowGrain(int64_t row) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(row, 1)); }

int64_t ForwardRows(const ArrayView& output) {
  return BlockRows(kForwardBlockBytes, output.shape[0], output.shape[1] * SizeOf(output.dtype));
}

// For kAdd a block is made apart.
int64_t ForwardWorkspace(const PrepareContext& c) {
  if (c.reqs[0] != WriteReq::kAdd) return 0;
  return ForwardRows(c.outputs[0]) * c.outputs[0].shape[1] * SizeOf(c.outputs[0].dtype);
}

template <typename T>
void Forward(const KernelContext& c) {
  const int64_t rows = c.outputs[0].shape[0], classes = c.outputs[0].shape[1];
  const int64_t features = c.inputs[kData].shape[1];
  const T* bias = c.inputs.size() == 4 ? c.inputs[2].as<T>() : nullptr;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const int64_t block = ForwardRows(c.outputs[0]);
  for (int64_t begin = 0; begin < rows; begin += block) {
    const int64_t count = std::min(block, rows - begin);
    T* out = c.outputs[0].as<T>() + begin * classes;
    T* scores = add ? static_cast<T*>(c.workspace) : out;
    if (bias != nullptr) {
      ParallelFor(count, RowGrain(classes), [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) std::copy_n(bias, classes, scores + i * classes);
      });
    }
    Gemm(false, true, count, classes, features, T(1), c.inputs[kData].as<T>() + begin * features,
         features, c.inputs[kWeight].as<T>(), features, bias != nullptr ? T(1) : T(0), scores,
         classes);
    ParallelFor(count, RowGrain(classes), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        T* row = scores + i * classes;
        SoftmaxRow(row, classes, row);
        if (!add) continue;
        for (int64_t j = 0; j < classes; ++j) out[i * classes + j] += row[j];
      }
    });
  }
}

// Scratch memory of the backward pass.
template <typename T>
struct Scratch {
  Scratch(int64_t rows, int64_t classes, int64_t features, bool skips, void* base) {
    block = BlockRows(kBackwardBlockBytes, rows, classes * static_cast<int64_t>(sizeof(T)));
    ScratchCursor cursor(base);
    grad = cursor.Take<T>(block * classes);
    if (skips) {
      active = cursor.Take<int64_t>(rows);
      data = cursor.Take<T>(block * features);
      data_grad = cursor.Take<T>(block * features);
    }
    bytes = cursor.bytes();
  }

  int64_t block = 0;
  T* grad = nullptr;  // of the scores of a block's rows
  // Where rows may be ignored: those that are not, and their data and its gradient, row after row.
  int64_t* active = nullptr;
  T* data = nullptr;
  T* data_grad = nullptr;
  int64_t bytes = 0;
};

// The gradients with respect to data, weight and bias, over the rows whose label counts.
template <typename T>
class Backward {
 public:
  explicit Backward(const KernelContext& c)
      : c_(c),
        param_(c.param<FcSoftmaxOutputParam>()),
        rows_(c.inputs[kOutput].shape[0]),
        classes_(c.inputs[kOutput].shape[1]),
        features_(c.inputs[kBackwardData].shape[1]),
        label_(c.inputs[kLabel].as<T>()),
        scratch_(rows_, classes_, features_, param_.use_ignore, c.workspace) {}

  void Run() {
    scale_ = Scale();
    int64_t count = rows_;
    if (param_.use_ignore) {
      count = 0;
      for (int64_t i = 0; i < rows_; ++i) {
        if (!Ignored(i)) scratch_.active[count++] = i;
      }
    }
    // Without ignored rows everything is where it is needed.
    gathers_ = count < rows_;
    if (gathers_ && c_.reqs[kDataGradient] == WriteReq::kWrite) {
      std::fill_n(c_.outputs[kDataGradient].as<T>(), rows_ * features_, T(0));
    }
    if (count == 0) ClearWhatIsWritten();
    for (int64_t begin = 0; begin < count; begin += scratch_.block) {
      Block(begin, std::min(scratch_.block, count - begin));
    }
  }

 private:
  // As MXNet, a label is compared as a whole number.
  bool Ignored(int64_t i) const {
    return static_cast<int64_t>(label_[i]) == static_cast<int64_t>(param_.ignore_label);
  }

  T Scale() const {
    double divisor = 1;
    if (param_.normalization == Normalization::kBatch) {
      divisor = static_cast<double>(rows_);
    } else if (param_.normalization == Normalization::kValid) {
      int64_t valid = 0;
      for (int64_t i = 0; i < rows_; ++i) valid += Ignored(i) ? 0 : 1;
      divisor = static_cast<double>(std::max<int64_t>(valid, 1));
    }
    return static_cast<T>(param_.grad_scale / divisor);
  }

  void ClearWhatIsWritten() const {
    for (size_t k = kWeightGradient; k < c_.outputs.size(); ++k) {
      if (c_.reqs[k] == WriteReq::kWrite) {
        std::fill_n(c_.outputs[k].template as<T>(), c_.outputs[k].size(), T(0));
      }
    }
  }

  int64_t RowAt(int64_t position) const { return gathers_ ? scratch_.active[position] : position; }

  // What a product has to do with a gradient that all blocks add to.
  T BetaOf(Gradient gradient, int64_t begin) const {
    return begin == 0 && c_.reqs[gradient] == WriteReq::kWrite ? T(0) : T(1);
  }

  // The `count` rows from the `begin`-th on that counts.
  void Block(int64_t begin, int64_t count) const {
    ScoreGradients(begin, count);
    if (c_.reqs[kDataGradient] != WriteReq::kNull) DataGradient(begin, count);
    if (c_.reqs[kWeightGradient] != WriteReq::kNull) {
      const T* data = c_.inputs[kBackwardData].as<T>() + begin * features_;
      if (gathers_) {
        data = scratch_.data;
        for (int64_t i = 0; i < count; ++i) {
          std::copy_n(c_.inputs[kBackwardData].as<T>() + RowAt(begin + i) * features_, features_,
                      scratch_.data + i * features_);
        }
      }
      Gemm(true, false, classes_, features_, count, T(1), scratch_.grad, classes_, data, features_,
           BetaOf(kWeightGradient, begin), c_.outputs[kWeightGradient].as<T>(), features_);
    }
    if (c_.outputs.size() > kBiasGradient && c_.reqs[kBiasGradient] != WriteReq::kNull) {
      BiasGradient(begin, count);
    }
  }

  // (probability - [j = label]) * scale
  void ScoreGradients(int64_t begin, int64_t count) const {
    const T* output = c_.inputs[kOutput].as<T>();
    ParallelFor(count, RowGrain(classes_), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const int64_t row = RowAt(begin + i);
        const T* in = output + row * classes_;
        T* grad = scratch_.grad + i * classes_;
        for (int64_t j = 0; j < classes_; ++j) grad[j] = in[j] * scale_;
        const auto label = static_cast<int64_t>(label_[row]);
        if (label >= 0 && label < classes_) grad[label] = (in[label] - T(1)) * scale_;
      }
    });
  }

  void DataGradient(int64_t begin, int64_t count) const {
    const WriteReq req = c_.reqs[kDataGradient];
    T* grad = c_.outputs[kDataGradient].as<T>();
    T* out = gathers_ ? scratch_.data_grad : grad + begin * features_;
    const T beta = !gathers_ && req == WriteReq::kAdd ? T(1) : T(0);
    Gemm(false, false, count, features_, classes_, T(1), scratch_.grad, classes_,
         c_.inputs[kBackwardWeight].as<T>(), features_, beta, out, features_);
    if (!gathers_) return;
    // Rows were zeroed where they are to be written.
    for (int64_t i = 0; i < count; ++i) {
      T* row = grad + RowAt(begin + i) * features_;
      for (int64_t j = 0; j < features_; ++j) row[j] += out[i * features_ + j];
    }
  }

  // Columns are split over threads, rows are summed in order: the same bits for any split.
  void BiasGradient(int64_t begin, int64_t count) const {
    T* grad = c_.outputs[kBiasGradient].as<T>();
    if (BetaOf(kBiasGradient, begin) == T(0)) std::fill_n(grad, classes_, T(0));
    ParallelFor(classes_, std::max<int64_t>(16, 16384 / std::max<int64_t>(count, 1)),
                [&](int64_t from, int64_t to) {
                  for (int64_t i = 0; i < count; ++i) {
                    const T* row = scratch_.grad + i * classes_;
                    for (int64_t j = from; j < to; ++j) grad[j] += row[j];
                  }
                });
  }

  const KernelContext& c_;
  const FcSoftmaxOutputParam& param_;
  const int64_t rows_, classes_, features_;
  const T* label_;
  const Scratch<T> scratch_;
  T scale_ = T(1);
  bool gathers_ = false;  // whether only some rows count
};

int64_t BackwardWorkspace(const PrepareContext& c) {
  const Shape& output = c.inputs[kOutput].shape;
  const int64_t features = c.inputs[kBackwardData].shape[1];
  const bool skips = c.param<FcSoftmaxOutputParam>().use_ignore;
  if (c.inputs[kOutput].dtype == DType::kFloat64) {
    return Scratch<double>(output[0], output[1], features, skips, nullptr).bytes;
  }
  return Scratch<float>(output[0], output[1], features, skips, nullptr).bytes;
}

absl::Status FcSoftmaxOutputCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  return DispatchFloat32Or64("_fc_softmax_output", c.outputs[0].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status FcSoftmaxOutputBackwardCpu(const KernelContext& c) {
  return DispatchFloat32Or64("_backward_fc_softmax_output", c.inputs[kOutput].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c).Run(); });
}

COOPER_REGISTER_KERNEL(_fc_softmax_output, DeviceType::kCpu, FcSoftmaxOutputCpu, ForwardWorkspace);
COOPER_REGISTER_KERNEL(_backward_fc_softmax_output, DeviceType::kCpu, FcSoftmaxOutputBackwardCpu,
                       BackwardWorkspace);

}  // namespace
}  // namespace cooper
