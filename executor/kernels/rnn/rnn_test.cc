// Compares RNN's kernels with loops over the formulas, and their gradients with central differences
// in double.

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSteps = 5;
constexpr int64_t kBatch = 3;
constexpr int64_t kInput = 4;
constexpr int64_t kHidden = 3;

AttrMap Attrs(const std::string& mode, int layers, bool bidirectional, AttrMap more = {},
              int64_t hidden = kHidden) {
  AttrMap attrs = {{"mode", mode},
                   {"num_layers", absl::StrCat(layers)},
                   {"bidirectional", bidirectional ? "True" : "False"},
                   {"state_size", absl::StrCat(hidden)},
                   {"state_outputs", "True"}};
  attrs.merge(more);
  return attrs;
}

std::vector<double> Random(int64_t n, std::mt19937& rng) {
  std::uniform_real_distribution<double> draw(-0.9, 0.9);
  std::vector<double> values(n);
  for (double& v : values) v = draw(rng);
  return values;
}

// An RNN with its inputs, as the executor runs it. All arrays are double.
struct Fixture {
  explicit Fixture(const AttrMap& attrs, int64_t batch_size = kBatch) : batch(batch_size) {
    call.op = FindOp("RNN").value();
    call.attrs = attrs;
    call.params = call.op->params()->Parse(attrs).value();
    backward_call = call;
    backward_call.op = FindOp("_backward_RNN").value();
    const auto& p = param();
    has_cell = RNNHasCell(p);
    const int64_t states = p.num_layers * RNNNumDirections(p);
    shapes = {Shape{kSteps, batch, kInput}, Shape{RNNParameterSize(p, kInput)},
              Shape{states, batch, p.state_size}};
    if (has_cell) shapes.push_back(shapes[2]);
    num_differentiable = static_cast<int>(shapes.size());
    std::mt19937 rng(7);
    for (const Shape& shape : shapes) inputs.push_back(Random(shape.num_elements(), rng));
    if (p.use_sequence_length) {
      shapes.push_back(Shape{batch});
      inputs.push_back({5, 0, 3});
    }
    out_shapes = {Shape{kSteps, batch, RNNNumDirections(p) * p.state_size}};
    if (p.state_outputs) out_shapes.push_back(shapes[2]);
    if (p.state_outputs && has_cell) out_shapes.push_back(shapes[2]);
    for (const Shape& shape : out_shapes) heads.push_back(Random(shape.num_elements(), rng));
    out_shapes.push_back(Shape{RNNReserve(p, kSteps, batch).size()});
  }

  const RNNParam& param() const { return call.param<RNNParam>(); }

  OpCall call, backward_call;
  int64_t batch;
  bool has_cell;
  int num_differentiable;
  std::vector<Shape> shapes, out_shapes;
  std::vector<std::vector<double>> inputs, heads;
};

using Arrays = std::vector<std::vector<double>>;

// Runs a kernel with arrays of T. `outputs` holds their contents before and after.
template <typename T>
absl::Status RunKernel(const char* op, const OpCall& call, const Arrays& in,
                       const std::vector<Shape>& in_shapes, Arrays* outputs,
                       const std::vector<Shape>& out_shapes, const std::vector<WriteReq>& reqs,
                       bool is_train) {
  std::vector<std::vector<T>> storage;
  std::vector<ArrayView> in_views, out_views;
  storage.reserve(in.size() + outputs->size());
  const auto view = [&](const std::vector<double>& values, const Shape& shape) {
    storage.emplace_back(values.begin(), values.end());
    return ArrayView{storage.back().data(), shape, DTypeOf<T>()};
  };
  for (size_t i = 0; i < in.size(); ++i) in_views.push_back(view(in[i], in_shapes[i]));
  for (size_t i = 0; i < outputs->size(); ++i) {
    out_views.push_back(view((*outputs)[i], out_shapes[i]));
  }
  const Kernel* kernel = FindKernel(op, DeviceType::kCpu).value();
  const PrepareContext prepare{
      .call = call, .inputs = in_views, .outputs = out_views, .reqs = reqs};
  std::vector<double> workspace(kernel->prepare(prepare)->workspace_bytes / sizeof(double) + 1,
                                NAN);
  const KernelContext context{.call = call,
                              .inputs = in_views,
                              .outputs = out_views,
                              .reqs = reqs,
                              .workspace = workspace.data(),
                              .is_train = is_train,
                              .random = Philox(3, 4)};
  COOPER_RETURN_IF_ERROR(kernel->run(context));
  for (size_t i = 0; i < outputs->size(); ++i) {
    if (reqs[i] == WriteReq::kNull) continue;
    const T* data = out_views[i].as<T>();
    (*outputs)[i].assign(data, data + out_views[i].size());
  }
  return absl::OkStatus();
}

