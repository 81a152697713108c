// Compares programs on gpu(0) with the same programs on cpu(0). Behaviour that needs no GPU, such
// as errors of binding, is tested elsewhere.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "ndarray/random/random.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

using Values = std::map<std::string, std::vector<float>>;

std::vector<float> Normals(int64_t count, uint64_t seed) {
  RandomGenerator random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(random.NextNormal() * 0.5);
  return values;
}

void Fill(const NDArray& array, uint64_t seed) {
  COOPER_EXPECT_OK(array.CopyFrom(
      *NDArray::FromVector<float>(array.shape(), Normals(array.shape().num_elements(), seed))));
}

// Returns outputs ("output 0") and gradients ("data") after two training steps. In the second step
// the gradients and the arena hold the values of the first.
Values Train(const Symbol& symbol, const BindOptions& options) {
  Values values;
  auto executor = Executor::SimpleBind(symbol, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!executor.ok()) return values;
  uint64_t seed = 1;
  for (const auto& [name, array] : (*executor)->arg_dict()) Fill(array, seed++);
  for (const auto& [name, array] : (*executor)->grad_dict()) Fill(array, seed++);
  std::vector<NDArray> heads;
  for (const Shape& shape : (*executor)->output_shapes()) {
    heads.push_back(*NDArray::Empty(shape, DType::kFloat32, options.context));
    Fill(heads.back(), seed++);
  }
  for (int step = 0; step < 2; ++step) {
    COOPER_EXPECT_OK((*executor)->Forward(/*is_train=*/true));
    if ((*executor)->grad_dict().empty()) continue;
    COOPER_EXPECT_OK((*executor)->Backward(heads));
  }
  const auto outputs = *(*executor)->outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].context(), options.context);
    values["output " + std::to_string(i)] = *outputs[i].ToVector<float>();
  }
  for (const auto& [name, array] : (*executor)->grad_dict()) {
    values[name] = *array.ToVector<float>();
  }
  return values;
}

// Expects equal results on both devices, within the rounding errors of sums of at most
// `longest_sum` terms of elements below 8.
void ExpectEqualOnBoth(const Symbol& symbol, BindOptions options, int64_t longest_sum) {
  options.context = Context::Cpu(0);
  const Values expected = Train(symbol, options);
  options.context = Context::Gpu(0);
  const Values got = Train(symbol, options);
  const float tolerance = 1.2e-7f * 8 * static_cast<float>(longest_sum);
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, array] : expected) {
    ASSERT_TRUE(got.contains(name)) << name;
    ASSERT_EQ(got.at(name).size(), array.size()) << name;
    for (size_t i = 0; i < array.size(); ++i) {
      ASSERT_NEAR(got.at(name)[i], array[i], tolerance) << name << ", element " << i;
    }
  }
}

struct NetCase {
  const char* name;
  const char* act_type;
  std::vector<int64_t> data;
  int64_t num_hidden;
  const char* no_bias = "False";
  const char* flatten = "True";
  WriteReq grad_req = WriteReq::kWrite;
  std::map<std::string, WriteReq> grad_reqs = {};
  std::set<std::string> disabled_passes = {};

  friend std::ostream& operator<<(std::ostream& os, const NetCase& c) { return os << c.name; }
};

// Returns two layers, each a FullyConnected and an activation.
Symbol TwoLayers(const NetCase& c) {
  Symbol x = Symbol::Variable("data");
  for (const char* layer : {"1", "2"}) {
    x = Op("FullyConnected", {.name = std::string("fc") + layer,
                              .inputs = {x},
                              .attrs = {{"num_hidden", std::to_string(c.num_hidden)},
                                        {"no_bias", c.no_bias},
                                        {"flatten", c.flatten}}});
    x = Op(
        "Activation",
        {.name = std::string("act") + layer, .inputs = {x}, .attrs = {{"act_type", c.act_type}}});
  }
  return x;
}

class TwoLayersTest : public ::testing::TestWithParam<NetCase> {};

