// Compares RNN and _rnn_layer on gpu(0) with cpu(0): visible outputs, the reserve with its layout,
// and gradients.

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/kernels/rnn/rnn_arguments.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string name;
  RNNForm form = RNNForm::kPacked;
  std::string mode = "lstm";
  int layers = 1;
  bool bidirectional = false;
  AttrMap more = {};
  int64_t steps = 4, batch = 3, input = 5, hidden = 7;
};

// Tiles of 8 rows by 8 units compute the products of steps, with loads of 16 bytes if the number of
// units is a multiple of 4, from three steps on in both passes.
void AddTileCases(std::vector<Case>& cases) {
  for (const char* mode : {"rnn_relu", "rnn_tanh", "lstm", "gru"}) {
    cases.push_back({.name = absl::StrCat(mode, "_one_tile"),
                     .mode = mode,
                     .steps = 3,
                     .batch = 8,
                     .input = 3,
                     .hidden = 8});
    cases.push_back({.name = absl::StrCat(mode, "_part_of_a_tile"),
                     .mode = mode,
                     .bidirectional = true,
                     .steps = 3,
                     .batch = 1,
                     .input = 3,
                     .hidden = 5});
    cases.push_back({.name = absl::StrCat(mode, "_tiles_with_lengths"),
                     .mode = mode,
                     .bidirectional = true,
                     .more = {{"use_sequence_length", "True"}},
                     .batch = 17,
                     .input = 3,
                     .hidden = 12});
    cases.push_back({.name = absl::StrCat(mode, "_above_the_bound"),
                     .mode = mode,
                     .steps = 3,
                     .batch = 65,
                     .input = 2,
                     .hidden = 4});
  }
  cases.push_back({.name = "scalar_tiles_with_lengths",
                   .bidirectional = true,
                   .more = {{"use_sequence_length", "True"}},
                   .batch = 9,
                   .input = 3,
                   .hidden = 9});
  cases.push_back({.name = "clipped_tiles",
                   .more = {{"lstm_state_clip_min", "-0.2"}, {"lstm_state_clip_max", "0.3"}},
                   .batch = 9,
                   .hidden = 8});
  // The depth makes a warp's lanes iterate more than once, with a remainder.
  cases.push_back({.name = "deep", .steps = 3, .batch = 1, .input = 1, .hidden = 260});
  cases.push_back(
      {.name = "deep_gru", .mode = "gru", .steps = 3, .batch = 1, .input = 1, .hidden = 173});
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* mode : {"rnn_relu", "rnn_tanh", "lstm", "gru"}) {
    cases.push_back({.name = mode, .mode = mode});
    cases.push_back({.name = absl::StrCat(mode, "_layer"), .form = RNNForm::kLayer, .mode = mode});
    cases.push_back({.name = absl::StrCat(mode, "_both_ways_with_dropout"),
                     .mode = mode,
                     .layers = 3,
                     .bidirectional = true,
                     .more = {{"p", "0.4"}}});
    cases.push_back({.name = absl::StrCat(mode, "_lengths"),
                     .mode = mode,
                     .layers = 2,
                     .bidirectional = true,
                     .more = {{"use_sequence_length", "True"}, {"p", "0.3"}}});
  }
  cases.push_back({.name = "layer_lengths",
                   .form = RNNForm::kLayer,
                   .more = {{"use_sequence_length", "True"}}});
  const AttrMap clip = {{"lstm_state_clip_min", "-0.2"}, {"lstm_state_clip_max", "0.3"}};
  cases.push_back({.name = "clipped", .more = clip});
  cases.push_back({.name = "one_step", .layers = 2, .bidirectional = true, .steps = 1});
  cases.push_back({.name = "one_sequence", .mode = "gru", .batch = 1});
  cases.push_back({.name = "one_feature", .input = 1, .hidden = 1});
  cases.push_back({.name = "no_steps", .bidirectional = true, .steps = 0});
  cases.push_back({.name = "no_sequences", .batch = 0});
  cases.push_back({.name = "wide", .mode = "gru", .steps = 2, .batch = 5, .hidden = 270});
  AddTileCases(cases);
  return cases;
}

