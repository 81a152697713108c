// Measures single kernels at the sizes of a language model (32 sentences of 60 words, vocabulary
// 10000, 650 units) and of a small image network. items_per_second counts output elements.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "executor/program/kernel.h"
#include "glog/logging.h"
#include "ndarray/random/random.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

// A kernel with arrays of its own.
class BoundKernel {
 public:
  BoundKernel(const std::string& op, AttrMap attrs, const std::vector<Shape>& inputs,
              const std::vector<Shape>& outputs) {
    auto schema = FindOp(op);
    CHECK(schema.ok()) << schema.status();
    call_.op = *schema;
    call_.attrs = std::move(attrs);
    auto params = (*schema)->params()->Parse(call_.attrs);
    CHECK(params.ok()) << params.status();
    call_.params = *params;
    for (const Shape& shape : inputs) inputs_.push_back(MakeArray(shape));
    for (const Shape& shape : outputs) outputs_.push_back(MakeArray(shape));
    reqs_.assign(outputs_.size(), WriteReq::kWrite);
    auto kernel = FindKernel(op, DeviceType::kCpu);
    CHECK(kernel.ok()) << kernel.status();
    kernel_ = *kernel;
    if (kernel_->prepare != nullptr) {
      auto prepared =
          kernel_->prepare({.call = call_, .inputs = inputs_, .outputs = outputs_, .reqs = reqs_});
      CHECK(prepared.ok()) << prepared.status();
      prepared_ = *std::move(prepared);
      workspace_.resize(prepared_.workspace_bytes + 64);
    }
  }

  float* input(int i) { return inputs_[i].as<float>(); }
  // Fills an input with whole numbers in [0, end).
  void FillIndices(int i, int64_t end) {
    for (int64_t j = 0; j < inputs_[i].size(); ++j) {
      input(i)[j] = static_cast<float>(j * 7919 % end);
    }
  }

  void Run(benchmark::State& state) {
    void* workspace = workspace_.data();
    size_t space = workspace_.size();
    if (space > 0) std::align(64, 1, workspace, space);
    for (auto _ : state) {
      const absl::Status status = kernel_->run({.call = call_,
                                                .inputs = inputs_,
                                                .outputs = outputs_,
                                                .reqs = reqs_,
                                                .workspace = workspace,
                                                .state = prepared_.state.get(),
                                                .is_train = true});
      CHECK(status.ok()) << status;
    }
    state.SetItemsProcessed(state.iterations() * outputs_[0].size());
  }

 private:
  ArrayView MakeArray(const Shape& shape) {
    storage_.push_back(std::vector<float>(shape.num_elements() + 16));
    RandomGenerator random(storage_.size());
    for (float& x : storage_.back()) x = static_cast<float>(random.NextNormal());
    return {storage_.back().data(), shape, DType::kFloat32};
  }

  OpCall call_;
  std::vector<std::vector<float>> storage_;
  std::vector<ArrayView> inputs_, outputs_;
  std::vector<WriteReq> reqs_;
  std::vector<char> workspace_;
  const Kernel* kernel_ = nullptr;
  Prepared prepared_;
};

const Shape kWords = {1920, 10000};

void BM_SoftmaxOutput(benchmark::State& state) {
  BoundKernel kernel("SoftmaxOutput", {}, {kWords, {1920}}, {kWords});
  kernel.Run(state);
}

// range(0): percent of the labels that are ignored.
void BM_SoftmaxOutputBackward(benchmark::State& state) {
  BoundKernel kernel("_backward_SoftmaxOutput",
                     {{"use_ignore", "True"}, {"ignore_label", "0"}, {"grad_scale", "0.5"}},
                     {{1920}, kWords}, {kWords});
  for (int64_t i = 0; i < 1920; ++i) kernel.input(0)[i] = i % 100 < state.range(0) ? 0.0f : 7.0f;
  kernel.Run(state);
}

void BM_LogSoftmax(benchmark::State& state) {
  BoundKernel kernel("log_softmax", {}, {kWords}, {kWords});
  kernel.Run(state);
}

const AttrMap kTable = {{"input_dim", "10000"}, {"output_dim", "650"}};

void BM_Embedding(benchmark::State& state) {
  BoundKernel kernel("Embedding", kTable, {{32, 60}, {10000, 650}}, {{32, 60, 650}});
  kernel.FillIndices(0, 10000);
  kernel.Run(state);
}

void BM_EmbeddingBackward(benchmark::State& state) {
  BoundKernel kernel("_backward_Embedding", kTable, {{32, 60, 650}, {32, 60}}, {{10000, 650}});
  kernel.FillIndices(1, 10000);
  kernel.Run(state);
}

void BM_Dropout(benchmark::State& state) {
  BoundKernel kernel("Dropout", {{"p", "0.5"}}, {{1920, 650}}, {{1920, 650}, {1920, 650}});
  kernel.Run(state);
}

void BM_LayerNorm(benchmark::State& state) {
  BoundKernel kernel("LayerNorm", {}, {{1920, 650}, {650}, {650}},
                     {{1920, 650}, {1920, 1}, {1920, 1}});
  kernel.Run(state);
}

const Shape kImages = {16, 32, 28, 28};

void BM_Convolution(benchmark::State& state) {
  BoundKernel kernel("Convolution", {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "64"}},
                     {kImages, {64, 32, 3, 3}, {64}}, {{16, 64, 28, 28}});
  kernel.Run(state);
}

void BM_ConvolutionBackward(benchmark::State& state) {
  BoundKernel kernel("_backward_Convolution",
                     {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "64"}},
                     {{16, 64, 28, 28}, kImages, {64, 32, 3, 3}}, {kImages, {64, 32, 3, 3}, {64}});
  kernel.Run(state);
}

void BM_MaxPooling(benchmark::State& state) {
  BoundKernel kernel("Pooling", {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}}, {kImages},
                     {{16, 32, 14, 14}});
  kernel.Run(state);
}

void BM_BatchNorm(benchmark::State& state) {
  BoundKernel kernel("BatchNorm", {}, {kImages, {32}, {32}, {32}, {32}}, {kImages, {32}, {32}});
  kernel.Run(state);
}

BENCHMARK(BM_SoftmaxOutput)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_SoftmaxOutputBackward)->Arg(0)->Arg(50)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_LogSoftmax)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_Embedding)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_EmbeddingBackward)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_Dropout)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_LayerNorm)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_Convolution)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_ConvolutionBackward)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_MaxPooling)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_BatchNorm)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace cooper