TEST_P(TwoLayersTest, EqualsTheCpus) {
  COOPER_REQUIRE_GPU();
  const NetCase& c = GetParam();
  // The product's view of the data: (rows, columns).
  const auto split = c.data.begin() + (c.flatten == std::string("True") ? 1 : c.data.size() - 1);
  const int64_t rows = std::accumulate(c.data.begin(), split, int64_t{1}, std::multiplies<>());
  const int64_t columns = std::accumulate(split, c.data.end(), int64_t{1}, std::multiplies<>());
  ExpectEqualOnBoth(TwoLayers(c),
                    {.shapes = {{"data", PartialShape(c.data)}},
                     .grad_req = c.grad_req,
                     .grad_reqs = c.grad_reqs,
                     .disabled_passes = c.disabled_passes},
                    std::max({rows, columns, c.num_hidden}));
}

const NetCase kNetCases[] = {
    {"Tanh", "tanh", {4, 6}, 5},
    {"Relu", "relu", {4, 6}, 5},
    {"Sigmoid", "sigmoid", {4, 6}, 5},
    {"SoftRelu", "softrelu", {4, 6}, 5},
    {"SoftSign", "softsign", {4, 6}, 5},
    {"WithoutBias", "tanh", {4, 6}, 5, "True"},
    {"Flattens", "tanh", {4, 2, 3}, 5},
    {"LastAxisAlone", "tanh", {4, 2, 3}, 5, "False", "False"},
    {"One", "tanh", {1, 1}, 1},
    {"NoRows", "tanh", {0, 6}, 5},
    // More columns than a block sums, more rows than its lanes, more elements than a grid has.
    {"Large", "sigmoid", {1030, 70}, 1050},
    {"Adds", "tanh", {4, 6}, 5, "False", "True", WriteReq::kAdd},
    {"NullForSome",
     "tanh",
     {4, 6},
     5,
     "False",
     "True",
     WriteReq::kWrite,
     {{"data", WriteReq::kNull}, {"fc1_weight", WriteReq::kNull}, {"fc2_bias", WriteReq::kNull}}},
    {"NotInPlace", "tanh", {4, 6}, 5, "False", "True", WriteReq::kWrite, {}, {"in_place"}},
};

INSTANTIATE_TEST_SUITE_P(All, TwoLayersTest, ::testing::ValuesIn(kNetCases),
                         [](const auto& info) { return info.param.name; });

// The gradient of a weight that layers share is a sum. With the pass `accumulate` each product adds
// to it; without, the results of the products are added.
TEST(ExecutorCudaTest, SharedWeightsAddUp) {
  COOPER_REQUIRE_GPU();
  const Symbol weight = Symbol::Variable("weight");
  Symbol x = Symbol::Variable("data");
  for (const char* name : {"fc1", "fc2", "fc3"}) {
    x = Op(
        "FullyConnected",
        {.name = name, .inputs = {x, weight}, .attrs = {{"num_hidden", "6"}, {"no_bias", "True"}}});
  }
  for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    for (const std::set<std::string>& disabled : {std::set<std::string>{}, {"accumulate"}}) {
      ExpectEqualOnBoth(
          x, {.shapes = {{"data", {4, 6}}}, .grad_req = req, .disabled_passes = disabled}, 18);
    }
  }
}