// A node and its gradient: calls, arrays and requests.
class Node {
 public:
  Node(const Case& test, DType dtype) : test_(test), dtype_(dtype) {
    AttrMap attrs = {{"mode", test.mode},
                     {"num_layers", absl::StrCat(test.layers)},
                     {"bidirectional", test.bidirectional ? "True" : "False"},
                     {"state_size", absl::StrCat(test.hidden)},
                     {"state_outputs", "True"}};
    attrs.insert(test.more.begin(), test.more.end());
    const bool packed = test.form == RNNForm::kPacked;
    forward_.kernel = packed ? "RNN" : "_rnn_layer";
    backward_.kernel = packed ? "_backward_RNN" : "_backward_rnn_layer";
    forward_.call = *MakeOpCall(forward_.kernel, attrs, 1);
    backward_.call = *MakeOpCall(backward_.kernel, attrs, 1);
    const RNNParam& p = param();
    const int64_t rows = RNNNumGates(p.mode) * p.state_size;
    const int64_t states = p.num_layers * RNNNumDirections(p);
    std::vector<Shape> shapes = {Shape{test.steps, test.batch, test.input}};
    if (packed) {
      shapes.push_back({RNNParameterSize(p, test.input)});
    } else {
      shapes.insert(shapes.end(), {{rows, test.input}, {rows}, {rows, p.state_size}, {rows}});
    }
    const Shape state =
        packed ? Shape{states, test.batch, p.state_size} : Shape{test.batch, p.state_size};
    const int num_states = RNNNumStates(p);
    for (int i = 0; i < num_states; ++i) shapes.push_back(state);
    for (const Shape& shape : shapes) forward_.inputs.push_back(Random(shape, 0.6));
    for (const Shape& shape : shapes) backward_.outputs.push_back(Random(shape, 2));
    if (p.use_sequence_length) {
      NDArray lengths = *NDArray::Empty({test.batch}, DType::kInt32);
      const int32_t values[] = {4, 0, 2};
      for (int64_t i = 0; i < test.batch; ++i) {
        static_cast<int32_t*>(lengths.raw_data())[i] = values[i % 3];
      }
      forward_.inputs.push_back(lengths);
    }
    forward_.outputs.push_back(
        Random({test.steps, test.batch, RNNNumDirections(p) * p.state_size}, 1));
    for (int i = 0; i < num_states; ++i) forward_.outputs.push_back(Random(state, 1));
    num_visible_ = forward_.outputs.size();
    for (size_t i = 0; i < num_visible_; ++i) {
      backward_.inputs.push_back(Random(forward_.outputs[i].shape(), 1));
    }
    forward_.outputs.push_back(Random({RNNReserve(p, test.steps, test.batch).size()}, 1));
  }

  const RNNParam& param() const { return forward_.call.param<RNNParam>(); }
  KernelRun& forward() { return forward_; }

  // Returns the run of the gradient, from the results of the forward pass, whose last array is the
  // reserve.
  KernelRun Backward(const std::vector<NDArray>& results, const NDArray& output) const {
    KernelRun run = backward_;
    run.is_train = forward_.is_train;
    run.inputs.insert(run.inputs.end(), forward_.inputs.begin(), forward_.inputs.end());
    run.inputs.push_back(output);
    run.inputs.push_back(results.back());
    return run;
  }

  // Returns a bound on the roundings of a result. The longest path has two sums and the cell's
  // functions for each step, and for a weight's gradient the sum over all rows. Some functions have
  // two or three roundings.
  double Roundings() const {
    const double step = static_cast<double>(
        4 * (test_.input + RNNNumDirections(param()) * test_.hidden + test_.hidden) + 40);
    return step * static_cast<double>((test_.steps + 1) * test_.layers) +
           static_cast<double>(test_.steps * test_.batch);
  }

 private:
  NDArray Random(const Shape& shape, double magnitude) {
    return RandomArray(shape, dtype_, magnitude, ++seed_);
  }

  const Case& test_;
  const DType dtype_;
  uint64_t seed_ = 0;
  KernelRun forward_, backward_;
  size_t num_visible_ = 0;
};

// The results of one run on each device.
struct Results {
  std::vector<NDArray> cpu, gpu;
};

Results ExpectEqualRuns(const KernelRun& on_cpu, const KernelRun& on_gpu, double roundings,
                        size_t first, size_t end, const std::string& what) {
  const auto expected = RunKernelOn(Context::Cpu(0), on_cpu);
  const auto actual = RunKernelOn(Context::Gpu(0), on_gpu);
  EXPECT_TRUE(expected.ok()) << what << ": " << expected.status();
  EXPECT_TRUE(actual.ok()) << what << ": " << actual.status();
  if (!expected.ok() || !actual.ok()) return {};
  for (size_t i = first; i < end; ++i) {
    ExpectClose((*actual)[i], (*expected)[i], roundings, absl::StrCat(what, " array ", i));
  }
  return {*expected, *actual};
}

Results ExpectEqualRuns(const KernelRun& run, double roundings, size_t first, size_t end,
                        const std::string& what) {
  return ExpectEqualRuns(run, run, roundings, first, end, what);
}

