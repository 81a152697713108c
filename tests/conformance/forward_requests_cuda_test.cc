// Tests the requests of forward kernels, which the golden cases themselves do not vary:
//
// - With WriteReq::kAdd a kernel on gpu(0) must add the values that it writes with kWrite.
//   Executors add only gradients.
// - A kernel of several outputs must write any one of them while the others have kNull, on cpu(0)
//   and on gpu(0). Executors request only what a graph reads.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/graph_case.h"

ABSL_FLAG(std::string, cases, "tests/golden/ops", "folder of the cases");

namespace cooper::conformance {
namespace {

// Returns the kernel call of a case with one operator, on its arrays, with outputs that hold
// numbers. The kernel's name is empty for other cases.
absl::StatusOr<KernelRun> RunOf(const std::string& folder) {
  COOPER_ASSIGN_OR_RETURN(const SymbolFile file, ReadSymbolFile(folder + "/symbol.json"));
  const NodePtr node = file.symbol.outputs()[0].node;
  if (node->is_variable()) return KernelRun{};
  KernelRun run = {.kernel = "", .call = node->call()};
  COOPER_ASSIGN_OR_RETURN(const Arrays io, ReadArrays(folder + "/io.params"));
  const OpSchema& op = *node->op();
  std::vector<PartialShape> shapes;
  std::vector<TypeContext::Type> types;
  for (const NodeEntry& input : node->inputs()) {
    const std::string& name = input.node->name();
    const auto found = io.contains("arg:" + name) ? io.find("arg:" + name) : io.find("aux:" + name);
    if (!input.node->is_variable() || found == io.end()) return run;
    run.inputs.push_back(found->second);
    shapes.emplace_back(found->second.shape());
    types.emplace_back(found->second.dtype());
  }
  const size_t num_inputs = shapes.size(), num_outputs = op.OutputNames(run.call).size();
  shapes.resize(num_inputs + num_outputs);
  types.resize(num_inputs + num_outputs);
  std::vector<PartialShape*> shape_pointers;
  std::vector<TypeContext::Type*> type_pointers;
  shape_pointers.reserve(shapes.size());
  type_pointers.reserve(types.size());
  for (PartialShape& shape : shapes) shape_pointers.push_back(&shape);
  for (TypeContext::Type& type : types) type_pointers.push_back(&type);
  const auto all_shapes = absl::MakeConstSpan(shape_pointers);
  const auto all_types = absl::MakeConstSpan(type_pointers);
  ShapeContext shape_context(run.call, all_shapes.first(num_inputs), all_shapes.subspan(num_inputs),
                             {});
  TypeContext type_context(run.call, all_types.first(num_inputs), all_types.subspan(num_inputs),
                           {});
  COOPER_RETURN_IF_ERROR(op.shape()(shape_context));
  COOPER_RETURN_IF_ERROR(op.type()(type_context));
  for (size_t i = num_inputs; i < shapes.size(); ++i) {
    if (!shapes[i].IsFull() || !types[i].has_value()) return run;
    // Small integers, whose sums every dtype represents.
    const NDArray before = RandomArray(shapes[i].ToShape(), DType::kInt32, 6, i);
    COOPER_ASSIGN_OR_RETURN(run.outputs.emplace_back(), before.AsType(*types[i]));
  }
  run.kernel = op.name();
  return run;
}

// Returns the relative rounding error of a dtype; 0 for integers.
double Rounding(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 1e-15;
    case DType::kFloat32:
      return 1e-7;
    case DType::kFloat16:
      return 1e-3;
    case DType::kBfloat16:
      return 1e-2;
    default:
      return 0;
  }
}

std::vector<double> Doubles(const NDArray& array) {
  return *array.AsType(DType::kFloat64)->ToVector<double>();
}

// Checks that the kernel adds to the visible outputs.
absl::Status CheckAdding(const std::string& folder, KernelRun run) {
  const auto visible = static_cast<size_t>(run.call.op->NumVisibleOutputs(run.call));
  run.reqs.assign(run.outputs.size(), WriteReq::kWrite);
  run.is_train = ReadJson(folder + "/case.json").at("mode") == "train";
  const Context gpu = Context::Gpu(0);
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> written, RunKernelOn(gpu, run));
  for (size_t i = 0; i < visible; ++i) run.reqs[i] = WriteReq::kAdd;
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> added, RunKernelOn(gpu, run));
  for (size_t i = 0; i < visible; ++i) {
    const NDArray& value = written[run.inputs.size() + i];
    const std::vector<double> before = Doubles(run.outputs[i]), by_itself = Doubles(value);
    const std::vector<double> sum = Doubles(added[run.inputs.size() + i]);
    const double rounding = 4 * Rounding(value.dtype());
    for (size_t k = 0; k < sum.size(); ++k) {
      const double largest = std::abs(before[k]) + std::abs(by_itself[k]);
      // The sum of two bools is 1 if one of them is.
      const double expected = value.dtype() == DType::kBool ? std::max(before[k], by_itself[k])
                                                            : before[k] + by_itself[k];
      if (std::abs(expected - sum[k]) <= rounding * largest) continue;
      if (!std::isfinite(by_itself[k])) continue;
      return absl::InternalError(absl::StrCat("output ", i, ", element ", k, ": ", sum[k],
                                              ", expected ", before[k], " + ", by_itself[k]));
    }
  }
  return absl::OkStatus();
}

