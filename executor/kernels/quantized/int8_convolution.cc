#include "executor/kernels/quantized/int8_convolution.h"

#include <algorithm>

#include "executor/kernels/convolution/im2col.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "ndarray/products/gemm_int8.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Copied windows of about this size stay in a core's cache.
constexpr int64_t kBlockBytes = 1 << 20;

// Copies windows without strides whose lines have as many positions as the image has pixels, as
// Im2Col does: a row is the shifted image, but for padding.
void CopyShifted(const WindowGeometry& g, const int8_t* image, int8_t* columns, int8_t padding) {
  const int64_t width = g.in[2], lines = g.out[1];
  ParallelForPlain(g.channels, ChannelGrain(g), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin * g.kernel_size(); row < end * g.kernel_size(); ++row) {
      const WindowElement element(g, row);
      const int64_t down = element.k[1] * g.dilate[1] - g.pad[1];
      // Lines [first, last) are inside the image, and so are pixels [left, right) of each.
      const int64_t first = std::clamp<int64_t>(-down, 0, lines);
      const int64_t last = std::clamp(g.in[1] - down, first, lines);
      const int64_t left = element.first, right = element.last;
      for (int64_t d = 0; d < g.out[0]; ++d) {
        int8_t* const to = columns + row * g.columns() + d * lines * width;
        const int64_t z = d * g.stride[0] + element.k[0] * g.dilate[0] - g.pad[0];
        if (z < 0 || z >= g.in[0] || first == last || left == right) {
          std::fill_n(to, lines * width, padding);
          continue;
        }
        const int8_t* const from =
            image + ((element.channel * g.in[0] + z) * g.in[1] + first + down) * width +
            element.shift;
        const int64_t size = (last - first) * width;
        std::fill_n(to, first * width, padding);
        std::copy(from + left, from + size - width + right, to + first * width + left);
        std::fill_n(to + last * width, (lines - last) * width, padding);
        const auto clear = [=](int64_t begin_x, int64_t end_x) {
          for (int64_t x = begin_x; x < end_x; ++x) {
            for (int64_t line = first; line < last; ++line) to[line * width + x] = padding;
          }
        };
        clear(0, left);
        clear(right, width);
      }
    }
  });
}

// Copies the windows of any convolution as Im2Col does.
void CopyColumns(const WindowGeometry& g, const int8_t* image, int8_t* columns, int8_t padding) {
  if (g.stride[1] == 1 && g.stride[2] == 1 && g.out[2] == g.in[2]) {
    CopyShifted(g, image, columns, padding);
    return;
  }
  Im2Col(g, image, columns, padding);
}

// The int8 that stands for a uint8 value is the value less 128.
constexpr int kOffset = 128;

}  // namespace

PositionBlocks::PositionBlocks(const WindowGeometry& geometry) : g(geometry) {
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

Int8Convolution::Int8Convolution(const ConvolutionProduct& product, DType dtype,
                                 ScratchCursor& cursor)
    : p_(product),
      blocks_(product.g),
      is_unsigned_(dtype == DType::kUint8),
      terms_(cursor.Take<int32_t>(product.filters)),
      image_(cursor.Take<int8_t>(is_unsigned_ ? product.image_step() : 0)),
      windows_(cursor.Take<int8_t>(blocks_.bytes())) {}

void Int8Convolution::SetFilters(const int8_t* weight, const int32_t* terms) {
  weight_ = weight;
  // The weights of a filter that a uint8 image's offset multiplies.
  const int64_t size = is_unsigned_ ? p_.g.rows() : 0;
  const int64_t step = p_.g.rows();
  ParallelFor(p_.filters, RowGrain(size + 1), [=, this](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      uint32_t sum = 0;  // wraps around
      for (int64_t i = 0; i < size; ++i) sum += static_cast<uint32_t>(weight[k * step + i]);
      const uint32_t term = terms == nullptr ? 0 : static_cast<uint32_t>(terms[k]);
      terms_[k] = static_cast<int32_t>(term + kOffset * sum);
    }
  });
}

void Int8Convolution::Run(const void* image, bool add, int32_t* map) const {
  if (!is_unsigned_) {
    RunSigned(static_cast<const int8_t*>(image), add, map);
    return;
  }
  const auto* const from = static_cast<const uint8_t*>(image);
  ParallelFor(p_.image_step(), 16384, [&](int64_t begin, int64_t end) {
    PutIntegers(image_, begin, end, false,
                [=](int64_t i) { return static_cast<int8_t>(from[i] - kOffset); });
  });
  RunSigned(image_, add, map);
}

void Int8Convolution::RunSigned(const int8_t* image, bool add, int32_t* map) const {
  const int64_t positions = p_.g.columns();
  const auto padding = static_cast<int8_t>(is_unsigned_ ? -kOffset : 0);
  blocks_.ForEach([&](const WindowGeometry& g, int64_t column) {
    const bool copies = !p_.g.IsIdentity();
    if (copies) CopyColumns(g, image, windows_, padding);
    Int8Gemm({.m = p_.filters,
              .n = g.columns(),
              .k = p_.g.rows(),
              .a = weight_,
              .lda = p_.g.rows(),
              .b = copies ? windows_ : image + column,
              .ldb = copies ? g.columns() : positions,
              .row_terms = terms_,
              .add = add,
              .c = map + column,
              .ldc = positions});
  });
}

}  // namespace cooper
