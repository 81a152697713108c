// Kernels of softmax, softmin, log_softmax, SoftmaxActivation and their gradients.
//
// The array is viewed as (outer, n, inner), where n is the axis that sums to 1. softmax_row.h
// computes it: on the arrays themselves if they are all float32 or all float64, else on tiles of a
// few lines that are converted to and from float or double. Temperatures, requests to add, and
// lengths along other axes than the last use tiles too.

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/row_parts.h"
#include "executor/kernels/softmax/softmax_row.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/softmax_param.h"

namespace cooper {
namespace {

// Which function of a line.
enum class Form { kSoftmax, kLogSoftmax };

template <typename C>
void Row(Form form, const C* in, int64_t n, C* out) {
  form == Form::kSoftmax ? SoftmaxRow(in, n, out) : LogSoftmaxRow(in, n, out);
}

template <typename C>
void Columns(Form form, const C* in, int64_t n, int64_t inner, int64_t begin, int64_t end, C* out) {
  form == Form::kSoftmax ? SoftmaxColumns(in, n, inner, begin, end, out)
                         : LogSoftmaxColumns(in, n, inner, begin, end, out);
}

template <typename C>
void GradientRow(Form form, const C* g, const C* out, int64_t n, C* grad) {
  form == Form::kSoftmax ? SoftmaxGradientRow(g, out, n, grad)
                         : LogSoftmaxGradientRow(g, out, n, grad);
}

template <typename C>
void GradientColumns(Form form, const C* g, const C* out, int64_t n, int64_t inner, int64_t begin,
                     int64_t end, C* grad) {
  form == Form::kSoftmax ? SoftmaxGradientColumns(g, out, n, inner, begin, end, grad)
                         : LogSoftmaxGradientColumns(g, out, n, inner, begin, end, grad);
}

struct Extents {
  int64_t outer, n, inner;

  int64_t lines() const { return outer * inner; }
  int64_t grain() const { return RowGrain(n); }
};

Extents Around(const Shape& shape, int64_t axis) {
  const int rank = shape.rank();
  if (axis < 0) axis += rank;
  const int at = static_cast<int>(axis);
  return {shape.Product(0, at), shape[at], shape.Product(at + 1, rank)};
}

// The length of each line; n without lengths. As in MXNet, lengths are int32 or int64.
struct Lengths {
  const ArrayView* view = nullptr;

  int64_t at(int64_t line, int64_t n) const {
    if (view == nullptr) return n;
    const int64_t length = DispatchDType(view->dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      return ConvertElement<int64_t>(view->as<T>()[line]);
    });
    return std::clamp<int64_t>(length, 0, n);
  }
};

// One call of a softmax or of its gradient.
struct SoftmaxCall {
  Form form;
  Extents extents;
  Lengths lengths;
  double temperature = 1;  // softmin has -1

