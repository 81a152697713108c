// Compares updates, norms and checks on gpu(0) with cpu(0). The operators that update one weight
// are read from the registry, so a new one is tested without a change here.

#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/kernel_queue.h"
#include "executor/program/kernel.h"
#include "executor/run/invoke.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

constexpr int64_t kSize = 2051;  // sums use two blocks

double EpsilonOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return std::numeric_limits<double>::epsilon();
    case DType::kFloat16:
      return 0x1p-10;
    case DType::kBfloat16:
      return 0x1p-7;
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

// Compares with a tolerance of a few roundings of the stored dtype, for values of at most `scale`:
// both devices compute the same expression, but may fuse products and sums differently.
void ExpectNear(const NDArray& got, const NDArray& expected, const std::string& what,
                double scale = 4) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<double> a, got.ToVector<double>());
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<double> b, expected.ToVector<double>());
  const double epsilon = EpsilonOf(expected.dtype());
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) && std::isnan(a[i])) continue;
    ASSERT_NEAR(a[i], b[i], 4 * epsilon * (scale + std::abs(b[i]))) << what << " at " << i;
  }
}

struct UpdateCase {
  OpCall call;
  DType dtype;  // the gradient's dtype
  WriteReq req;
  bool in_place;
  bool master() const {
    const std::string& name = call.op->name();
    return absl::StartsWith(name, "mp_") || absl::StartsWith(name, "_mp_");
  }
};

// Returns values from 0.25 on, so that no square root amplifies a rounding; gradients have both
// signs.
NDArray Values(const std::string& name, int64_t size, DType dtype, uint64_t seed) {
  const Philox philox(seed);
  std::vector<float> values(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    const float least = name == "n" ? 2 : name == "grad" ? -0.5F : 0.25F;
    values[i] = least + philox.UniformAt(i);
  }
  return *NDArray::FromVector<float>({size}, values)->AsType(dtype);
}

ArrayView ViewOf(const NDArray& array) { return {array.raw_data(), array.shape(), array.dtype()}; }

// Runs the update on `context` and returns its arrays on the CPU, the output last.
absl::StatusOr<std::vector<NDArray>> RunUpdate(const UpdateCase& test, Context context) {
  const OpSchema& op = *test.call.op;
  std::vector<NDArray> arrays;
  for (const std::string& name : op.InputNames(test.call)) {
    const bool number = name == "r1" || name == "r2" || name == "rescale_grad";
    const bool narrow = name == "weight" || name == "grad" || (!test.master() && !number);
    const bool norm = number && name != "rescale_grad" && !test.master();
    const NDArray values = Values(name, number ? 1 : kSize,
                                  narrow || norm ? test.dtype : DType::kFloat32, arrays.size());
    COOPER_ASSIGN_OR_RETURN(arrays.emplace_back(), values.CopyTo(context));
  }
  NDArray output = arrays[0];
  if (!test.in_place) {
    const bool phase1 = absl::EndsWith(op.name(), "phase1") && test.master();
    COOPER_ASSIGN_OR_RETURN(
        output, NDArray::Full({kSize}, 2, phase1 ? DType::kFloat32 : test.dtype, context));
  }
  std::vector<ArrayView> inputs;
  inputs.reserve(arrays.size());
  for (const NDArray& array : arrays) inputs.push_back(ViewOf(array));
  const ArrayView out = ViewOf(output);
  COOPER_ASSIGN_OR_RETURN(const Kernel* const kernel, FindKernel(op.name(), context.device_type));
  COOPER_ASSIGN_OR_RETURN(const Prepared prepared, PrepareKernel(*kernel, {.call = test.call,
                                                                           .inputs = inputs,
                                                                           .outputs = {&out, 1},
                                                                           .reqs = {&test.req, 1},
                                                                           .context = context}));
  COOPER_ASSIGN_OR_RETURN(const NDArray workspace,
                          NDArray::Zeros({prepared.workspace_bytes}, DType::kUint8, context));
  COOPER_ASSIGN_OR_RETURN(const auto queue, MakeKernelQueue(context));
  const ScopedBlockLimit few_blocks(2);
  COOPER_RETURN_IF_ERROR(kernel->run({.call = test.call,
                                      .inputs = inputs,
                                      .outputs = {&out, 1},
                                      .reqs = {&test.req, 1},
                                      .workspace = workspace.raw_data(),
                                      .state = prepared.state.get(),
                                      .context = context,
                                      .queue = queue.get()}));
  arrays.push_back(output);
  for (NDArray& array : arrays) {
    COOPER_ASSIGN_OR_RETURN(array, CopyAfter(queue.get(), array));
  }
  return arrays;
}