// Dropout masks are bytes and must be equal.
void ExpectEqualMasks(const RNNReserve& reserve, const RNNParam& param, const NDArray& actual,
                      const NDArray& expected, int64_t bytes, const std::string& what) {
  for (int layer = 0; layer + 1 < param.num_layers; ++layer) {
    const int64_t at = reserve.mask(layer) * SizeOf(expected.dtype());
    EXPECT_EQ(std::memcmp(static_cast<const char*>(actual.raw_data()) + at,
                          static_cast<const char*>(expected.raw_data()) + at, bytes),
              0)
        << what << " mask of layer " << layer;
  }
}

TEST(RnnCudaTest, AllIsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const Case& test : Cases()) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
      for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
        const std::string what =
            absl::StrCat(test.name, " of ", DTypeName(dtype), ", request ", static_cast<int>(req));
        SCOPED_TRACE(what);
        Node node(test, dtype);
        KernelRun& forward = node.forward();
        forward.is_train = true;
        // The planner requests the reserve with kWrite or kNull only.
        forward.reqs.assign(forward.outputs.size(), req);
        forward.reqs.back() = WriteReq::kWrite;
        const size_t first = forward.inputs.size();
        const size_t end = first + forward.outputs.size();
        const Results kept = ExpectEqualRuns(forward, node.Roundings(), first, end - 1, what);
        if (kept.cpu.empty()) return;
        const bool has_lengths = node.param().use_sequence_length;
        if (node.param().p > 0) {
          ExpectEqualMasks(RNNReserve(node.param(), test.steps, test.batch), node.param(),
                           kept.gpu.back(), kept.cpu.back(),
                           test.steps * test.batch * 2 * test.hidden, what);
        } else if (!has_lengths) {
          ExpectClose(kept.gpu.back(), kept.cpu.back(), node.Roundings(), what + " reserve");
        }
        // Without the reserve the outputs are the same.
        forward.reqs.back() = WriteReq::kNull;
        ExpectEqualRuns(forward, node.Roundings(), first, end - 1, what + " without reserve");

        // The gradient reads the output itself, not the sum that kAdd computes.
        forward.reqs.assign(forward.outputs.size(), WriteReq::kWrite);
        const NDArray output = (*RunKernelOn(Context::Cpu(0), forward))[first];
        KernelRun on_cpu = node.Backward(kept.cpu, output);
        // With lengths each device has its own layout of the reserve; otherwise both use the CPU's.
        KernelRun on_gpu = node.Backward(has_lengths ? kept.gpu : kept.cpu, output);
        on_cpu.reqs.assign(on_cpu.outputs.size(), req);
        on_gpu.reqs = on_cpu.reqs;
        ExpectEqualRuns(on_cpu, on_gpu, 8 * node.Roundings(), on_cpu.inputs.size(),
                        on_cpu.inputs.size() + on_cpu.outputs.size(), what + " gradients");
      }
    }
  }
}

// Requesting one array alone gives the same result as requesting all.
TEST(RnnCudaTest, EachRequestAlone) {
  COOPER_REQUIRE_GPU();
  for (const RNNForm form : {RNNForm::kPacked, RNNForm::kLayer}) {
    for (const char* mode : {"lstm", "gru"}) {
      const Case test = {.name = "alone", .form = form, .mode = mode};
      Node node(test, DType::kFloat32);
      KernelRun& forward = node.forward();
      const size_t first = forward.inputs.size();
      for (size_t asked = 0; asked < forward.outputs.size(); ++asked) {
        forward.reqs.assign(forward.outputs.size(), WriteReq::kNull);
        forward.reqs[asked] = WriteReq::kWrite;
        ExpectEqualRuns(forward, node.Roundings(), first, first + forward.outputs.size(),
                        absl::StrCat(mode, " output ", asked));
      }
      forward.reqs.assign(forward.outputs.size(), WriteReq::kWrite);
      const std::vector<NDArray> results = *RunKernelOn(Context::Cpu(0), forward);
      KernelRun backward = node.Backward(results, results[first]);
      for (size_t asked = 0; asked < backward.outputs.size(); ++asked) {
        backward.reqs.assign(backward.outputs.size(), WriteReq::kNull);
        backward.reqs[asked] = WriteReq::kAdd;
        ExpectEqualRuns(backward, 8 * node.Roundings(), backward.inputs.size(),
                        backward.inputs.size() + backward.outputs.size(),
                        absl::StrCat(mode, " gradient ", asked));
      }
    }
  }
}

TEST(RnnCudaTest, NamesWhatItDoesNotCompute) {
  COOPER_REQUIRE_GPU();
  const Case test = {.name = "projection", .more = {{"projection_size", "3"}}};
  Node node(test, DType::kFloat32);
  node.forward().reqs.assign(node.forward().outputs.size(), WriteReq::kWrite);
  EXPECT_THAT(
      RunKernelOn(Context::Gpu(0), node.forward()),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("no gpu kernel for projection_size 3")));
}

}  // namespace
}  // namespace cooper