Arrays Filled(const std::vector<Shape>& shapes, double value) {
  Arrays arrays;
  for (const Shape& shape : shapes) arrays.emplace_back(shape.num_elements(), value);
  return arrays;
}

// Returns all outputs, the reserve last.
template <typename T>
Arrays RunForward(const Fixture& f, bool is_train, bool keep) {
  Arrays outputs = Filled(f.out_shapes, NAN);
  std::vector<WriteReq> reqs(outputs.size(), WriteReq::kWrite);
  if (!keep) reqs.back() = WriteReq::kNull;
  EXPECT_THAT(
      RunKernel<T>("RNN", f.call, f.inputs, f.shapes, &outputs, f.out_shapes, reqs, is_train),
      IsOk());
  return outputs;
}

// Runs the gradient's kernel. `gradients` holds the contents of its outputs before and after.
template <typename T>
void RunBackward(const Fixture& f, const Arrays& outputs, WriteReq req, bool is_train,
                 Arrays* gradients) {
  Arrays inputs = f.heads;
  std::vector<Shape> shapes(f.out_shapes.begin(), f.out_shapes.end() - 1);
  inputs.insert(inputs.end(), f.inputs.begin(), f.inputs.end());
  shapes.insert(shapes.end(), f.shapes.begin(), f.shapes.end());
  inputs.push_back(outputs[0]);
  shapes.push_back(f.out_shapes[0]);
  inputs.push_back(outputs.back());
  shapes.push_back(f.out_shapes.back());
  const std::vector<Shape> out_shapes(f.shapes.begin(), f.shapes.begin() + f.num_differentiable);
  EXPECT_THAT(RunKernel<T>("_backward_RNN", f.backward_call, inputs, shapes, gradients, out_shapes,
                           std::vector<WriteReq>(gradients->size(), req), is_train),
              IsOk());
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Computes the visible outputs by the formulas of the operator's documentation.
Arrays Reference(const Fixture& f) {
  const RNNParam& p = f.param();
  const int gates = RNNNumGates(p.mode);
  const int directions = RNNNumDirections(p);
  const int64_t H = p.state_size;
  const std::vector<double>& w = f.inputs[1];
  Arrays out = Filled({f.out_shapes.begin(), f.out_shapes.end() - 1}, 0);
  std::vector<double> input = f.inputs[0];
  for (int layer = 0; layer < p.num_layers; ++layer) {
    std::vector<double> output(kSteps * f.batch * directions * H, 0.0);
    for (int d = 0; d < directions; ++d) {
      const RNNWeightOffsets at = RNNOffsets(p, kInput, layer, d);
      for (int64_t b = 0; b < f.batch; ++b) {
        const int64_t state = ((layer * directions + d) * f.batch + b) * H;
        std::vector<double> h(&f.inputs[2][state], &f.inputs[2][state] + H);
        std::vector<double> c(H, 0.0);
        if (f.has_cell) c.assign(&f.inputs[3][state], &f.inputs[3][state] + H);
        const int64_t length = p.use_sequence_length ? f.inputs.back()[b] : kSteps;
        for (int64_t s = 0; s < length; ++s) {
          const int64_t t = d == 0 ? s : length - 1 - s;
          const double* x = &input[(t * f.batch + b) * at.input_size];
          std::vector<double> wx(gates * H), wh(gates * H);
          for (int64_t r = 0; r < gates * H; ++r) {
            wx[r] = w[at.i2h_bias + r];
            wh[r] = w[at.h2h_bias + r];
            for (int64_t k = 0; k < at.input_size; ++k) {
              wx[r] += w[at.i2h_weight + r * at.input_size + k] * x[k];
            }
            for (int64_t k = 0; k < H; ++k) wh[r] += w[at.h2h_weight + r * H + k] * h[k];
          }
          for (int64_t j = 0; j < H; ++j) {
            const auto sum = [&](int gate) { return wx[gate * H + j] + wh[gate * H + j]; };
            switch (p.mode) {
              case RNNMode::kRnnRelu:
                h[j] = std::max(0.0, sum(0));
                break;
              case RNNMode::kRnnTanh:
                h[j] = std::tanh(sum(0));
                break;
              case RNNMode::kLstm:
                c[j] = Sigmoid(sum(1)) * c[j] + Sigmoid(sum(0)) * std::tanh(sum(2));
                if (p.lstm_state_clip_min.has_value()) {
                  c[j] = std::clamp(c[j], *p.lstm_state_clip_min, *p.lstm_state_clip_max);
                }
                h[j] = Sigmoid(sum(3)) * std::tanh(c[j]);
                break;
              case RNNMode::kGru: {
                const double z = Sigmoid(sum(1));
                const double n = std::tanh(wx[2 * H + j] + Sigmoid(sum(0)) * wh[2 * H + j]);
                h[j] = (1 - z) * n + z * h[j];
                break;
              }
            }
            output[(t * f.batch + b) * directions * H + d * H + j] = h[j];
          }
        }
        std::copy(h.begin(), h.end(), out[1].begin() + state);
        if (f.has_cell) std::copy(c.begin(), c.end(), out[2].begin() + state);
      }
    }
    input = output;
  }
  out[0] = input;
  return out;
}

void ExpectNear(const std::vector<double>& actual, const std::vector<double>& expected,
                double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    // The comparison is written so that NaN fails.
    ASSERT_TRUE(std::abs(actual[i] - expected[i]) <= tolerance)
        << what << " at " << i << ": " << actual[i] << ", expected " << expected[i];
  }
}

