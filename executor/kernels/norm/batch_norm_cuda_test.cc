// Compares SequenceBatchNorm and its gradient on a GPU with the CPU, in training and in prediction.

#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/compare_kernels.h"
#include "gtest/gtest.h"
#include "ndarray/cuda/require_gpu.h"

namespace cooper {
namespace {

// A layout of 5 sequences of up to 7 steps with 3 channels.
struct Layout {
  const char* name;
  Shape data;
  AttrMap attrs;
};

const Layout kLayouts[] = {
    {"channels before time", {5, 3, 7}, {}},
    {"channels last", {5, 7, 3}, {{"axis", "2"}, {"time_axis", "1"}, {"fix_gamma", "False"}}},
    {"images, time first",
     {7, 5, 2, 3},
     {{"axis", "-1"}, {"batch_axis", "1"}, {"time_axis", "0"}, {"fix_gamma", "False"}}},
};

TEST(BatchNormCudaTest, SequencesEqualTheCpus) {
  COOPER_REQUIRE_GPU();
  for (int i = 0; i < 2 * static_cast<int>(std::size(kLayouts)); ++i) {
    const Layout& layout = kLayouts[i / 2];
    const Shape channels = {3};
    KernelCase test;
    test.is_train = i % 2 == 1;
    test.name = absl::StrCat(layout.name, test.is_train ? ", training" : "");
    test.op = "SequenceBatchNorm";
    test.attrs = layout.attrs;
    test.dtypes = {DType::kFloat32, DType::kFloat64};
    test.roundings = 64;
    test.low = 0.5;  // for the moving variance, too
    test.inputs = {layout.data, channels, channels, {5}, channels, channels};
    test.outputs = {layout.data, channels, channels};
    test.indices = 3;
    test.index_end = 8;
    ExpectEqualKernels(test);

    test.name += ", gradient";
    test.kernel = "_backward_SequenceBatchNorm";
    test.inputs = {layout.data, channels, channels, layout.data, channels, {5}, channels, channels};
    test.outputs = {layout.data, channels, channels};
    test.indices = 5;
    ExpectEqualKernels(test);
  }
}

// Compares the inputs too: gamma is written in training only.
TEST(BatchNormCudaTest, OlderKindsEqualTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const char* op : {"BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm"}) {
    for (const bool is_train : {false, true}) {
      const Shape channels = {3};
      KernelCase test;
      test.name = absl::StrCat(op, is_train ? ", training" : "");
      test.op = op;
      if (test.op == "_contrib_SyncBatchNorm") test.attrs = {{"key", "k"}};
      test.is_train = is_train;
      test.dtypes = {DType::kFloat32, DType::kFloat64};
      test.roundings = 64;
      test.low = 0.5;  // for the moving variance, too
      test.inputs = {{5, 3, 7}, channels, channels, channels, channels};
      test.outputs = {{5, 3, 7}, channels, channels};
      ExpectEqualKernels(test);
    }
  }
}

// Channels are so large that more than 256 threads share one; their images are contiguous in one
// case and not in the other.
TEST(BatchNormCudaTest, LargeChannelsEqualTheCpus) {
  COOPER_REQUIRE_GPU();
  for (const Shape& data : {Shape({2, 2, 50, 50}), Shape({16, 2, 30, 40})}) {
    for (const bool backward : {false, true}) {
      const Shape channels = {2};
      KernelCase test;
      test.name = absl::StrCat(data.ToString(), backward ? ", gradient" : "");
      test.op = "BatchNorm";
      if (backward) test.kernel = "_backward_BatchNorm";
      test.attrs = {{"fix_gamma", "False"}};
      test.is_train = true;
      test.dtypes = {DType::kFloat32, DType::kFloat64};
      test.roundings = 512;  // sums are in another order
      test.low = 0.5;        // for the moving variance, too
      test.inputs = backward ? std::vector<Shape>{data,     channels, channels, data,
                                                  channels, channels, channels}
                             : std::vector<Shape>{data, channels, channels, channels, channels};
      test.outputs = {data, channels, channels};
      ExpectEqualKernels(test);
    }
  }
}

}  // namespace
}  // namespace cooper
