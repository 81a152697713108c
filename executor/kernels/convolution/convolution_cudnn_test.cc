// Compares Convolution, Deconvolution and their gradients by cuDNN on gpu(0) with the same passes
// composed of im2col and cuBLAS's products, which convolution_cuda_test compares with cpu(0).

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/convolution_runs.h"
#include "executor/kernels/convolution/cudnn_convolution.h"
#include "executor/kernels/convolution/cudnn_handle.h"
#include "executor/kernels/convolution/cudnn_switch.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "executor/run/invoke.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/device_graphs.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

const Context kGpu = Context::Gpu(0);

const ConvolutionCase kCases[] = {
    {"Plain", "Convolution", {4, 16, 14, 14}, "kernel=(3,3) num_filter=32 pad=(1,1)"},
    {"First", "Convolution", {2, 3, 32, 32}, "kernel=(7,7) num_filter=16 stride=(2,2) pad=(3,3)"},
    {"OneByOne", "Convolution", {4, 32, 14, 14}, "kernel=(1,1) num_filter=64 no_bias=True"},
    {"OneByOneStrided", "Convolution", {4, 32, 14, 14}, "kernel=(1,1) num_filter=16 stride=(2,2)"},
    {"GapsInGroups",
     "Convolution",
     {3, 8, 10, 9},
     "kernel=(1,1) num_filter=6 stride=(3,2) num_group=2"},
    {"UpWithGaps",
     "Deconvolution",
     {2, 8, 4, 5},
     "kernel=(1,1) num_filter=6 stride=(2,1) adj=(1,0)"},
    {"OneDimension", "Convolution", {4, 16, 100}, "kernel=(3,) num_filter=24 stride=(2,) pad=(1,)"},
    {"ThreeDimensions",
     "Convolution",
     {2, 4, 6, 9, 8},
     "kernel=(3,2,3) num_filter=8 stride=(1,2,1) pad=(1,0,1) dilate=(2,1,1)"},
    {"Dilated", "Convolution", {2, 8, 20, 18}, "kernel=(3,3) num_filter=16 pad=(2,3) dilate=(2,3)"},
    {"Groups", "Convolution", {4, 32, 10, 10}, "kernel=(3,3) num_filter=48 num_group=4 pad=(1,1)"},
    {"EachChannelAlone",
     "Convolution",
     {4, 32, 10, 10},
     "kernel=(3,3) num_filter=32 num_group=32 pad=(1,1)"},
    {"Odd", "Convolution", {3, 5, 9, 7}, "kernel=(3,2) num_filter=7 stride=(2,3) pad=(2,1)"},
    {"Tuned",
     "Convolution",
     {4, 16, 14, 14},
     "kernel=(3,3) num_filter=32 pad=(1,1) cudnn_tune=fastest"},
    {"TunedInBounds",
     "Convolution",
     {2, 8, 20, 18},
     "kernel=(5,3) num_filter=16 cudnn_tune=limited_workspace"},
    {"Up", "Deconvolution", {2, 16, 7, 7}, "kernel=(4,4) num_filter=8 stride=(2,2) pad=(1,1)"},
    {"UpWithRest",
     "Deconvolution",
     {2, 8, 4, 3},
     "kernel=(3,3) num_filter=6 num_group=2 stride=(3,2) adj=(2,1) no_bias=False"},
};

class ConvolutionCudnnTest : public testing::Test {
 protected:
  void SetUp() override {
    COOPER_REQUIRE_GPU();
    if (const auto cudnn = Cudnn::Of(0); !cudnn.ok()) {
      GTEST_SKIP() << cudnn.status().message();
    }
    SetCudnnUse(CudnnUse::kAlways);
  }
  ~ConvolutionCudnnTest() override {
    SetCudnnUse(CudnnUse::kWhereFaster);
    SetDeviceGraphs(true);
  }
};

// Runs the kernel and returns its outputs only.
absl::StatusOr<std::vector<NDArray>> OutputsOf(const KernelRun& run) {
  COOPER_ASSIGN_OR_RETURN(std::vector<NDArray> arrays, RunKernelOn(kGpu, run));
  arrays.erase(arrays.begin(), arrays.begin() + static_cast<int64_t>(run.inputs.size()));
  return arrays;
}