struct Case {
  std::string name;
  AttrMap attrs;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* mode : {"rnn_relu", "rnn_tanh", "lstm", "gru"}) {
    for (int layers : {1, 3}) {
      for (bool bidirectional : {false, true}) {
        for (bool lengths : {false, true}) {
          cases.push_back({absl::StrCat(mode, "_l", layers, bidirectional ? "_bi" : "",
                                        lengths ? "_lengths" : ""),
                           Attrs(mode, layers, bidirectional,
                                 {{"use_sequence_length", lengths ? "True" : "False"}})});
        }
      }
    }
  }
  cases.push_back(
      {"lstm_clip",
       Attrs("lstm", 2, true, {{"lstm_state_clip_min", "-0.2"}, {"lstm_state_clip_max", "0.3"}})});
  return cases;
}

class RNNTest : public testing::TestWithParam<Case> {};

TEST_P(RNNTest, ForwardMatchesPlainLoops) {
  const Fixture f(GetParam().attrs);
  const Arrays expected = Reference(f);
  for (bool keep : {false, true}) {
    const Arrays exact = RunForward<double>(f, /*is_train=*/keep, keep);
    // A result is a sum of at most nine products below one, through three layers.
    const Arrays rounded = RunForward<float>(f, /*is_train=*/keep, keep);
    for (size_t i = 0; i < expected.size(); ++i) {
      ExpectNear(exact[i], expected[i], 1e-13, absl::StrCat("output ", i));
      ExpectNear(rounded[i], expected[i], 1e-5, absl::StrCat("float output ", i));
    }
  }
}

// Returns the sum of all visible outputs, each weighted by its head gradient.
double Loss(const Fixture& f, bool is_train) {
  const Arrays outputs = RunForward<double>(f, is_train, /*keep=*/true);
  double loss = 0;
  for (size_t i = 0; i < f.heads.size(); ++i) {
    for (size_t j = 0; j < f.heads[i].size(); ++j) loss += f.heads[i][j] * outputs[i][j];
  }
  return loss;
}

Arrays Gradients(const Fixture& f, bool is_train) {
  Arrays gradients = Filled({f.shapes.begin(), f.shapes.begin() + f.num_differentiable}, NAN);
  RunBackward<double>(f, RunForward<double>(f, is_train, true), WriteReq::kWrite, is_train,
                      &gradients);
  return gradients;
}

void ExpectGradientsOfLoss(Fixture f) {
  const Arrays gradients = Gradients(f, /*is_train=*/true);
  constexpr double kEpsilon = 1e-5;
  for (int i = 0; i < f.num_differentiable; ++i) {
    std::vector<double> numeric(gradients[i].size());
    for (size_t j = 0; j < numeric.size(); ++j) {
      const double value = f.inputs[i][j];
      f.inputs[i][j] = value + kEpsilon;
      const double above = Loss(f, /*is_train=*/true);
      f.inputs[i][j] = value - kEpsilon;
      numeric[j] = (above - Loss(f, /*is_train=*/true)) / (2 * kEpsilon);
      f.inputs[i][j] = value;
    }
    ExpectNear(gradients[i], numeric, 1e-7, absl::StrCat("gradient ", i));
  }
}