// Returns a call of every operator that updates one weight.
std::vector<OpCall> Updates() {
  std::vector<OpCall> updates;
  for (const OpSchema* op : AllOps()) {
    OpCall call{.op = op};
    AttrMap attrs;
    for (const ParamField& field : op->params()->fields()) {
      if (field.name == "momentum") attrs[field.name] = "0.9";
      if (field.name == "wd") attrs[field.name] = "0.01";
      if (field.name == "clip_gradient") attrs[field.name] = "0.4";
      if (field.name == "adaptive") attrs[field.name] = "1";
      if (!field.required) continue;
      const bool is_integer = field.name == "t" || field.name == "num_arrays";
      attrs[field.name] = is_integer ? "3" : "0.1";
    }
    call.params = *op->params()->Parse(attrs);
    if (op->InputNames(call)[0] == "weight") updates.push_back(std::move(call));
  }
  return updates;
}

TEST(UpdateKernelsCudaTest, EqualTheCpus) {
  COOPER_REQUIRE_GPU();
  int tested = 0;
  for (const OpCall& call : Updates()) {
    for (const DType dtype :
         {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16}) {
      for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd, WriteReq::kNull}) {
        for (const bool in_place : {false, true}) {
          const UpdateCase test{call, dtype, req, in_place};
          if (test.master() && SizeOf(dtype) > 2) continue;
          if (in_place && (req != WriteReq::kWrite || call.op->in_place().empty())) continue;
          const std::string what = absl::StrCat(call.op->name(), " of ", DTypeName(dtype),
                                                ", request ", static_cast<int>(req));
          const auto expected = RunUpdate(test, Context::Cpu());
          const auto got = RunUpdate(test, Context::Gpu(0));
          EXPECT_EQ(got.status().code(), expected.status().code()) << what << got.status();
          if (!expected.ok()) {
            EXPECT_TRUE(absl::IsUnimplemented(expected.status())) << expected.status();
            continue;
          }
          COOPER_ASSERT_OK(got.status());
          for (size_t i = 0; i < expected->size(); ++i) {
            ExpectNear((*got)[i], (*expected)[i], absl::StrCat(what, ", array ", i));
          }
          ++tested;
        }
      }
    }
  }
  EXPECT_GT(tested, 400);
}