// Returns the outputs of the composed passes, in float32 for 16-bit floats, which those passes do
// not support.
absl::StatusOr<std::vector<NDArray>> ComposedOutputsOf(KernelRun run) {
  for (auto* list : {&run.inputs, &run.outputs}) {
    for (NDArray& array : *list) {
      if (SizeOf(array.dtype()) == 2) {
        COOPER_ASSIGN_OR_RETURN(array, array.AsType(DType::kFloat32));
      }
    }
  }
  SetCudnnUse(CudnnUse::kNever);
  auto outputs = OutputsOf(run);
  SetCudnnUse(CudnnUse::kAlways);
  return outputs;
}

void Compare(const KernelRun& run, double roundings, const std::string& what) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto actual, OutputsOf(run));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, ComposedOutputsOf(run));
  for (size_t i = 0; i < expected.size(); ++i) {
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray rounded, expected[i].AsType(actual[i].dtype()));
    ExpectClose(actual[i], rounded, roundings, absl::StrCat(what, " output ", i));
  }
}

// Sums products of -1, 0 and 1, which are exact in all dtypes.
TEST_F(ConvolutionCudnnTest, BothWaysAreAlike) {
  constexpr double kMagnitude = 1.4;
  for (const ConvolutionCase& test : kCases) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
      for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
        const std::string what = Describe(test, dtype, req);
        // A bias's gradient is summed in another order. Sums of integers are still exact, except
        // for the last bit where bfloat16 cannot represent them.
        const double roundings = SizeOf(dtype) == 2 ? 1 : 0;
        Compare(ForwardRun(test, dtype, req, kMagnitude), roundings, what);
        KernelRun backward = BackwardRun(test, dtype, req, kMagnitude);
        Compare(backward, roundings, what + ", gradients");
        backward.reqs[0] = WriteReq::kNull;
        Compare(backward, roundings, what + ", gradient of the weight");
      }
    }
  }
}

// With TF32, which has 11 bits, the results would differ.
TEST_F(ConvolutionCudnnTest, Float32IsNotRounded) {
  KernelRun run = ForwardRun(kCases[0], DType::kFloat32, WriteReq::kWrite);
  for (NDArray& array : run.inputs) array = RandomArray(array.shape(), DType::kFloat32, 1, 7);
  Compare(run, 16 * 3 * 3 + 1, "forward");
  run = BackwardRun(kCases[0], DType::kFloat32, WriteReq::kWrite);
  for (NDArray& array : run.inputs) array = RandomArray(array.shape(), DType::kFloat32, 1, 7);
  run.reqs = {WriteReq::kWrite, WriteReq::kNull, WriteReq::kNull};
  Compare(run, 32 * 3 * 3, "gradient of the data");
  run.reqs = {WriteReq::kNull, WriteReq::kWrite, WriteReq::kNull};
  Compare(run, 4 * 14 * 14, "gradient of the weight");
}

TEST_F(ConvolutionCudnnTest, EachRunHasTheSameBits) {
  for (const ConvolutionCase& test : kCases) {
    for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
      KernelRun run = BackwardRun(test, dtype, WriteReq::kWrite);
      for (NDArray& array : run.inputs) array = RandomArray(array.shape(), dtype, 1, 9);
      COOPER_ASSERT_OK_AND_ASSIGN(const auto first, OutputsOf(run));
      for (int again = 0; again < 3; ++again) {
        COOPER_ASSERT_OK_AND_ASSIGN(const auto next, OutputsOf(run));
        for (size_t i = 0; i < first.size(); ++i) ExpectClose(next[i], first[i], 0, test.name);
      }
    }
  }
}

// Without plans the other tests would compare the composed passes with themselves.
TEST_F(ConvolutionCudnnTest, ThereArePlans) {
  COOPER_ASSERT_OK_AND_ASSIGN(Cudnn* const cudnn, Cudnn::Of(0));
  ConvolutionProduct p;
  p.batch = 4;
  p.groups = 1;
  p.filters = 32;
  p.g = {.channels = 16, .in = {1, 14, 14}, .out = {1, 14, 14}, .kernel = {1, 3, 3}};
  p.g.pad[1] = p.g.pad[2] = 1;
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
    for (ConvolutionPass pass : {ConvolutionPass::kForward, ConvolutionPass::kDataGradient,
                                 ConvolutionPass::kWeightGradient}) {
      COOPER_EXPECT_OK(cudnn
                           ->Plan(CudnnConvolution::Of(pass, dtype, p),
                                  {.max_workspace_bytes = int64_t{1} << 30})
                           .status());
    }
  }
}