TEST_P(RNNTest, GradientMatchesCentralDifferences) {
  ExpectGradientsOfLoss(Fixture(GetParam().attrs));
}

TEST_P(RNNTest, AddsGradients) {
  const Fixture f(GetParam().attrs);
  Arrays expected = Gradients(f, /*is_train=*/true);
  const Arrays outputs = RunForward<double>(f, true, true);
  Arrays added = Filled({f.shapes.begin(), f.shapes.begin() + f.num_differentiable}, 2.5);
  RunBackward<double>(f, outputs, WriteReq::kAdd, true, &added);
  for (size_t i = 0; i < expected.size(); ++i) {
    for (double& v : expected[i]) v += 2.5;
    ExpectNear(added[i], expected[i], 1e-12, absl::StrCat("gradient ", i));
  }
}

INSTANTIATE_TEST_SUITE_P(All, RNNTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

TEST(RNNDropoutTest, GradientGoesThroughTheSameMask) {
  for (const char* mode : {"rnn_tanh", "lstm", "gru"}) {
    const Fixture f(Attrs(mode, 3, true, {{"p", "0.4"}}));
    ExpectGradientsOfLoss(f);
    EXPECT_NE(RunForward<double>(f, true, true)[0], RunForward<double>(f, false, true)[0]);
    EXPECT_EQ(RunForward<double>(f, true, true)[0], RunForward<double>(f, true, false)[0]);
  }
}

// The work is enough for several threads, with and without a split of the batch.
TEST(RNNThreadsTest, SplitWorkComesOutTheSame) {
  for (const char* mode : {"lstm", "gru"}) {
    for (bool bidirectional : {false, true}) {
      const Fixture f(Attrs(mode, 1, bidirectional, {}, /*hidden=*/64), /*batch_size=*/40);
      const Arrays expected = Reference(f);
      SetNumThreads(1);
      const Arrays one = RunForward<double>(f, true, true);
      SetNumThreads(4);
      const Arrays four = RunForward<double>(f, true, true);
      SetNumThreads(0);
      for (size_t i = 0; i < expected.size(); ++i) {
        ExpectNear(one[i], expected[i], 1e-12, mode);
        ExpectNear(four[i], expected[i], 1e-12, mode);
      }
    }
  }
}

// Tests an output with kAdd and one with kNull.
TEST(RNNRequestTest, HonoursWriteRequests) {
  const Fixture f(Attrs("lstm", 2, false));
  const Arrays expected = Reference(f);
  Arrays outputs = Filled(f.out_shapes, 1.0);
  ASSERT_THAT(
      RunKernel<double>("RNN", f.call, f.inputs, f.shapes, &outputs, f.out_shapes,
                        {WriteReq::kAdd, WriteReq::kNull, WriteReq::kAdd, WriteReq::kNull}, true),
      IsOk());
  for (size_t i : {0, 2}) {
    std::vector<double> sum = expected[i];
    for (double& v : sum) v += 1;
    ExpectNear(outputs[i], sum, 1e-13, absl::StrCat("output ", i));
  }
  EXPECT_EQ(outputs[1], std::vector<double>(outputs[1].size(), 1.0));
}

TEST(RNNUnsupportedTest, SaysWhatIsNotComputed) {
  const Fixture f(Attrs("lstm", 1, false));
  const Kernel* kernel = FindKernel("RNN", DeviceType::kCpu).value();
  std::vector<ArrayView> inputs = {{nullptr, f.shapes[0], DType::kFloat16}};
  EXPECT_THAT(PrepareKernel(*kernel, {.call = f.call, .inputs = inputs}).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("no cpu kernel for input 'data' of float16")));
  const Fixture projected(Attrs("lstm", 1, false, {{"projection_size", "2"}}));
  inputs[0].dtype = DType::kFloat32;
  EXPECT_THAT(kernel->prepare({.call = projected.call, .inputs = inputs}).status(),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("projection_size 2")));
}

}  // namespace
}  // namespace cooper
