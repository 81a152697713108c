// Kernels of layers of 8-bit integers. Products are exact: sums of int32, which wrap around as
// MXNet's. They are oneDNN's where it has instructions for them (gemm_int8.h), else plain loops.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/im2col.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/products/gemm_int8.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {
namespace {

constexpr int kData = 0, kWeight = 1, kBias = 2;

// Returns the sum of the products of `count` pairs, modulo 2^32.
template <typename T>
uint32_t Dot(const T* a, const int8_t* b, int64_t count) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += static_cast<uint32_t>(int32_t{a[i]} * int32_t{b[i]});
  }
  return sum;
}

// Writes the range of a product: steps of data and weight have `data_steps` and `weight_steps`
// integers for the greatest number. `ranges` is the first input that is a range.
void PutProductRange(const KernelContext& c, int ranges, float data_steps, float weight_steps) {
  const float step =
      InputMagnitude(c, ranges) / data_steps * (InputMagnitude(c, ranges + 2) / weight_steps);
  const float magnitude = step * QuantizedSteps(DType::kInt32);
  PutRange(c, -magnitude, magnitude);
}

template <typename T>
void FullyConnected(const KernelContext& c) {
  const auto& param = c.param<FullyConnectedParam>();
  const int ranges = param.no_bias ? 2 : 3;
  const bool is_signed = c.inputs[kData].dtype == DType::kInt8;
  PutProductRange(c, ranges, 127, is_signed ? 127 : 255);
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return;
  const int64_t hidden = param.num_hidden, inputs = c.inputs[kWeight].shape[1];
  // A bias has a range of its own; it is rounded towards 0 to steps of the product.
  int32_t* terms = nullptr;
  if (!param.no_bias) {
    const float data = QuantizedSteps(c.inputs[kData].dtype) / InputMagnitude(c, ranges);
    const float weight = QuantizedSteps(DType::kInt8) / InputMagnitude(c, ranges + 2);
    const float scale =
        data * weight * InputMagnitude(c, ranges + 4) / QuantizedSteps(DType::kInt8);
    const int8_t* bias = c.inputs[kBias].as<int8_t>();
    terms = static_cast<int32_t*>(c.workspace);
    for (int64_t k = 0; k < hidden; ++k) {
      terms[k] = IntegerOf<int32_t>(static_cast<float>(bias[k]) * scale);
    }
  }
  const T* data = c.inputs[kData].as<T>();
  const int8_t* weight = c.inputs[kWeight].as<int8_t>();
  int32_t* out = c.outputs[0].as<int32_t>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  if (const Int8GemmFn gemm = GetInt8Gemm(); gemm != nullptr && inputs > 0) {
    gemm({.m = c.outputs[0].size() / hidden,
          .n = hidden,
          .k = inputs,
          .a = data,
          .a_unsigned = !is_signed,
          .lda = inputs,
          .b = weight,
          .transpose_b = true,
          .ldb = inputs,
          .column_terms = terms,
          .add = add,
          .c = out,
          .ldc = hidden});
    return;
  }
  ParallelFor(c.outputs[0].size(), RowGrain(inputs), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / hidden, k = i % hidden;
      uint32_t sum = Dot(data + row * inputs, weight + k * inputs, inputs);
      if (terms != nullptr) sum += static_cast<uint32_t>(terms[k]);
      PutInteger(out + i, static_cast<int32_t>(sum), add);
    }
  });
}

// Copies the windows of an image to rows (positions, channels * kernel); padding is 0.
template <typename T>
void CopyWindows(const WindowGeometry& g, const T* image, T* rows) {
  ParallelFor(g.columns(), RowGrain(g.rows()), [&](int64_t begin, int64_t end) {
    for (int64_t position = begin; position < end; ++position) {
      // The first element of the window, which may be in the padding.
      const int64_t z0 = position / (g.out[1] * g.out[2]) * g.stride[0] - g.pad[0];
      const int64_t y0 = position / g.out[2] % g.out[1] * g.stride[1] - g.pad[1];
      const int64_t x0 = position % g.out[2] * g.stride[2] - g.pad[2];
      T* to = rows + position * g.rows();
      for (int64_t row = 0; row < g.channels * g.kernel[0] * g.kernel[1]; ++row) {
        const int64_t channel = row / (g.kernel[0] * g.kernel[1]);
        const int64_t z = z0 + row / g.kernel[1] % g.kernel[0] * g.dilate[0];
        const int64_t y = y0 + row % g.kernel[1] * g.dilate[1];
        const bool inside = z >= 0 && z < g.in[0] && y >= 0 && y < g.in[1];
        const int64_t line = ((channel * g.in[0] + z) * g.in[1] + y) * g.in[2];
        for (int64_t k = 0; k < g.kernel[2]; ++k) {
          const int64_t x = x0 + k * g.dilate[2];
          *to++ = inside && x >= 0 && x < g.in[2] ? image[line + x] : T{0};
        }
      }
    }
  });
}

