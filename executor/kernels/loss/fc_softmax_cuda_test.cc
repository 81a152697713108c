// Compares _fc_softmax_output and _fc_softmax_label_probability on gpu(0) with cpu(0), in one block
// of rows and in several.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/kernels/loss/fc_softmax_block_bytes.h"
#include "executor/program/kernel.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

struct Case {
  std::string name;
  AttrMap attrs = {};
  int64_t rows = 9, features = 5, classes = 7;
  bool one_label = false;  // whether all labels are 3
  int64_t many_classes = FcSoftmaxGpuManyClasses();
};

std::vector<Case> Cases() {
  return {{.name = "Plain"},
          {.name = "NoBias", .attrs = {{"no_bias", "True"}}},
          {.name = "Scaled", .attrs = {{"grad_scale", "0.7"}, {"normalization", "batch"}}},
          {.name = "Ignored",
           .attrs = {{"use_ignore", "True"}, {"ignore_label", "3"}, {"normalization", "valid"}}},
          {.name = "AllIgnored",
           .attrs = {{"use_ignore", "True"}, {"ignore_label", "3"}, {"normalization", "valid"}},
           .one_label = true},
          // Normalization counts the labels that are not 3; no row is ignored.
          {.name = "CountsOnly", .attrs = {{"ignore_label", "3"}, {"normalization", "valid"}}},
          {.name = "OneClass", .classes = 1},
          {.name = "OneRow", .rows = 1, .features = 1},
          {.name = "NoRows", .rows = 0},
          {.name = "ManyClasses", .rows = 5, .classes = 1100},
          // The registers of a block hold a row of the first case, but not of the second.
          {.name = "RowsHeld", .rows = 2, .features = 2, .classes = 9001},
          {.name = "RowsTooLong", .rows = 2, .features = 2, .classes = 16400},
          // The kernel sums over rows while it computes the gradients of the scores: each of 16
          // warps has more than one row, and the last block has fewer columns than a warp has
          // lanes.
          {.name = "ManyColumns",
           .attrs = {{"use_ignore", "True"}, {"ignore_label", "3"}, {"normalization", "valid"}},
           .rows = 35,
           .features = 3,
           .classes = 75,
           .many_classes = 75},
          {.name = "NoRowsOfManyColumns", .rows = 0, .many_classes = 1},
          {.name = "ManyColumnsWithoutBias", .attrs = {{"no_bias", "True"}}, .many_classes = 1},
          {.name = "ManyColumnsInBlocks", .rows = 300, .features = 2, .many_classes = 1},
          // Blocks end after 128 and 256 rows.
          {.name = "ThreeBlocks",
           .attrs = {{"use_ignore", "True"}, {"ignore_label", "3"}},
           .rows = 300,
           .features = 4,
           .classes = 6}};
}

// Returns labels from -1 to `classes`; both ends are outside of the classes.
NDArray Labels(const Case& test, DType dtype) {
  NDArray labels = *NDArray::Empty({test.rows}, dtype);
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < test.rows; ++i) {
      static_cast<T*>(labels.raw_data())[i] =
          ConvertElement<T>(test.one_label ? int64_t{3} : i * 5 % (test.classes + 2) - 1);
    }
  });
  return labels;
}

// Returns a bound on the roundings of sums of products over features, classes or rows, exp and a
// division.
double RoundingsOf(const Case& test) {
  return 4.0 * static_cast<double>(test.features + test.classes + test.rows) + 40;
}

void ExpectEqualRuns(const KernelRun& run, double roundings, const std::string& what) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, RunKernelOn(Context::Cpu(0), run));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto actual, RunKernelOn(Context::Gpu(0), run));
  // Compares inputs too, because the gradient of _fc_softmax_label_probability writes one.
  for (size_t i = 0; i < expected.size(); ++i) {
    ExpectClose(actual[i], expected[i], roundings, absl::StrCat(what, " array ", i));
  }
}

void CompareForward(const Case& test, const std::string& op, DType dtype, WriteReq req) {
  KernelRun run{.kernel = op};
  AttrMap attrs = test.attrs;
  attrs["num_hidden"] = absl::StrCat(test.classes);
  run.call = *MakeOpCall(op, attrs, 4);
  run.inputs = {RandomArray({test.rows, test.features}, dtype, 1, 1),
                RandomArray({test.classes, test.features}, dtype, 1, 2)};
  if (!attrs.contains("no_bias")) run.inputs.push_back(RandomArray({test.classes}, dtype, 3, 3));
  run.inputs.push_back(Labels(test, dtype));
  const bool all = op == "_fc_softmax_output";
  run.outputs = {RandomArray({test.rows, all ? test.classes : 1}, dtype, 1, 4)};
  run.reqs = {req};
  ExpectEqualRuns(run, RoundingsOf(test),
                  absl::StrCat(test.name, " ", op, " of ", DTypeName(dtype), ", request ",
                               static_cast<int>(req)));
}

// Compares the gradients on both devices. `asked` is the index of the only requested gradient, or
// -1 for all.
void CompareBackward(const Case& test, const std::string& op, DType dtype, WriteReq req,
                     int asked) {
  const bool all = op == "_fc_softmax_output";
  KernelRun run{.kernel = "_backward" + op};
  AttrMap attrs = test.attrs;
  attrs["num_hidden"] = absl::StrCat(test.classes);
  run.call = *MakeOpCall(run.kernel, attrs, 4);
  run.inputs = {Labels(test, dtype), RandomArray({test.rows, all ? test.classes : 1}, dtype, 1, 4),
                RandomArray({test.rows, test.features}, dtype, 1, 1),
                RandomArray({test.classes, test.features}, dtype, 1, 2)};
  run.outputs = {RandomArray({test.rows, test.features}, dtype, 1, 5),
                 RandomArray({test.classes, test.features}, dtype, 1, 6)};
  if (!attrs.contains("no_bias")) {
    if (!all) run.inputs.push_back(RandomArray({test.classes}, dtype, 3, 3));
    run.outputs.push_back(RandomArray({test.classes}, dtype, 1, 7));
  }
  run.reqs.assign(run.outputs.size(), req);
  for (size_t i = 0; asked >= 0 && i < run.reqs.size(); ++i) {
    if (i != static_cast<size_t>(asked)) run.reqs[i] = WriteReq::kNull;
  }
  ExpectEqualRuns(run, RoundingsOf(test),
                  absl::StrCat(test.name, " gradient of ", op, " of ", DTypeName(dtype),
                               ", request ", static_cast<int>(req), ", asked ", asked));
}

TEST(FcSoftmaxCudaTest, AllIsTheCpus) {
  COOPER_REQUIRE_GPU();
  const int64_t usual_bytes = FcSoftmaxGpuBlockBytes();
  const int64_t usual_classes = FcSoftmaxGpuManyClasses();
  for (const Case& test : Cases()) {
    FcSoftmaxGpuBlockBytes() = test.rows > 128 ? 1 : usual_bytes;
    FcSoftmaxGpuManyClasses() = test.many_classes;
    for (const char* op : {"_fc_softmax_output", "_fc_softmax_label_probability"}) {
      for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
        for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
          CompareForward(test, op, dtype, req);
          CompareBackward(test, op, dtype, req, -1);
        }
      }
      for (int asked = 0; asked < 2; ++asked) {
        CompareBackward(test, op, DType::kFloat32, WriteReq::kWrite, asked);
      }
    }
  }
  FcSoftmaxGpuBlockBytes() = usual_bytes;
  FcSoftmaxGpuManyClasses() = usual_classes;
}

}  // namespace
}  // namespace cooper
