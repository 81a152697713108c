// Compares the sums of layers of 8-bit integers, by oneDNN and by floats, on one thread and on two,
// with sums over the definitions. Every bit has to be the same.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/program/kernel.h"
#include "gtest/gtest.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/products/gemm_int8.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

using Bytes = std::vector<uint8_t>;

// A layer, its arrays and the sums that are expected of it.
struct Layer {
  std::string op;
  AttrMap attrs;
  DType dtype;
  Shape data_shape, weight_shape, out_shape;
  Bytes data, weight, bias;  // no bias if it is empty
  std::vector<int32_t> sums;

  int Data(int64_t i) const {
    return dtype == DType::kUint8 ? int{data[i]} : int{static_cast<int8_t>(data[i])};
  }
  int Weight(int64_t i) const { return static_cast<int8_t>(weight[i]); }
  int Bias(int64_t i) const { return bias.empty() ? 0 : static_cast<int8_t>(bias[i]); }
};

// Returns bytes of any value or, with `extreme`, close to the greatest one of `dtype`.
Bytes RandomBytes(int64_t count, DType dtype, bool extreme, std::mt19937& random) {
  Bytes bytes(count);
  for (uint8_t& byte : bytes) {
    byte = extreme ? (dtype == DType::kUint8 ? 255 : 127) - random() % 3 : random();
  }
  return bytes;
}

void Fill(Layer* layer, bool has_bias, bool extreme, std::mt19937& random) {
  layer->attrs["no_bias"] = has_bias ? "False" : "True";
  layer->data = RandomBytes(layer->data_shape.num_elements(), layer->dtype, extreme, random);
  layer->weight = RandomBytes(layer->weight_shape.num_elements(), DType::kInt8, extreme, random);
  if (has_bias) layer->bias = RandomBytes(layer->weight_shape[0], DType::kInt8, false, random);
}

OpCall CallOf(const Layer& layer) {
  OpCall call{.op = *FindOp(layer.op)};
  call.params = *call.op->params()->Parse(layer.attrs);
  return call;
}

// Returns the output of the layer's kernel, which had 7 in each element.
std::vector<int32_t> Output(const Layer& layer, WriteReq req) {
  const OpCall call = CallOf(layer);
  // With these ranges a step of the bias of FullyConnected is one of the product.
  float low = -1, high = 1, bias_high = layer.dtype == DType::kUint8 ? 1 / 255.5F : 1 / 127.5F;
  const auto view = [](const void* data, Shape shape, DType dtype) {
    return ArrayView{const_cast<void*>(data), std::move(shape), dtype};
  };
  std::vector<ArrayView> inputs = {view(layer.data.data(), layer.data_shape, layer.dtype),
                                   view(layer.weight.data(), layer.weight_shape, DType::kInt8)};
  if (!layer.bias.empty()) {
    inputs.push_back(view(layer.bias.data(), {layer.weight_shape[0]}, DType::kInt8));
  }
  const size_t arrays = inputs.size();
  for (size_t i = 0; i < arrays; ++i) {
    inputs.push_back(view(&low, {1}, DType::kFloat32));
    inputs.push_back(view(i == 2 ? &bias_high : &high, {1}, DType::kFloat32));
    if (i == 2) inputs[inputs.size() - 2] = view(&bias_high, {1}, DType::kFloat32);
  }
  std::vector<int32_t> out(layer.out_shape.num_elements(), 7);
  float range[2] = {};
  const ArrayView outputs[] = {view(out.data(), layer.out_shape, DType::kInt32),
                               view(range, {1}, DType::kFloat32),
                               view(range + 1, {1}, DType::kFloat32)};
  const WriteReq reqs[] = {req, WriteReq::kWrite, WriteReq::kWrite};
  const Kernel& kernel = **FindKernel(layer.op, DeviceType::kCpu);
  const auto prepared =
      kernel.prepare({.call = call, .inputs = inputs, .outputs = outputs, .reqs = reqs});
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  constexpr int64_t kGuard = 256;
  std::vector<int32_t> workspace((prepared->workspace_bytes + 3) / 4 + kGuard, -1);
  COOPER_EXPECT_OK(kernel.run({.call = call,
                               .inputs = inputs,
                               .outputs = outputs,
                               .reqs = reqs,
                               .workspace = workspace.data()}));
  EXPECT_EQ(std::count(workspace.end() - kGuard, workspace.end(), -1), kGuard);
  return out;
}