// A slice may begin at any element, but plans for tensor cores read 16 bytes at a time.
TEST_F(ConvolutionCudnnTest, ArgumentsMayBeSlices) {
  const AttrMap attrs = {{"kernel", "(1, 1)"}, {"num_filter", "16"}, {"no_bias", "True"}};
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBfloat16}) {
    // One element precedes an image of 32 * 5 * 5 elements.
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray bytes,
                                Integers({1 + 32 * 25}, dtype, 1, 1.4).CopyTo(kGpu));
    COOPER_ASSERT_OK_AND_ASSIGN(NDArray slice, bytes.Slice(1, 1 + 32 * 25));
    COOPER_ASSERT_OK_AND_ASSIGN(slice, slice.Reshape({1, 32, 5, 5}));
    COOPER_ASSERT_OK_AND_ASSIGN(NDArray copy, NDArray::Empty({1, 32, 5, 5}, dtype, kGpu));
    COOPER_ASSERT_OK(copy.CopyFrom(slice));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray weight,
                                Integers({16, 32, 1, 1}, dtype, 2, 1.4).CopyTo(kGpu));
    std::vector<NDArray> results;
    for (const NDArray* data : {&slice, &copy}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray out, NDArray::Empty({1, 16, 5, 5}, dtype, kGpu));
      COOPER_ASSERT_OK(Invoke("Convolution", attrs, {data, &weight}, {&out}));
      COOPER_ASSERT_OK_AND_ASSIGN(results.emplace_back(), out.CopyTo(Context::Cpu()));
    }
    ExpectClose(results[0], results[1], 0, DTypeName(dtype));
  }
}

// Returns outputs and gradients of five steps; gradients accumulate.
std::vector<std::vector<float>> FiveSteps(const Symbol& symbol, const Shape& data, bool graphs) {
  SetDeviceGraphs(graphs);
  std::vector<std::vector<float>> results;
  auto executor = Executor::SimpleBind(
      symbol, {.context = kGpu, .shapes = {{"data", data}}, .grad_req = WriteReq::kAdd});
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!executor.ok()) return results;
  uint64_t seed = 1;
  for (const auto& [name, array] : (*executor)->arg_dict()) {
    COOPER_EXPECT_OK(array.CopyFrom(RandomArray(array.shape(), DType::kFloat32, 1, seed++)));
  }
  for (const std::string& name : (*executor)->grad_names()) {
    COOPER_EXPECT_OK((*executor)->grad(name).Fill(0));
  }
  std::vector<NDArray> heads;
  for (const Shape& shape : (*executor)->output_shapes()) {
    heads.push_back(*NDArray::Full(shape, 1, DType::kFloat32, kGpu));
  }
  for (int step = 0; step < 5; ++step) {
    COOPER_EXPECT_OK((*executor)->ForwardBackward(heads));
    results.push_back(*(*(*executor)->outputs())[0].ToVector<float>());
    for (const std::string& name : (*executor)->grad_names()) {
      results.push_back(*(*executor)->grad(name).ToVector<float>());
    }
  }
  EXPECT_EQ((*executor)->num_recorded(), graphs ? 1 : 0);
  return results;
}

TEST_F(ConvolutionCudnnTest, AGraphReplaysIt) {
  for (const ConvolutionCase& test : kCases) {
    SCOPED_TRACE(test.name);
    const OpArgs args{.name = "op", .inputs = {Symbol::Variable("data")}, .attrs = AttrsOf(test)};
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol symbol, Symbol::Create(test.op, args));
    EXPECT_EQ(FiveSteps(symbol, test.data, true), FiveSteps(symbol, test.data, false));
  }
}

// 16-bit floats have no kernel without cuDNN.
TEST(ConvolutionWithoutCudnnTest, SixteenBitsAreRefused) {
  COOPER_REQUIRE_GPU();
  ConvolutionCase test = kCases[0];
  test.attrs += " cudnn_off=True";
  EXPECT_THAT(RunKernelOn(kGpu, ForwardRun(test, DType::kFloat16, WriteReq::kWrite)),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("Convolution: no gpu kernel for float16 without cuDNN: cudnn_off "
                                 "is set")));
  COOPER_EXPECT_OK(RunKernelOn(kGpu, ForwardRun(test, DType::kFloat32, WriteReq::kWrite)).status());
}

}  // namespace
}  // namespace cooper