// Returns a T as an int8 that stands for it: uint8 less 128.
template <typename T>
int8_t Signed(T value) {
  return static_cast<int8_t>(std::is_signed_v<T> ? value : value - 128);
}

// Copies the windows of an image to columns (channels * kernel, positions). Padding becomes `zero`.
// A row of windows without strides that is as wide as the image is the shifted image, but for
// padding.
void CopyShifted(const WindowGeometry& g, const int8_t* image, int8_t zero, int8_t* columns) {
  const int64_t width = g.in[2], lines = g.out[1];
  ParallelForPlain(g.channels, ChannelGrain(g), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin * g.kernel_size(); row < end * g.kernel_size(); ++row) {
      const int64_t channel = row / g.kernel_size();
      const int64_t across = row % g.kernel[2] * g.dilate[2] - g.pad[2];
      const int64_t down = row / g.kernel[2] % g.kernel[1] * g.dilate[1] - g.pad[1];
      const int64_t in_depth = row / (g.kernel[1] * g.kernel[2]) % g.kernel[0] * g.dilate[0];
      // Lines [first, last) are inside the image, and so are elements [left, right) of each.
      const int64_t first = std::clamp<int64_t>(-down, 0, lines);
      const int64_t last = std::clamp(g.in[1] - down, first, lines);
      const int64_t left = std::clamp<int64_t>(-across, 0, width);
      const int64_t right = std::clamp(width - across, left, width);
      for (int64_t d = 0; d < g.out[0]; ++d) {
        int8_t* const to = columns + row * g.columns() + d * lines * width;
        const int64_t z = d * g.stride[0] + in_depth - g.pad[0];
        if (z < 0 || z >= g.in[0] || first == last || left == right) {
          std::fill_n(to, lines * width, zero);
          continue;
        }
        const int8_t* const from =
            image + ((channel * g.in[0] + z) * g.in[1] + first + down) * width + across;
        const int64_t size = (last - first) * width;
        std::fill_n(to, first * width, zero);
        std::copy(from + left, from + size - width + right, to + first * width + left);
        std::fill_n(to + last * width, (lines - last) * width, zero);
        const auto clear = [=](int64_t begin_x, int64_t end_x) {
          for (int64_t x = begin_x; x < end_x; ++x) {
            for (int64_t line = first; line < last; ++line) to[line * width + x] = zero;
          }
        };
        clear(0, left);
        clear(right, width);
      }
    }
  });
}

// Copies the windows of any convolution as CopyShifted does.
void CopyColumns(const WindowGeometry& g, const int8_t* image, int8_t zero, int8_t* columns) {
  if (g.stride[1] == 1 && g.stride[2] == 1 && g.out[2] == g.in[2]) {
    CopyShifted(g, image, zero, columns);
    return;
  }
  Im2Col(g, image, columns, zero);
}

// Copied windows of about this size stay in a core's cache until the product has read them.
constexpr int64_t kBlockBytes = 1 << 20;

// The positions of a convolution in blocks, which are computed one after the other.
struct PositionBlocks {
  explicit PositionBlocks(const WindowGeometry& geometry) : g(geometry) {
    if (g.IsIdentity()) {
      const int64_t size = g.image_size();
      for (int64_t* extents : {g.in, g.out}) {
        extents[0] = extents[1] = 1;
        extents[2] = size;
      }
    }
    while (axis < 2 && g.out[axis] == 1) ++axis;
    step = std::max<int64_t>(1, g.columns()) / std::max<int64_t>(1, g.out[axis]);
    count = std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(1, g.rows() * step), 1,
                                std::max<int64_t>(1, g.out[axis]));
  }

  // Returns the bytes of the windows of a block.
  int64_t bytes() const { return g.rows() * count * step; }

  // Calls fn(block, column) with the geometry of each block and its first position.
  template <typename Fn>
  void ForEach(const Fn& fn) const {
    for (int64_t first = 0; first < g.out[axis]; first += count) {
      WindowGeometry block = g;
      block.out[axis] = std::min(count, g.out[axis] - first);
      block.pad[axis] -= first * g.stride[axis];
      fn(block, first * step);
    }
  }

  WindowGeometry g;
  int axis = 0;       // the first one that has several positions
  int64_t step = 1;   // positions of one index of the axis
  int64_t count = 1;  // indices of the axis in a block
};