// Expects the sums from the kernel, by oneDNN if it has products here and by floats.
void ExpectSums(const Layer& layer) {
  const int threads = NumThreads();
  static const Int8GemmFn onednn = GetInt8Gemm();
  for (const bool by_floats : {false, true}) {
    if (by_floats) {
      RegisterInt8Gemm([]() -> Int8GemmFn { return nullptr; });
    } else {
      RegisterInt8Gemm([] { return onednn; });
    }
    for (const int count : {1, 2}) {
      SetNumThreads(count);
      SCOPED_TRACE(absl::StrCat(by_floats ? "floats, " : "oneDNN, ", count, " threads"));
      EXPECT_EQ(Output(layer, WriteReq::kWrite), layer.sums);
      std::vector<int32_t> added = layer.sums;
      for (int32_t& value : added) value += 7;
      EXPECT_EQ(Output(layer, WriteReq::kAdd), added);
      EXPECT_EQ(Output(layer, WriteReq::kNull), std::vector<int32_t>(layer.sums.size(), 7));
    }
  }
  RegisterInt8Gemm([] { return onednn; });
  SetNumThreads(threads);
}

// The parameters of a convolution: of each spatial axis the extents of image and kernel, stride,
// dilation and padding.
struct Axis {
  int64_t in, kernel, stride, dilate, pad;
};
struct Window {
  int64_t batch, channels, filters;
  std::vector<Axis> axes;
};

Layer Convolution(const Window& window, DType dtype, bool has_bias, bool extreme,
                  std::mt19937& random) {
  Layer layer{.op = "_contrib_quantized_conv", .dtype = dtype};
  std::vector<int64_t> data = {window.batch, window.channels};
  std::vector<int64_t> weight = {window.filters, window.channels};
  std::vector<int64_t> out = {window.batch, window.filters};
  const auto tuple = [&](int64_t Axis::*field) {
    return absl::StrCat("(",
                        absl::StrJoin(window.axes, ",",
                                      [&](std::string* text, const Axis& axis) {
                                        absl::StrAppend(text, axis.*field);
                                      }),
                        ",)");
  };
  for (const Axis& axis : window.axes) {
    data.push_back(axis.in);
    weight.push_back(axis.kernel);
    out.push_back((axis.in + 2 * axis.pad - axis.dilate * (axis.kernel - 1) - 1) / axis.stride + 1);
  }
  layer.attrs = {{"kernel", tuple(&Axis::kernel)},
                 {"stride", tuple(&Axis::stride)},
                 {"dilate", tuple(&Axis::dilate)},
                 {"pad", tuple(&Axis::pad)},
                 {"num_filter", absl::StrCat(window.filters)}};
  layer.data_shape = Shape(data);
  layer.weight_shape = Shape(weight);
  layer.out_shape = Shape(out);
  Fill(&layer, has_bias, extreme, random);
  const ConvolutionProduct p =
      ProductOf(CallOf(layer).param<ConvolutionParam>(), layer.data_shape, layer.out_shape);
  const WindowGeometry& g = p.g;
  for (int64_t i = 0; i < layer.out_shape.num_elements(); ++i) {
    const int64_t filter = i / g.columns() % p.filters;
    const int64_t at[] = {i / (g.out[1] * g.out[2]) % g.out[0], i / g.out[2] % g.out[1],
                          i % g.out[2]};
    int32_t sum = layer.Bias(filter);
    for (int64_t row = 0; row < g.rows(); ++row) {
      const int64_t k[] = {row / (g.kernel[1] * g.kernel[2]) % g.kernel[0],
                           row / g.kernel[2] % g.kernel[1], row % g.kernel[2]};
      int64_t element = i / p.map_step() * g.channels + row / g.kernel_size();
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        const int64_t x = at[axis] * g.stride[axis] + k[axis] * g.dilate[axis] - g.pad[axis];
        inside = inside && x >= 0 && x < g.in[axis];
        element = element * g.in[axis] + x;
      }
      if (inside) sum += layer.Data(element) * layer.Weight(filter * g.rows() + row);
    }
    layer.sums.push_back(sum);
  }
  return layer;
}

