// Compares Convolution, Deconvolution, im2col, col2im and their gradients on gpu(0) with cpu(0),
// over small integers, whose sums are exact in any order.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/column_bytes.h"
#include "executor/kernels/convolution/convolution_runs.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

const ConvolutionCase kCases[] = {
    {"Plain", "Convolution", {2, 3, 5, 6}, "kernel=(3,3) num_filter=4"},
    {"NoBias", "Convolution", {2, 3, 5, 6}, "kernel=(3,2) num_filter=4 no_bias=True"},
    {"OneDimension", "Convolution", {3, 2, 11}, "kernel=(3,) num_filter=3 stride=(2,) pad=(1,)"},
    {"ThreeDimensions",
     "Convolution",
     {1, 2, 4, 5, 3},
     "kernel=(2,3,2) num_filter=3 stride=(1,2,1) pad=(1,0,1) dilate=(2,1,1)"},
    {"StridedPaddedDilated",
     "Convolution",
     {2, 2, 9, 7},
     "kernel=(3,2) num_filter=3 stride=(2,3) pad=(2,1) dilate=(2,3)"},
    {"Groups", "Convolution", {2, 6, 5, 4}, "kernel=(3,3) num_filter=9 num_group=3 pad=(1,1)"},
    {"EachChannelAlone", "Convolution", {2, 5, 4, 4}, "kernel=(2,2) num_filter=5 num_group=5"},
    {"OneByOne", "Convolution", {3, 4, 3, 5}, "kernel=(1,1) num_filter=6"},
    {"OneByOneGroups", "Convolution", {2, 4, 3, 5}, "kernel=(1,1) num_filter=6 num_group=2"},
    {"OneByOneStrided", "Convolution", {2, 4, 5, 5}, "kernel=(1,1) num_filter=3 stride=(2,2)"},
    {"OneImage", "Convolution", {1, 1, 3, 3}, "kernel=(3,3) num_filter=1"},
    {"Wide", "Convolution", {2, 1, 2, 300}, "kernel=(2,5) num_filter=2"},
    // More than 256 threads share the sum of the bias's gradient.
    {"ManyPixels", "Convolution", {4, 2, 40, 40}, "kernel=(1,1) num_filter=2"},
    {"Old", "Convolution_v1", {2, 3, 5, 6}, "kernel=(3,3) num_filter=4"},
    {"Up", "Deconvolution", {2, 3, 4, 3}, "kernel=(4,3) num_filter=2 stride=(2,2) pad=(1,1)"},
    {"UpWithBias",
     "Deconvolution",
     {2, 4, 4, 3},
     "kernel=(3,3) num_filter=6 num_group=2 stride=(3,2) adj=(2,1) no_bias=False"},
    {"UpToTarget",
     "Deconvolution",
     {1, 2, 5, 4},
     "kernel=(4,4) num_filter=3 stride=(2,2) target_shape=(10,8)"},
    {"UpOneDimension", "Deconvolution", {2, 2, 5}, "kernel=(3,) num_filter=2 dilate=(2,)"},
    {"UpOneByOne", "Deconvolution", {2, 3, 4, 3}, "kernel=(1,1) num_filter=2"},
    {"Columns", "im2col", {2, 3, 7, 6}, "kernel=(3,2) stride=(2,1) pad=(1,1) dilate=(1,2)"},
    {"ColumnsOfOneDimension", "im2col", {2, 3, 9}, "kernel=(3,) stride=(2,)"},
    {"Image", "col2im", {2, 12, 16}, "output_size=(5,6) kernel=(2,3)"},
};

void ExpectEqualRuns(const KernelRun& run, const std::string& what) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, RunKernelOn(Context::Cpu(0), run));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto actual, RunKernelOn(Context::Gpu(0), run));
  for (size_t i = run.inputs.size(); i < expected.size(); ++i) {
    ExpectClose(actual[i], expected[i], 0, absl::StrCat(what, " output ", i - run.inputs.size()));
  }
}

void Compare(const ConvolutionCase& test, DType dtype, WriteReq req) {
  const std::string what = Describe(test, dtype, req);
  ExpectEqualRuns(ForwardRun(test, dtype, req), what);
  KernelRun backward = BackwardRun(test, dtype, req);
  ExpectEqualRuns(backward, what + ", gradients");
  for (size_t asked = 0; asked < backward.reqs.size(); ++asked) {
    backward.reqs.assign(backward.outputs.size(), WriteReq::kNull);
    backward.reqs[asked] = req;
    ExpectEqualRuns(backward, absl::StrCat(what, ", gradient ", asked));
  }
}

TEST(ConvolutionCudaTest, AllIsTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const ConvolutionCase& test : kCases) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
      for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) Compare(test, dtype, req);
    }
  }
}

// Batches without images run without cuDNN in every dtype, although 16-bit floats need cuDNN
// otherwise.
TEST(ConvolutionCudaTest, NoImagesInAnyDtype) {
  COOPER_REQUIRE_GPU();
  const ConvolutionCase none = {"None", "Convolution", {0, 2, 3, 3}, kCases[0].attrs};
  for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBfloat16}) {
    KernelRun forward = ForwardRun(none, dtype, WriteReq::kWrite);
    COOPER_EXPECT_OK(RunKernelOn(Context::Gpu(0), forward).status());
    for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
      const KernelRun backward = BackwardRun(none, dtype, req);
      COOPER_ASSERT_OK_AND_ASSIGN(const auto arrays, RunKernelOn(Context::Gpu(0), backward));
      // After the inputs: the gradients of data, weight and bias.
      const NDArray& weight = arrays[backward.inputs.size() + 1];
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray values, weight.AsType(DType::kFloat64));
      if (req == WriteReq::kAdd) continue;
      EXPECT_THAT(*values.ToVector<double>(), Each(0));
    }
  }
}

// Limits the columns so that one image is computed at a time; results must equal those of the whole
// batch.
TEST(ConvolutionCudaTest, ChunksAreTheWhole) {
  COOPER_REQUIRE_GPU();
  const int64_t usual_bytes = ConvolutionColumnBytes();
  ConvolutionColumnBytes() = 1;
  for (const ConvolutionCase& test : kCases) Compare(test, DType::kFloat32, WriteReq::kWrite);
  ConvolutionColumnBytes() = usual_bytes;
}

TEST(ConvolutionCudaTest, NamesWhatItDoesNotCompute) {
  COOPER_REQUIRE_GPU();
  KernelRun run{
      .kernel = "Convolution",
      .call = *MakeOpCall("Convolution",
                          {{"kernel", "(1, 1)"}, {"num_filter", "1"}, {"layout", "NHWC"}}, 3)};
  run.inputs = {Integers({1, 2, 2, 1}, DType::kFloat32, 1),
                Integers({1, 1, 1, 1}, DType::kFloat32, 2), Integers({1}, DType::kFloat32, 3)};
  run.outputs = {Integers({1, 2, 2, 1}, DType::kFloat32, 4)};
  run.reqs = {WriteReq::kWrite};
  EXPECT_THAT(RunKernelOn(Context::Gpu(0), run),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("Convolution on gpu: no kernel for layouts with channels last")));
}

}  // namespace
}  // namespace cooper