// Checks that the kernel writes the same values to an output whether or not the others are
// requested.
absl::Status CheckEachOutputAlone(const Context& context, KernelRun run) {
  run.reqs.assign(run.outputs.size(), WriteReq::kWrite);
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> together, RunKernelOn(context, run));
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    run.reqs.assign(run.outputs.size(), WriteReq::kNull);
    run.reqs[i] = WriteReq::kWrite;
    COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> alone, RunKernelOn(context, run));
    const NDArray& expected = together[run.inputs.size() + i];
    ExpectClose(alone[run.inputs.size() + i], expected, /*roundings=*/8,
                absl::StrCat("output ", i, " on ", context.ToString()));
  }
  return absl::OkStatus();
}

TEST(ForwardRequestsTest, EachOutputCanBeTheOnlyOne) {
  COOPER_REQUIRE_GPU();
  const std::string root = absl::GetFlag(FLAGS_cases);
  int checked = 0;
  for (const std::string& op : ListFolder(root)) {
    for (const std::string& name : ListFolder(absl::StrCat(root, "/", op))) {
      const std::string folder = absl::StrCat(root, "/", op, "/", name);
      SCOPED_TRACE(folder);
      COOPER_ASSERT_OK_AND_ASSIGN(KernelRun run, RunOf(folder));
      if (run.kernel.empty() || run.outputs.size() < 2) continue;
      run.is_train = ReadJson(folder + "/case.json").at("mode") == "train";
      for (const Context& context : {Context::Cpu(), Context::Gpu(0)}) {
        if (!FindKernel(run.kernel, context.device_type).ok()) continue;
        const absl::Status status = CheckEachOutputAlone(context, run);
        if (absl::IsUnimplemented(status)) continue;  // of this dtype
        COOPER_EXPECT_OK(status);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(ForwardRequestsTest, AddedIsWrittenAndAdded) {
  COOPER_REQUIRE_GPU();
  const std::string root = absl::GetFlag(FLAGS_cases);
  int checked = 0;
  for (const std::string& op : ListFolder(root)) {
    for (const std::string& name : ListFolder(absl::StrCat(root, "/", op))) {
      const std::string folder = absl::StrCat(root, "/", op, "/", name);
      SCOPED_TRACE(folder);
      COOPER_ASSERT_OK_AND_ASSIGN(KernelRun run, RunOf(folder));
      if (run.kernel.empty() || !FindKernel(run.kernel, DeviceType::kGpu).ok()) continue;
      const absl::Status status = CheckAdding(folder, std::move(run));
      if (absl::IsUnimplemented(status)) continue;  // of this dtype
      COOPER_EXPECT_OK(status);
      ++checked;
      break;  // one case of an operator
    }
  }
  EXPECT_GT(checked, 200);
}

}  // namespace
}  // namespace cooper::conformance

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  return RUN_ALL_TESTS();
}