// The head gradient of an output that is an argument is copied, and added to the gradient that the
// layer computes.
TEST(ExecutorCudaTest, ArgumentsCanBeOutputs) {
  COOPER_REQUIRE_GPU();
  const Symbol data = Symbol::Variable("data");
  const Symbol layer =
      Op("FullyConnected", {.name = "fc", .inputs = {data}, .attrs = {{"num_hidden", "3"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol both, Symbol::Group({layer, data}));
  for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    ExpectEqualOnBoth(both, {.shapes = {{"data", {4, 6}}}, .grad_req = req}, 6);
    ExpectEqualOnBoth(data, {.shapes = {{"data", {4, 6}}}, .grad_req = req}, 1);
  }
}

TEST(ExecutorCudaTest, SumsCopiesAndZeros) {
  COOPER_REQUIRE_GPU();
  const Symbol a = Symbol::Variable("a");
  const Symbol b = Symbol::Variable("b");
  const BindOptions options{.shapes = {{"a", {5, 7}}}, .grad_req = WriteReq::kNull};
  ExpectEqualOnBoth(Op("_grad_sum", {.inputs = {a, b, a}}), options, 3);
  ExpectEqualOnBoth(Op("_copy", {.inputs = {a}}), options, 1);
  // The sum is computed in the memory of its first term, which is also its last.
  const Symbol copy = Op("Activation", {.inputs = {a}, .attrs = {{"act_type", "tanh"}}});
  ExpectEqualOnBoth(Op("_grad_sum", {.inputs = {copy, b, copy}}), options, 3);
  ExpectEqualOnBoth(Op("_zeros", {.attrs = {{"shape", "(5, 7)"}}}), {}, 1);
}

ArrayView ViewOf(const NDArray& array) {
  return {.data = array.raw_data(), .shape = array.shape(), .dtype = array.dtype()};
}

// Runs a kernel with `req` for every output and returns the outputs. All outputs hold ones before
// the run.
std::vector<std::vector<float>> RunKernel(const std::string& op, const OpCall& call,
                                          const std::vector<Shape>& input_shapes,
                                          const std::vector<Shape>& output_shapes, WriteReq req) {
  const Context gpu = Context::Gpu(0);
  std::vector<NDArray> arrays;
  std::vector<ArrayView> inputs, outputs;
  for (const Shape& shape : input_shapes) {
    arrays.push_back(*NDArray::Empty(shape, DType::kFloat32, gpu));
    Fill(arrays.back(), arrays.size());
    inputs.push_back(ViewOf(arrays.back()));
  }
  for (const Shape& shape : output_shapes) {
    arrays.push_back(*NDArray::Full(shape, 1, DType::kFloat32, gpu));
    outputs.push_back(ViewOf(arrays.back()));
  }
  const std::vector<WriteReq> reqs(outputs.size(), req);
  const Kernel& kernel = **FindKernel(op, DeviceType::kGpu);
  Prepared prepared;
  if (kernel.prepare != nullptr) {
    auto result = kernel.prepare(
        {.call = call, .inputs = inputs, .outputs = outputs, .reqs = reqs, .context = gpu});
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return {};
    prepared = *std::move(result);
  }
  KernelContext context{.call = call};
  context.inputs = inputs;
  context.outputs = outputs;
  context.reqs = reqs;
  context.state = prepared.state.get();
  context.context = gpu;
  COOPER_EXPECT_OK(kernel.run(context));
  std::vector<std::vector<float>> values;
  for (size_t i = inputs.size(); i < arrays.size(); ++i) {
    values.push_back(*arrays[i].ToVector<float>());
  }
  return values;
}

// Tests all requests directly, because executors use some of them with some kernels only.
TEST(ExecutorCudaTest, KernelsHonourEveryRequest) {
  COOPER_REQUIRE_GPU();
  const Symbol data = Symbol::Variable("data");
  const Symbol layer = Op("FullyConnected", {.inputs = {data}, .attrs = {{"num_hidden", "3"}}});
  const Symbol activation = Op("Activation", {.inputs = {data}, .attrs = {{"act_type", "tanh"}}});
  const Symbol zeros = Op("_zeros", {.attrs = {{"shape", "(4, 5)"}}});
  const struct {
    const char* op;
    const Symbol& symbol;  // has the parameters of the kernel
    std::vector<Shape> inputs, outputs;
  } kCases[] = {
      {"FullyConnected", layer, {{4, 5}, {3, 5}, {3}}, {{4, 3}}},
      {"_backward_FullyConnected", layer, {{4, 3}, {4, 5}, {3, 5}}, {{4, 5}, {3, 5}, {3}}},
      {"Activation", activation, {{4, 5}}, {{4, 5}}},
      {"_backward_Activation", activation, {{4, 5}, {4, 5}}, {{4, 5}}},
      {"_grad_sum", activation, {{4, 5}, {4, 5}, {4, 5}}, {{4, 5}}},
      {"_copy", activation, {{4, 5}}, {{4, 5}}},
      {"_zeros", zeros, {}, {{4, 5}}},
  };
  for (const auto& [op, symbol, inputs, outputs] : kCases) {
    SCOPED_TRACE(op);
    const OpCall& call = symbol.outputs()[0].node->call();
    const auto written = RunKernel(op, call, inputs, outputs, WriteReq::kWrite);
    const auto added = RunKernel(op, call, inputs, outputs, WriteReq::kAdd);
    const auto left = RunKernel(op, call, inputs, outputs, WriteReq::kNull);
    ASSERT_EQ(written.size(), outputs.size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      EXPECT_THAT(left[k], Each(1.0f)) << "output " << k;
      EXPECT_THAT(written[k], Not(Contains(1.0f))) << "output " << k;
      std::vector<float> expected = written[k];
      for (float& v : expected) v += 1;
      EXPECT_THAT(added[k], Pointwise(FloatNear(1e-5f), expected)) << "output " << k;
    }
  }
}

TEST(ExecutorCudaTest, ArgumentsAreCheckedForTheirDevice) {
  COOPER_REQUIRE_GPU();
  const Symbol net = TwoLayers(kNetCases[0]);
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray data, NDArray::Zeros({4, 6}));
  EXPECT_THAT(
      Executor::SimpleBind(net, {.context = Context::Gpu(0), .args = {{"data", data}}}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("gpu(0)")));
}

TEST(ExecutorCudaTest, BindingSaysThatThereIsNoGpu) {
  if (NoGpuReason().empty()) GTEST_SKIP() << "there is a GPU";
  EXPECT_THAT(Executor::SimpleBind(TwoLayers(kNetCases[0]),
                                   {.context = Context::Gpu(0), .shapes = {{"data", {4, 6}}}})
                  .status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("there are 0 such devices")));
}

