// Tests kernels and dtypes: an operator without code for a dtype reports it at bind time, with its
// own name; one that binds has the code.

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/graph_case.h"

namespace cooper::conformance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kUint8,   DType::kInt32,   DType::kInt8,
                             DType::kInt64,   DType::kBool,    DType::kBfloat16};

// Binds the case's symbol with all arguments of this dtype, and runs it.
absl::Status RunWith(const Symbol& symbol, const Json& json, DType dtype) {
  BindOptions options;
  for (const auto& [name, shape] : json.at("infer_shape").at("known").items()) {
    options.shapes[name] = ShapeFromJson(shape);
  }
  for (const std::string& name : symbol.ListArguments()) options.types[name] = dtype;
  COOPER_ASSIGN_OR_RETURN(auto executor, Executor::SimpleBind(symbol, options));
  for (const std::string& name : symbol.ListArguments()) {
    COOPER_RETURN_IF_ERROR(executor->arg(name).Fill(1));
  }
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/true));
  std::vector<NDArray> heads;
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor->outputs());
  for (const NDArray& output : outputs) {
    COOPER_ASSIGN_OR_RETURN(heads.emplace_back(), output.Copy());
  }
  return executor->Backward(heads);
}

// Errors come from binding, and each names the operator without code for the dtype.
TEST(DTypeErrorsTest, OfGoldenCases) {
  const std::string root = "tests/golden/ops";
  std::map<std::string, int> refused;  // by operator
  for (const std::string& op : ListFolder(root)) {
    for (const std::string& name : ListFolder(absl::StrCat(root, "/", op))) {
      const std::string folder = absl::StrCat(root, "/", op, "/", name);
      const Json json = ReadJson(folder + "/case.json");
      COOPER_ASSERT_OK_AND_ASSIGN(const SymbolFile file, ReadSymbolFile(folder + "/symbol.json"));
      for (DType dtype : kDTypes) {
        SCOPED_TRACE(absl::StrCat(folder, " of ", DTypeName(dtype)));
        const absl::Status status = RunWith(file.symbol, json, dtype);
        if (status.code() != absl::StatusCode::kUnimplemented) continue;
        const std::string message(status.message());
        const std::string named = message.substr(0, message.find(" '"));
        const auto kernel = FindKernel(named, DeviceType::kCpu);
        ASSERT_THAT(kernel, IsOk()) << message;
        if (message.find("no cpu kernel for input") == message.npos) continue;  // for a parameter
        EXPECT_THAT(message, AllOf(HasSubstr(std::string(DTypeName(dtype))),
                                   HasSubstr((*kernel)->dtypes.ToString())));
        ++refused[named];
      }
    }
  }
  EXPECT_GT(refused["Pooling"], 0);
  EXPECT_GE(refused.size(), 45u);
}

// Tests every kernel whose operator needs no attributes with every dtype that it rejects.
TEST(DTypeErrorsTest, OfAllKernels) {
  int refused = 0;
  for (const auto& [name, kernel] : AllKernels(DeviceType::kCpu)) {
    const auto call = MakeOpCall(name, {}, /*num_inputs=*/1);
    if (!call.ok()) continue;  // a parameter is required
    const OpSchema::Names inputs = call->op->InputNames(*call);
    if (inputs.empty()) continue;
    for (DType dtype : kDTypes) {
      if (kernel->dtypes.contains(dtype)) continue;
      const std::vector<ArrayView> views = {{.shape = {2, 2}, .dtype = dtype}};
      EXPECT_THAT(
          PrepareKernel(*kernel, {.call = *call, .inputs = views, .outputs = views}),
          StatusIs(absl::StatusCode::kUnimplemented,
                   AllOf(HasSubstr(absl::StrCat("input '", inputs[0], "' of ", DTypeName(dtype))),
                         HasSubstr(kernel->dtypes.ToString()))))
          << name;
      ++refused;
    }
  }
  EXPECT_GE(refused, 300);
}

}  // namespace
}  // namespace cooper::conformance
