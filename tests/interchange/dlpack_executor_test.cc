// Executors on arrays that another library owns: outputs and gradients have to be those of an
// executor with arrays of its own, bit for bit.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "gtest/gtest.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/dlpack/dlpack.h"
#include "ndarray/dlpack/dlpack_layout.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"

namespace cooper {
namespace {

// Convolution, pooling, normalisation and products, whose kernels are oneDNN's on a CPU.
Symbol Network() {
  const Symbol data = Symbol::Variable("data");
  const Symbol conv = op::Convolution(data, {.kernel = {3, 3}, .num_filter = 8, .name = "conv"});
  const Symbol norm = op::BatchNorm(conv, {.fix_gamma = false, .name = "norm"});
  const Symbol act = op::Activation(norm, {.act_type = "tanh", .name = "act"});
  const Symbol pool = op::Pooling(act, {.kernel = {2, 2}, .stride = {2, 2}, .name = "pool"});
  const Symbol fc = op::FullyConnected(pool, {.num_hidden = 10, .name = "fc"});
  return op::SoftmaxOutput(fc, {.name = "softmax"});
}

// The other library. Its tensors begin `skip` bytes behind what the memory allocator gives.
class Owner {
 public:
  explicit Owner(int64_t skip) : skip_(skip) {}

  // Returns an array on a tensor with a copy of the elements.
  absl::StatusOr<NDArray> Lend(const NDArray& array) {
    Tensor& tensor = tensors_.emplace_back();
    const auto elements = static_cast<const char*>(array.raw_data());
    tensor.bytes.resize(static_cast<size_t>(skip_), 0);
    tensor.bytes.insert(tensor.bytes.end(), elements, elements + array.size_bytes());
    tensor.shape.assign(array.shape().begin(), array.shape().end());
    tensor.managed = {
        .tensor = {.data = tensor.bytes.data(),
                   .device = {dlpack::kCpu, 0},
                   .ndim = array.shape().rank(),
                   .dtype = {dlpack::kFloat, 32, 1},
                   .shape = tensor.shape.data(),
                   .strides = nullptr,
                   .byte_offset = static_cast<uint64_t>(skip_)},
        .manager_ctx = &live_,
        .deleter = [](dlpack::ManagedTensor* self) { --*static_cast<int*>(self->manager_ctx); }};
    COOPER_ASSIGN_OR_RETURN(NDArray lent,
                            FromDLPack(reinterpret_cast<DLManagedTensor*>(&tensor.managed)));
    ++live_;
    return lent;
  }

  // Returns the number of tensors whose deleter has not been called.
  int live() const { return live_; }

 private:
  struct Tensor {
    std::vector<char> bytes;
    std::vector<int64_t> shape;
    dlpack::ManagedTensor managed;
  };

  const int64_t skip_;
  std::deque<Tensor> tensors_;
  int live_ = 0;
};

// Returns an array of small numbers that repeat with a period of `period`.
absl::StatusOr<NDArray> Pattern(const Shape& shape, int period) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    values.push_back(static_cast<float>(i * 7 % period) / static_cast<float>(period) - 0.4f);
  }
  return NDArray::FromVector(shape, values);
}

// Results of one step, by name.
using Results = std::map<std::string, std::vector<float>>;

// Runs a step with every array, those of gradients and auxiliary states too, from `array`.
template <typename ArrayFn>
absl::StatusOr<Results> Step(const ArrayFn& array) {
  const Symbol net = Network();
  const KnownShapes shapes = {{"data", {2, 3, 12, 12}}, {"softmax_label", {2}}};
  COOPER_ASSIGN_OR_RETURN(const auto probe, Executor::SimpleBind(net, {.shapes = shapes}));
  BindOptions options;
  int period = 11;
  for (const auto& [name, own] : probe->arg_dict()) {
    COOPER_ASSIGN_OR_RETURN(const NDArray values, Pattern(own.shape(), period += 2));
    const bool is_label = name == "softmax_label";  // class 0, without a gradient
    COOPER_ASSIGN_OR_RETURN(options.args[name], array(is_label ? own : values));
    if (is_label) continue;
    COOPER_ASSIGN_OR_RETURN(options.grads[name], array(own));
  }
  for (const auto& [name, own] : probe->aux_dict()) {
    COOPER_ASSIGN_OR_RETURN(options.auxs[name], array(own));
  }
  COOPER_ASSIGN_OR_RETURN(const auto executor, Executor::Bind(net, options));
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/true));
  Results results;
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor->outputs());
  COOPER_ASSIGN_OR_RETURN(results["output"], outputs[0].template ToVector<float>());
  COOPER_RETURN_IF_ERROR(executor->Backward());
  for (const auto& [name, gradient] : options.grads) {
    COOPER_ASSIGN_OR_RETURN(results["grad:" + name], gradient.template ToVector<float>());
  }
  for (const auto& [name, state] : options.auxs) {
    COOPER_ASSIGN_OR_RETURN(results["aux:" + name], state.template ToVector<float>());
  }
  return results;
}

TEST(DLPackExecutorTest, ComputesTheSameOnArraysOfAnotherLibrary) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Results own, Step([](const NDArray& a) { return a.Copy(); }));
  ASSERT_GT(own.size(), 8u);
  for (const auto& [name, values] : own) {
    EXPECT_NE(values, std::vector<float>(values.size(), values[0])) << name << " is no test";
  }
  // Memory that is aligned as cooper's is, only to an element, and to 16 bytes but not to 64.
  for (const int64_t skip : {0, 4, 12, 16}) {
    SCOPED_TRACE(skip);
    Owner owner(skip);
    COOPER_ASSERT_OK_AND_ASSIGN(const Results lent,
                                Step([&](const NDArray& a) { return owner.Lend(a); }));
    EXPECT_EQ(lent, own);
    EXPECT_EQ(owner.live(), 0) << "nothing holds the tensors after the executor";
  }
}

}  // namespace
}  // namespace cooper