// Returns the weights and momenta after many updates, each with its own rate, in sequence.
absl::StatusOr<std::vector<std::vector<double>>> UpdateMany(bool at_once) {
  const Context gpu = Context::Gpu(0);
  std::vector<Invocation> invocations;
  std::vector<NDArray> arrays;
  for (int i = 0; i < 75; ++i) {
    // The first dtype has more weights than a launch takes; other dtypes alternate; some weights
    // are empty.
    constexpr int64_t kSizes[] = {1, 257, 0, 256, 3000, 31};
    const DType dtype = i < 40 ? DType::kFloat32 : i % 5 == 0 ? DType::kFloat64 : DType::kFloat16;
    for (const char* name : {"weight", "grad", "mom"}) {
      const NDArray values = Values(name, kSizes[i % 6], dtype, arrays.size());
      COOPER_ASSIGN_OR_RETURN(arrays.emplace_back(), values.CopyTo(gpu));
    }
    COOPER_ASSIGN_OR_RETURN(
        OpCall call, MakeOpCall("sgd_mom_update",
                                {{"lr", absl::StrCat(0.01 * (i + 1))}, {"momentum", "0.5"}}, 3));
    COOPER_ASSIGN_OR_RETURN(Invocation invocation,
                            Invocation::Create(std::move(call), DeviceType::kGpu));
    const NDArray* const all = &arrays[arrays.size() - 3];
    COOPER_RETURN_IF_ERROR(invocation.SetArrays({all, all + 1, all + 2}, {all}));
    invocations.push_back(std::move(invocation));
  }
  if (at_once) COOPER_RETURN_IF_ERROR(RunAll(invocations));
  for (const Invocation& invocation : invocations) {
    if (!at_once) COOPER_RETURN_IF_ERROR(invocation.Run());
  }
  std::vector<std::vector<double>> values;
  for (const NDArray& array : arrays) {
    COOPER_ASSIGN_OR_RETURN(const NDArray host, array.CopyTo(Context::Cpu()));
    COOPER_ASSIGN_OR_RETURN(values.emplace_back(), host.ToVector<double>());
  }
  return values;
}

TEST(UpdateKernelsCudaTest, ManyAtOnceAreAsOneAfterTheOther) {
  COOPER_REQUIRE_GPU();
  const ScopedBlockLimit few_blocks(2);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, UpdateMany(/*at_once=*/false));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto got, UpdateMany(/*at_once=*/true));
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], expected[i]) << "array " << i;
}

struct InvokeCase {
  const char* op;
  AttrMap attrs;
  std::vector<Shape> inputs;
  std::vector<DType> dtypes;  // dtypes of the inputs
  std::vector<int> outputs;   // inputs that are overwritten; -1: a new float array
  int64_t out_size = 1;       // size of a new array
  friend void PrintTo(const InvokeCase& test, std::ostream* os) { *os << test.op; }
};

// Returns an update of two weights; `dtypes` are those of the arrays of each weight. Preloaded
// updates take the rates from arrays too.
InvokeCase UpdateOfTwo(const char* op, const std::vector<DType>& dtypes) {
  const bool preloaded = absl::StartsWith(op, "preloaded");
  InvokeCase test = {op, {{"num_weights", "2"}, {"rescale_grad", "0.5"}}};
  if (absl::StrContains(op, "_mom_")) test.attrs["momentum"] = "0.9";
  if (!preloaded) {
    test.attrs["lrs"] = "(0.1, 0.2)";
    test.attrs["wds"] = "(0.01, 0.02)";
    test.attrs["clip_gradient"] = "0.3";
  }
  for (const Shape& shape : {Shape({3, 700}), Shape({5})}) {
    test.outputs.push_back(static_cast<int>(test.inputs.size()));
    test.inputs.insert(test.inputs.end(), dtypes.size(), shape);
    test.dtypes.insert(test.dtypes.end(), dtypes.begin(), dtypes.end());
  }
  if (preloaded) {
    test.inputs.insert(test.inputs.end(), 2, Shape({2}));
    test.dtypes.insert(test.dtypes.end(), 2, DType::kFloat32);
  }
  return test;
}