Layer FullyConnected(int64_t batch, int64_t inputs, int64_t hidden, DType dtype, bool has_bias,
                     bool extreme, std::mt19937& random) {
  Layer layer{.op = "_contrib_quantized_fully_connected",
              .attrs = {{"num_hidden", absl::StrCat(hidden)}},
              .dtype = dtype,
              .data_shape = {batch, inputs},
              .weight_shape = {hidden, inputs},
              .out_shape = {batch, hidden}};
  Fill(&layer, has_bias, extreme, random);
  for (int64_t i = 0; i < batch * hidden; ++i) {
    int32_t sum = 0;
    for (int64_t k = 0; k < inputs; ++k) {
      sum += layer.Data(i / hidden * inputs + k) * layer.Weight(i % hidden * inputs + k);
    }
    layer.sums.push_back(sum);
  }
  return layer;
}

class QuantizedLayersTest : public testing::TestWithParam<DType> {
 protected:
  int64_t Below(int64_t limit) { return static_cast<int64_t>(random_() % limit); }

  std::mt19937 random_{5};
};

TEST(Int8GemmTest, IsLinked) {
  if (GetInt8Gemm() == nullptr) GTEST_SKIP() << "the processor has no AVX-512 VNNI";
}

TEST_P(QuantizedLayersTest, RandomConvolutions) {
  for (int i = 0; i < 60; ++i) {
    Window window{.batch = 1 + Below(3), .channels = 1 + Below(20), .filters = 1 + Below(40)};
    const int64_t rank = 1 + Below(3);
    for (int64_t k = 0; k < rank; ++k) {
      Axis axis{.in = 1 + Below(rank == 3 ? 8 : 20),
                .kernel = 1 + Below(4),
                .stride = 1 + Below(3),
                .dilate = 1 + Below(2)};
      axis.pad = Below(axis.kernel);
      axis.in = std::max(axis.in, axis.dilate * (axis.kernel - 1) + 1);
      window.axes.push_back(axis);
    }
    SCOPED_TRACE(absl::StrCat("convolution ", i));
    ExpectSums(Convolution(window, GetParam(), Below(2) == 0, Below(3) == 0, random_));
  }
}

TEST_P(QuantizedLayersTest, OtherConvolutions) {
  const Window windows[] = {
      {2, 7, 9, {{5, 1, 1, 1, 0}, {6, 1, 1, 1, 0}}},     // the image is its columns
      {1, 40, 5, {{60, 3, 1, 1, 1}, {70, 3, 1, 1, 1}}},  // several blocks of positions
      {1, 20, 2, {{9, 3, 2, 1, 1}, {40, 3, 1, 1, 1}, {90, 3, 1, 2, 2}}},
      {1, 600, 4, {{3000, 1, 2, 1, 0}}},
      {1, 600, 3, {{2, 3, 1, 1, 1}, {3, 3, 1, 1, 1}}},  // sums above 2^24
      {0, 2, 3, {{4, 3, 1, 1, 1}, {5, 3, 1, 1, 1}}},
  };
  for (const Window& window : windows) {
    SCOPED_TRACE(absl::StrCat(window.channels, " channels"));
    ExpectSums(Convolution(window, GetParam(), true, window.axes[0].in < 100, random_));
  }
}

TEST_P(QuantizedLayersTest, FullyConnectedLayers) {
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(absl::StrCat("layer ", i));
    Layer layer = FullyConnected(1 + Below(i % 2 == 0 ? 6 : 70), 1 + Below(i % 5 == 0 ? 3000 : 90),
                                 1 + Below(100), GetParam(), false, i % 3 == 0, random_);
    ExpectSums(layer);
  }
}

TEST_P(QuantizedLayersTest, FullyConnectedAddsItsBias) {
  // Steps of the bias are about 1: it is rounded towards 0.
  const Layer with = FullyConnected(3, 50, 20, GetParam(), true, false, random_);
  Layer without = with;
  without.attrs["no_bias"] = "True";
  without.bias.clear();
  const std::vector<int32_t> sums = Output(without, WriteReq::kWrite);
  EXPECT_EQ(sums, with.sums);
  std::vector<int32_t> shifted = Output(with, WriteReq::kWrite);
  for (size_t i = 0; i < shifted.size(); ++i) {
    const int bias = with.Bias(static_cast<int64_t>(i) % 20);
    EXPECT_LE(std::abs(shifted[i] - sums[i] - bias), 1) << bias;
  }
  Layer exact = with;
  exact.sums = std::move(shifted);
  ExpectSums(exact);
}

INSTANTIATE_TEST_SUITE_P(DTypes, QuantizedLayersTest, testing::Values(DType::kInt8, DType::kUint8),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

}  // namespace
}  // namespace cooper