  // Whether the lines can be computed on arrays of these dtypes themselves.
  bool IsDirect(DType in, DType out, WriteReq req) const {
    return in == out && (in == DType::kFloat32 || in == DType::kFloat64) && temperature == 1 &&
           req != WriteReq::kAdd && (extents.inner == 1 || lengths.view == nullptr);
  }
};

// Adjacent columns of one of the outer arrays.
struct Tile {
  int64_t line;    // the first column's
  int64_t offset;  // of the first column's first element, in elements of the whole array
  int64_t columns;
};

// Calls fn(tile) for tiles that cover the lines [begin, end), of at most `columns` each.
template <typename Fn>
void ForEachTile(const Extents& e, int64_t begin, int64_t end, int64_t columns, const Fn& fn) {
  ForEachRowPart(begin, end, e.inner, [&](int64_t outer, int64_t first, int64_t last) {
    for (; first < last; first += columns) {
      fn(Tile{outer * e.inner + first, outer * e.inner * e.n + first,
              std::min(columns, last - first)});
    }
  });
}

// Returns the most columns of a tile in a buffer: few enough for the second-level cache.
int64_t ColumnsOfBuffer(const Extents& e) {
  constexpr int64_t kElements = 16384;
  return std::clamp<int64_t>(kElements / e.n, 1, e.inner);
}

// Calls fn(address in the array, address in the buffer, elements) for the runs of elements of a
// tile that are adjacent in both; a buffer (n, columns) holds the tile.
template <typename C, typename Fn>
void ForEachRun(const ArrayView& array, const Extents& e, const Tile& tile, C* buffer,
                const Fn& fn) {
  if (tile.columns == e.inner) {
    return fn(ElementAt(array.data, array.dtype, tile.offset), buffer, e.n * e.inner);
  }
  for (int64_t k = 0; k < e.n; ++k) {
    fn(ElementAt(array.data, array.dtype, tile.offset + k * e.inner), buffer + k * tile.columns,
       tile.columns);
  }
}

template <typename C>
void LoadTile(const ArrayView& array, const Extents& e, const Tile& tile, C* buffer) {
  ForEachRun(array, e, tile, buffer, [&](const void* from, C* to, int64_t count) {
    LoadBlock(from, array.dtype, count, to);
  });
}

template <typename C>
void StoreTile(const C* buffer, const Extents& e, const Tile& tile, WriteReq req,
               const ArrayView& array) {
  ForEachRun(array, e, tile, buffer, [&](void* to, const C* from, int64_t count) {
    StoreBlock(from, count, req, to, array.dtype);
  });
}

// Divides the elements of a tile by the temperature.
template <typename C>
void Divide(C* buffer, int64_t size, double temperature) {
  if (temperature == 1) return;
  const C divisor = static_cast<C>(temperature);
  for (int64_t i = 0; i < size; ++i) buffer[i] /= divisor;
}

// Sets the elements of each column of a tile from its length on.
template <typename C>
void SetBeyondLengths(const SoftmaxCall& s, const Tile& tile, C value, C* buffer) {
  if (s.lengths.view == nullptr) return;
  const int64_t n = s.extents.n;
  for (int64_t j = 0; j < tile.columns; ++j) {
    for (int64_t k = s.lengths.at(tile.line + j, n); k < n; ++k) {
      buffer[k * tile.columns + j] = value;
    }
  }
}

// Computes the lines of `out` on the arrays themselves, on several threads:
//
//   row(at, length)         the line that begins at element `at`; the rest becomes 0
//   columns(at, begin, end) columns of the array (n, inner) that begins there
template <typename C, typename RowFn, typename ColumnsFn>
void ComputeDirectly(const SoftmaxCall& s, C* out, const RowFn& row, const ColumnsFn& columns) {
  const Extents& e = s.extents;
  ParallelForPlain(e.lines(), e.grain(), [&](int64_t begin, int64_t end) {
    ForEachRowPart(begin, end, e.inner, [&](int64_t outer, int64_t first, int64_t last) {
      const int64_t at = outer * e.inner * e.n;
      if (e.inner > 1) return columns(at, first, last);
      const int64_t length = s.lengths.at(outer, e.n);
      row(at, length);
      std::fill(out + at + length, out + at + e.n, C{});
    });
  });
}

template <typename C>
void ForwardDirectly(const SoftmaxCall& s, const C* in, C* out) {
  const Extents& e = s.extents;
  ComputeDirectly(
      s, out, [&](int64_t at, int64_t length) { Row(s.form, in + at, length, out + at); },
      [&](int64_t at, int64_t begin, int64_t end) {
        Columns(s.form, in + at, e.n, e.inner, begin, end, out + at);
      });
}

template <typename C>
void ForwardByTiles(const SoftmaxCall& s, const ArrayView& in, const ArrayView& out, WriteReq req) {
  const Extents& e = s.extents;
  const int64_t columns = ColumnsOfBuffer(e);
  ParallelForPlain(e.lines(), e.grain(), [&](int64_t begin, int64_t end) {
    std::vector<C> buffer(columns * e.n);
    C* const x = buffer.data();
    ForEachTile(e, begin, end, columns, [&](const Tile& tile) {
      LoadTile(in, e, tile, x);
      Divide(x, tile.columns * e.n, s.temperature);
      if (e.inner == 1) {
        Row(s.form, x, s.lengths.at(tile.line, e.n), x);
      } else {
        SetBeyondLengths(s, tile, -std::numeric_limits<C>::infinity(), x);
        Columns(s.form, x, e.n, tile.columns, 0, tile.columns, x);
      }
      SetBeyondLengths(s, tile, C{}, x);
      StoreTile(x, e, tile, req, out);
    });
  });
}

void Forward(const SoftmaxCall& s, const ArrayView& in, const ArrayView& out, WriteReq req) {
  const bool is_double = in.dtype == DType::kFloat64 || out.dtype == DType::kFloat64;
  if (s.IsDirect(in.dtype, out.dtype, req)) {
    is_double ? ForwardDirectly(s, in.as<double>(), out.as<double>())
              : ForwardDirectly(s, in.as<float>(), out.as<float>());
  } else {
    is_double ? ForwardByTiles<double>(s, in, out, req) : ForwardByTiles<float>(s, in, out, req);
  }
}

template <typename C>
void BackwardDirectly(const SoftmaxCall& s, const C* ograd, const C* output, C* grad) {
  const Extents& e = s.extents;
  ComputeDirectly(
      s, grad,
      [&](int64_t at, int64_t length) {
        GradientRow(s.form, ograd + at, output + at, length, grad + at);
      },
      [&](int64_t at, int64_t begin, int64_t end) {
        GradientColumns(s.form, ograd + at, output + at, e.n, e.inner, begin, end, grad + at);
      });
}

template <typename C>
void BackwardByTiles(const SoftmaxCall& s, const ArrayView& ograd, const ArrayView& output,
                     const ArrayView& grad, WriteReq req) {
  const Extents& e = s.extents;
  const int64_t columns = ColumnsOfBuffer(e);
  ParallelForPlain(e.lines(), e.grain(), [&](int64_t begin, int64_t end) {
    std::vector<C> buffers(2 * columns * e.n);
    C *const g = buffers.data(), *const y = g + columns * e.n;
    ForEachTile(e, begin, end, columns, [&](const Tile& tile) {
      LoadTile(ograd, e, tile, g);
      LoadTile(output, e, tile, y);
      if (e.inner == 1) {
        GradientRow(s.form, g, y, s.lengths.at(tile.line, e.n), g);
      } else {
        SetBeyondLengths(s, tile, C{}, g);
        SetBeyondLengths(s, tile, C{}, y);
        GradientColumns(s.form, g, y, e.n, tile.columns, 0, tile.columns, g);
      }
      Divide(g, tile.columns * e.n, s.temperature);
      SetBeyondLengths(s, tile, C{}, g);
      StoreTile(g, e, tile, req, grad);
    });
  });
}

void Backward(const SoftmaxCall& s, const ArrayView& ograd, const ArrayView& output,
              const ArrayView& grad, WriteReq req) {
  const bool is_double = ograd.dtype == DType::kFloat64 || grad.dtype == DType::kFloat64;
  if (s.IsDirect(ograd.dtype, grad.dtype, req)) {
    is_double ? BackwardDirectly(s, ograd.as<double>(), output.as<double>(), grad.as<double>())
              : BackwardDirectly(s, ograd.as<float>(), output.as<float>(), grad.as<float>());
  } else {
    is_double ? BackwardByTiles<double>(s, ograd, output, grad, req)
              : BackwardByTiles<float>(s, ograd, output, grad, req);
  }
}

template <Form form, int sign = 1>
absl::Status SoftmaxCpu(const KernelContext& c) {
  using enum SoftmaxArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<SoftmaxParam>();
  Forward({.form = form,
           .extents = Around(c.inputs[kData].shape, param.axis),
           .lengths = {param.has_length() ? &c.inputs[kLength] : nullptr},
           .temperature = sign * param.temperature.value_or(1.0)},
          c.inputs[kData], c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

template <Form form, int sign = 1>
absl::Status SoftmaxBackwardCpu(const KernelContext& c) {
  using enum SoftmaxGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<SoftmaxParam>();
  Backward({.form = form,
            .extents = Around(c.outputs[0].shape, param.axis),
            .lengths = {param.has_length() ? &c.inputs[kLength] : nullptr},
            .temperature = sign * param.temperature.value_or(1.0)},
           c.inputs[kOgrad], c.inputs[kOutput], c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

int64_t ActivationAxis(const KernelContext& c) {
  return c.param<SoftmaxActivationParam>().mode == SoftmaxActivationParam::kChannel ? 1 : -1;
}

absl::Status SoftmaxActivationCpu(const KernelContext& c) {
  using enum SoftmaxArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const ArrayView& data = c.inputs[kData];
  Forward({.form = Form::kSoftmax, .extents = Around(data.shape, ActivationAxis(c))}, data,
          c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

// In MXNet 1.9.1 mode instance has the gradient of mode channel, which is not its true gradient for
// more than two axes.
int64_t ActivationGradientAxis(const Shape& shape) { return shape.rank() < 2 ? -1 : 1; }

absl::Status SoftmaxActivationBackwardCpu(const KernelContext& c) {
  using enum SoftmaxGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const Shape& shape = c.outputs[0].shape;
  Backward({.form = Form::kSoftmax, .extents = Around(shape, ActivationGradientAxis(shape))},
           c.inputs[kOgrad], c.inputs[kOutput], c.outputs[0], c.reqs[0]);
  return absl::OkStatus();
}

constexpr DeviceType kCpu = DeviceType::kCpu;
COOPER_REGISTER_KERNEL(softmax, kCpu, kFloats, SoftmaxCpu<Form::kSoftmax>);
COOPER_REGISTER_KERNEL(softmin, kCpu, kFloats, SoftmaxCpu<Form::kSoftmax, -1>);
COOPER_REGISTER_KERNEL(log_softmax, kCpu, kFloats, SoftmaxCpu<Form::kLogSoftmax>);
COOPER_REGISTER_KERNEL(_backward_softmax, kCpu, kFloats, SoftmaxBackwardCpu<Form::kSoftmax>);
COOPER_REGISTER_KERNEL(_backward_softmin, kCpu, kFloats, SoftmaxBackwardCpu<Form::kSoftmax, -1>);
COOPER_REGISTER_KERNEL(_backward_log_softmax, kCpu, kFloats, SoftmaxBackwardCpu<Form::kLogSoftmax>);
COOPER_REGISTER_KERNEL(SoftmaxActivation, kCpu, kFloats, SoftmaxActivationCpu);
COOPER_REGISTER_KERNEL(_backward_SoftmaxActivation, kCpu, kFloats, SoftmaxActivationBackwardCpu);

}  // namespace
}  // namespace cooper