std::vector<InvokeCase> InvokeCases() {
  const DType f32 = DType::kFloat32, f64 = DType::kFloat64, f16 = DType::kFloat16;
  const Shape a({3, 700}), b({5}), none({0});
  return {
      UpdateOfTwo("multi_sgd_update", {f32, f32}),
      UpdateOfTwo("multi_sgd_mom_update", {f64, f64, f64}),
      UpdateOfTwo("multi_mp_sgd_update", {f16, f16, f32}),
      UpdateOfTwo("multi_mp_sgd_mom_update", {f16, f16, f32, f32}),
      UpdateOfTwo("preloaded_multi_sgd_update", {f32, f32}),
      UpdateOfTwo("preloaded_multi_sgd_mom_update", {f32, f32, f32}),
      UpdateOfTwo("preloaded_multi_mp_sgd_update", {f16, f16, f32}),
      UpdateOfTwo("preloaded_multi_mp_sgd_mom_update", {f16, f16, f32, f32}),
      {"multi_sum_sq", {{"num_arrays", "4"}}, {a, b, none, a}, {f32, f64, f32, f16}, {-1}, 4},
      {"multi_lars",
       {{"eta", "0.1"}, {"eps", "0.01"}},
       {b, b, b, b},
       {f32, f32, f32, f32},
       {-1},
       5},
      {"all_finite", {}, {a}, {f32}, {-1}},
      {"multi_all_finite", {{"num_arrays", "3"}}, {a, none, b}, {f32, f32, f32}, {-1}},
      {"reset_arrays", {{"num_arrays", "3"}}, {a, none, b}, {f32, f32, f16}, {}},
  };
}

absl::StatusOr<std::vector<NDArray>> RunInvoke(const InvokeCase& test, Context context,
                                               double poison = 0) {
  std::vector<NDArray> arrays;
  std::vector<const NDArray*> inputs, outputs;
  arrays.reserve(test.inputs.size() + 1);
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    NDArray values = Values("grad", test.inputs[i].num_elements(), test.dtypes[i], i);
    if (absl::StrContains(test.op, "lars")) {
      values = Values("weight", test.inputs[i].num_elements(), test.dtypes[i], i);
    }
    if (poison != 0 && i == 0) {
      COOPER_ASSIGN_OR_RETURN(const NDArray last, values.Slice(values.size() - 1, values.size()));
      COOPER_RETURN_IF_ERROR(last.Fill(poison));
    }
    COOPER_ASSIGN_OR_RETURN(values, values.Reshape(test.inputs[i]));
    COOPER_ASSIGN_OR_RETURN(arrays.emplace_back(), values.CopyTo(context));
    inputs.push_back(&arrays[i]);
  }
  COOPER_ASSIGN_OR_RETURN(arrays.emplace_back(),
                          NDArray::Zeros({test.out_size}, DType::kFloat32, context));
  for (const int i : test.outputs) outputs.push_back(i < 0 ? &arrays.back() : &arrays[i]);
  // Calls the kernel as modules do, not through Invoke, because no type rule admits arrays of these
  // dtypes.
  COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall(test.op, test.attrs, inputs.size()));
  COOPER_ASSIGN_OR_RETURN(Invocation invocation,
                          Invocation::Create(std::move(call), context.device_type));
  COOPER_RETURN_IF_ERROR(invocation.SetArrays(inputs, outputs));
  COOPER_RETURN_IF_ERROR(invocation.Run());
  return arrays;
}

class InvokeOnGpuTest : public testing::TestWithParam<InvokeCase> {};

TEST_P(InvokeOnGpuTest, EqualsTheCpu) {
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, RunInvoke(GetParam(), Context::Cpu()));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto got, RunInvoke(GetParam(), Context::Gpu(0)));
  for (size_t i = 0; i < expected.size(); ++i) {
    ExpectNear(got[i], expected[i], absl::StrCat("array ", i));
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, InvokeOnGpuTest, testing::ValuesIn(InvokeCases()),
                         [](const auto& test) { return std::string(test.param.op); });

TEST(AllFiniteOnGpuTest, FindsWhatIsNoNumber) {
  COOPER_REQUIRE_GPU();
  for (const InvokeCase& test : InvokeCases()) {
    if (!absl::EndsWith(test.op, "all_finite")) continue;
    for (const double poison : {std::nan(""), std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const auto arrays, RunInvoke(test, Context::Gpu(0), poison));
      EXPECT_EQ(arrays.back().ToVector<float>()->at(0), 0) << test.op << " with " << poison;
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const auto arrays, RunInvoke(test, Context::Gpu(0)));
    EXPECT_EQ(arrays.back().ToVector<float>()->at(0), 1) << test.op;
  }
}

}  // namespace
}  // namespace cooper