// The workspace of a convolution: what is added to the sums of each filter, the image as int8, if
// it is not, and the copied windows of a block of positions.
struct ConvolutionScratch {
  ScratchCursor cursor;
  int32_t* terms;
  int8_t* image;
  void* windows;

  ConvolutionScratch(void* base, const ConvolutionProduct& p, const PositionBlocks& blocks,
                     DType dtype)
      : cursor(base),
        terms(cursor.Take<int32_t>(p.filters)),
        image(cursor.Take<int8_t>(dtype == DType::kUint8 ? p.image_step() : 0)),
        windows(cursor.Take<int8_t>(blocks.bytes())) {}
};

// Computes an image's map by products of `gemm`.
template <typename T>
void ConvolveBy(Int8GemmFn gemm, const ConvolutionProduct& p, const PositionBlocks& blocks,
                const T* image, const int8_t* weight, const ConvolutionScratch& scratch, bool add,
                int32_t* out) {
  const int8_t* whole = nullptr;
  if constexpr (std::is_signed_v<T>) {
    whole = image;
  } else {
    ParallelFor(p.image_step(), 16384, [&](int64_t begin, int64_t end) {
      PutIntegers(scratch.image, begin, end, false, [=](int64_t i) { return Signed(image[i]); });
    });
    whole = scratch.image;
  }
  const int64_t positions = p.g.columns();
  blocks.ForEach([&](const WindowGeometry& g, int64_t column) {
    const bool copies = !p.g.IsIdentity();
    auto* const windows = static_cast<int8_t*>(scratch.windows);
    if (copies) CopyColumns(g, whole, Signed(T{0}), windows);
    gemm({.m = p.filters,
          .n = g.columns(),
          .k = p.g.rows(),
          .a = weight,
          .lda = p.g.rows(),
          .b = copies ? windows : whole + column,
          .ldb = copies ? g.columns() : positions,
          .row_terms = scratch.terms,
          .add = add,
          .c = out + column,
          .ldc = positions});
  });
}

// Computes an image's map by plain loops.
template <typename T>
void Convolve(const ConvolutionProduct& p, const PositionBlocks& blocks, const T* image,
              const int8_t* weight, const ConvolutionScratch& scratch, bool add, int32_t* out) {
  const int64_t size = p.g.rows(), positions = p.g.columns();
  blocks.ForEach([&](const WindowGeometry& g, int64_t column) {
    T* const windows = static_cast<T*>(scratch.windows);
    CopyWindows(g, image, windows);
    const int64_t width = g.columns();
    ParallelFor(p.filters * width, RowGrain(size), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t filter = i / width, at = i % width;
        const uint32_t sum = Dot(windows + at * size, weight + filter * size, size) +
                             static_cast<uint32_t>(scratch.terms[filter]);
        PutInteger(out + filter * positions + column + at, static_cast<int32_t>(sum), add);
      }
    });
  });
}

