// Tests rules that hold for every update: with kWrite the output equals the weight after an update
// in place, kAdd adds it to the output, kNull writes no output, and the states are the same in all
// cases. The operators are read from the registry, so a new one is tested without a change here.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

constexpr int64_t kSize = 2051;  // more than two blocks

struct Result {
  absl::Status status;
  std::vector<std::vector<double>> inputs;
  std::vector<double> output;
};

// Returns positive values; a mean of squares is greater than the squares of other arrays.
NDArray Values(uint64_t seed, const std::string& name, int64_t size, DType dtype) {
  const Philox philox(seed);
  std::vector<float> values(size);
  for (int64_t i = 0; i < size; ++i) values[i] = (name == "n" ? 2 : 0.25f) + philox.UniformAt(i);
  return *NDArray::FromVector<float>({size}, values)->AsType(dtype);
}

bool IsMaster(const OpSchema& op) {
  return absl::StartsWith(op.name(), "mp_") || absl::StartsWith(op.name(), "_mp_");
}

// Returns a call of every operator that updates one weight.
std::vector<OpCall> Updates() {
  std::vector<OpCall> updates;
  for (const OpSchema* op : AllOps()) {
    OpCall call{.op = op};
    AttrMap attrs;
    for (const ParamField& field : op->params()->fields()) {
      if (!field.required) continue;
      const bool is_integer = field.name == "t" || field.name == "num_arrays";
      attrs[field.name] = is_integer ? "3" : "0.1";
    }
    call.params = *op->params()->Parse(attrs);
    if (op->InputNames(call)[0] == "weight") updates.push_back(std::move(call));
  }
  return updates;
}

// Runs an update that writes to an output of 2, or to the weight.
Result RunUpdate(const OpCall& call, WriteReq req, bool in_place, int64_t size = kSize) {
  const bool master = IsMaster(*call.op);
  std::vector<NDArray> arrays;
  for (const std::string& name : call.op->InputNames(call)) {
    const bool number = name == "r1" || name == "r2" || name == "rescale_grad";
    const bool half = master && (name == "weight" || name == "grad");
    arrays.push_back(
        Values(arrays.size(), name, number ? 1 : size, half ? DType::kFloat16 : DType::kFloat32));
  }
  const bool is_phase1 = absl::EndsWith(call.op->name(), "phase1");
  NDArray output = arrays[0];
  if (!in_place) {
    output = *NDArray::Full({size}, 2, is_phase1 ? DType::kFloat32 : arrays[0].dtype());
  }
  std::vector<ArrayView> inputs;
  for (const NDArray& array : arrays) {
    inputs.push_back({array.raw_data(), array.shape(), array.dtype()});
  }
  const ArrayView out = {output.raw_data(), output.shape(), output.dtype()};
  Result result;
  result.status =
      (*FindKernel(call.op->name(), DeviceType::kCpu))
          ->run({.call = call, .inputs = inputs, .outputs = {&out, 1}, .reqs = {&req, 1}});
  for (size_t i = 1; i < arrays.size(); ++i) {
    result.inputs.push_back(*arrays[i].ToVector<double>());
  }
  result.output = *output.ToVector<double>();
  return result;
}

TEST(UpdateKernelsTest, HonourWriteRequests) {
  int tested = 0;
  for (const OpCall& call : Updates()) {
    const OpSchema* const op = call.op;
    SCOPED_TRACE(op->name());
    const Result written = RunUpdate(call, WriteReq::kWrite, /*in_place=*/false);
    COOPER_ASSERT_OK(written.status);
    if (!op->in_place().empty()) {
      const Result over = RunUpdate(call, WriteReq::kWrite, /*in_place=*/true);
      EXPECT_EQ(over.output, written.output);
      EXPECT_EQ(over.inputs, written.inputs);
    }
    const Result added = RunUpdate(call, WriteReq::kAdd, /*in_place=*/false);
    const Result none = RunUpdate(call, WriteReq::kNull, /*in_place=*/false);
    if (absl::IsUnimplemented(added.status))
      continue;  // the kernel returned an error and wrote nothing
    const double epsilon = IsMaster(*op) ? 2e-3 : 1e-6;
    for (int64_t i = 0; i < kSize; ++i) {
      ASSERT_NEAR(added.output[i], written.output[i] + 2, epsilon * (4 + written.output[i])) << i;
      ASSERT_EQ(none.output[i], 2) << i;
    }
    EXPECT_EQ(added.inputs, written.inputs);
    ++tested;
  }
  EXPECT_GT(tested, 35);
}

// A kernel writes exactly the inputs that its schema lists as written, except
// mp_lamb_update_phase2.
TEST(UpdateKernelsTest, WriteTheirStatesAlone) {
  for (const OpCall& call : Updates()) {
    const OpSchema* const op = call.op;
    const OpSchema::Names names = op->InputNames(call);
    SCOPED_TRACE(op->name());
    const Result result = RunUpdate(call, WriteReq::kWrite, /*in_place=*/false);
    std::vector<bool> declared(names.size());
    for (const int i : op->AuxInputs(call)) declared[i] = op->name() != "mp_lamb_update_phase2";
    for (size_t i = 1; i < names.size(); ++i) {
      const auto size = static_cast<int64_t>(result.inputs[i - 1].size());
      const bool half = IsMaster(*op) && names[i] == "grad";
      const NDArray before = Values(i, names[i], size, half ? DType::kFloat16 : DType::kFloat32);
      EXPECT_EQ(result.inputs[i - 1] != *before.ToVector<double>(), declared[i]) << names[i];
    }
  }
}

// A thread's range ends at a boundary that splits no vector.
TEST(UpdateKernelsTest, AreEqualForEveryNumberOfThreads) {
  constexpr int64_t kLarge = 3 * 16384 + 1000 + 5;
  const int before = NumThreads();
  for (const OpCall& call : Updates()) {
    SCOPED_TRACE(call.op->name());
    SetNumThreads(1);
    const Result alone = RunUpdate(call, WriteReq::kWrite, /*in_place=*/false, kLarge);
    SetNumThreads(3);
    const Result together = RunUpdate(call, WriteReq::kWrite, /*in_place=*/false, kLarge);
    EXPECT_TRUE(together.output == alone.output);
    EXPECT_TRUE(together.inputs == alone.inputs);
  }
  SetNumThreads(before);
}

TEST(UpdateKernelsTest, RefuseOtherDTypes) {
  OpCall call{.op = *FindOp("sgd_update")};
  call.params = *call.op->params()->Parse({{"lr", "0.1"}});
  const NDArray integers = *NDArray::Zeros({4}, DType::kInt32);
  const ArrayView view = {integers.raw_data(), integers.shape(), integers.dtype()};
  const std::vector<ArrayView> inputs = {view, view};
  const WriteReq req = WriteReq::kWrite;
  EXPECT_THAT((*FindKernel("sgd_update", DeviceType::kCpu))
                  ->run({.call = call, .inputs = inputs, .outputs = {&view, 1}, .reqs = {&req, 1}}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       ::testing::HasSubstr("sgd_update on cpu: no kernel for int32 weights")));
}

}  // namespace
}  // namespace cooper