TEST(ExecutorCudaTest, KernelsRefuseOtherDtypesWhenBound) {
  const Symbol data = Symbol::Variable("data");
  const std::map<std::string, OpArgs> ops = {
      {"FullyConnected", {.inputs = {data}, .attrs = {{"num_hidden", "3"}}}},
      {"_contrib_quadratic", {.inputs = {data}}}};
  for (const auto& [op, args] : ops) {
    SCOPED_TRACE(op);
    const Symbol symbol = Op(op.c_str(), args);
    COOPER_ASSERT_OK_AND_ASSIGN(const Kernel* kernel, FindKernel(op, DeviceType::kGpu));
    const std::vector<ArrayView> views = {{.shape = {3, 3}, .dtype = DType::kInt32}};
    const std::vector<WriteReq> reqs = {WriteReq::kWrite};
    EXPECT_THAT(PrepareKernel(*kernel, {.call = symbol.outputs()[0].node->call(),
                                        .inputs = views,
                                        .outputs = views,
                                        .reqs = reqs,
                                        .context = Context::Gpu(0)}),
                StatusIs(absl::StatusCode::kUnimplemented,
                         AllOf(HasSubstr("no gpu kernel for input"), HasSubstr("int32"))));
  }
}

TEST(ExecutorCudaTest, GradientsHaveKernels) {
  for (const char* op : {"_backward_FullyConnected", "_backward_Activation", "_zeros"}) {
    COOPER_EXPECT_OK(FindKernel(op, DeviceType::kGpu));
  }
  EXPECT_THAT(FindKernel("_blocked_batch_norm", DeviceType::kGpu),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("_blocked_batch_norm for gpu")));
}

}  // namespace
}  // namespace cooper