template <typename T>
void Convolution(const KernelContext& c) {
  const auto& param = c.param<ConvolutionParam>();
  PutProductRange(c, param.no_bias ? 2 : 3, 127, 127);
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return;
  const ArrayView& data = c.inputs[kData];
  const ConvolutionProduct p = ProductOf(param, data.shape, c.outputs[0].shape);
  const PositionBlocks blocks(p.g);
  const ConvolutionScratch scratch(c.workspace, p, blocks, data.dtype);
  const int8_t* weight = c.inputs[kWeight].as<int8_t>();
  const int64_t size = p.g.rows();
  const Int8GemmFn gemm = size == 0 ? nullptr : GetInt8Gemm();
  // The bias is added to the sums without regard to its range, as in MXNet.
  for (int64_t k = 0; k < p.filters; ++k) {
    scratch.terms[k] = param.no_bias ? 0 : c.inputs[kBias].as<int8_t>()[k];
  }
  if (gemm != nullptr && data.dtype == DType::kUint8) {
    // The products are those of the elements less 128.
    ParallelFor(p.filters, RowGrain(size), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        uint32_t sum = 0;  // wraps around
        for (int64_t i = 0; i < size; ++i) sum += static_cast<uint32_t>(weight[k * size + i]);
        const uint32_t term = static_cast<uint32_t>(scratch.terms[k]) + 128 * sum;
        scratch.terms[k] = static_cast<int32_t>(term);
      }
    });
  }
  const bool add = c.reqs[0] == WriteReq::kAdd;
  for (int64_t n = 0; n < p.batch; ++n) {
    const T* image = data.as<T>() + n * p.image_step();
    int32_t* out = c.outputs[0].as<int32_t>() + n * p.map_step();
    if (gemm != nullptr) {
      ConvolveBy(gemm, p, blocks, image, weight, scratch, add, out);
    } else {
      Convolve(p, blocks, image, weight, scratch, add, out);
    }
  }
}

absl::Status FullyConnectedCpu(const KernelContext& c) {
  if (c.inputs[kData].dtype == DType::kInt8) {
    FullyConnected<int8_t>(c);
  } else {
    FullyConnected<uint8_t>(c);
  }
  return absl::OkStatus();
}

absl::Status ConvolutionCpu(const KernelContext& c) {
  if (c.inputs[kData].dtype == DType::kInt8) {
    Convolution<int8_t>(c);
  } else {
    Convolution<uint8_t>(c);
  }
  return absl::OkStatus();
}

absl::Status CheckData(const PrepareContext& c) {
  if (c.inputs[kData].dtype != DType::kInt32) return absl::OkStatus();
  return absl::InvalidArgumentError("input 'data' is int32, expected int8 or uint8");
}

absl::StatusOr<Prepared> PrepareFullyConnected(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckData(c));
  const auto& param = c.param<FullyConnectedParam>();
  const int64_t terms = param.no_bias ? 0 : param.num_hidden;
  return Prepared{.workspace_bytes = terms * static_cast<int64_t>(sizeof(int32_t))};
}

absl::StatusOr<Prepared> PrepareConvolution(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckData(c));
  const ArrayView& data = c.inputs[kData];
  const ConvolutionProduct p =
      ProductOf(c.param<ConvolutionParam>(), data.shape, c.outputs[0].shape);
  const ConvolutionScratch scratch(nullptr, p, PositionBlocks(p.g), data.dtype);
  return Prepared{.workspace_bytes = scratch.cursor.bytes()};
}

// The range of data is that of the output.
void PassRange(const KernelContext& c) {
  PutRange(c, *c.inputs[QuantizedArrays::kMin].as<float>(),
           *c.inputs[QuantizedArrays::kMax].as<float>());
}

absl::Status ActivationCpu(const KernelContext& c) {
  PassRange(c);
  const int8_t* x = c.inputs[0].as<int8_t>();
  PutAllIntegers<int8_t>(c, [=](int64_t i) { return std::max<int8_t>(x[i], 0); });
  return absl::OkStatus();
}

// Moves bytes, whether they are signed or not.
absl::Status FlattenCpu(const KernelContext& c) {
  PassRange(c);
  const uint8_t* x = c.inputs[0].as<uint8_t>();
  PutAllIntegers<uint8_t>(c, [=](int64_t i) { return x[i]; });
  return absl::OkStatus();
}

constexpr DeviceType kCpu = DeviceType::kCpu;
constexpr DTypeSet kEightBits = {DType::kInt8, DType::kUint8};
constexpr DTypeSet kProducts = {DType::kInt8, DType::kUint8, DType::kInt32};
COOPER_REGISTER_KERNEL(_contrib_quantized_fully_connected, kCpu, kProducts, FullyConnectedCpu,
                       PrepareFullyConnected);
COOPER_REGISTER_KERNEL(_contrib_quantized_conv, kCpu, kProducts, ConvolutionCpu,
                       PrepareConvolution);
COOPER_REGISTER_KERNEL(_contrib_quantized_act, kCpu, DTypeSet{DType::kInt8}, ActivationCpu);
COOPER_REGISTER_KERNEL(_contrib_quantized_flatten, kCpu, kEightBits, FlattenCpu);

}  // namespace
}  // namespace cooper
