#include "executor/run/invoke.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NDArray Vector(const std::vector<float>& values) {
  return *NDArray::FromVector<float>({static_cast<int64_t>(values.size())}, values);
}

TEST(InvokeTest, RunsAnOperatorInPlace) {
  const NDArray weight = Vector({1, 2}), grad = Vector({2, 4});
  COOPER_ASSERT_OK(Invoke("sgd_update", {{"lr", "0.25"}}, {&weight, &grad}, {&weight}));
  EXPECT_THAT(*weight.ToVector<float>(), ElementsAre(0.5, 1));
}

// Runs each update alone, and in parts on several threads.
TEST(InvokeTest, UpdatesFlushSubnormals) {
  for (const int64_t size : {10, 100'000}) {
    const NDArray weight = *NDArray::Zeros({size}), grad = *NDArray::Full({size}, 1.5e-38);
    OpCall call{.op = *FindOp("sgd_update")};
    call.params = *call.op->params()->Parse({{"lr", "0.5"}});
    std::vector<Invocation> invocations;
    invocations.push_back(*Invocation::Create(std::move(call), DeviceType::kCpu));
    COOPER_ASSERT_OK(invocations[0].SetArrays({&weight, &grad}, {&weight}));
    COOPER_ASSERT_OK(RunAll(invocations));
    COOPER_ASSERT_OK(invocations[0].Run());
    EXPECT_THAT(*weight.ToVector<float>(), ::testing::Each(0.0f));
  }
  volatile float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_NE(smallest * 2.0f, 0);
}

TEST(InvokeTest, RunsAnOperatorWithoutOutputs) {
  const NDArray a = Vector({1, 2}), b = Vector({3});
  COOPER_ASSERT_OK(Invoke("reset_arrays", {{"num_arrays", "2"}}, {&a, &b}, {}));
  EXPECT_THAT(*a.ToVector<float>(), ElementsAre(0, 0));
  EXPECT_THAT(*b.ToVector<float>(), ElementsAre(0));
}

TEST(InvokeTest, NamesWhatIsWrong) {
  const NDArray a = Vector({1});
  EXPECT_THAT(Invoke("sgd_updat", {}, {&a}, {&a}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("sgd_updat")));
  EXPECT_THAT(Invoke("sgd_update", {}, {&a, &a}, {&a}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'lr' is required")));
  OpCall call{.op = *FindOp("sgd_update")};
  EXPECT_THAT(Invocation::Create(std::move(call), DeviceType::kGpu),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("sgd_update")));
}

TEST(InvokeTest, ArraysThatTheRulesRefuse) {
  const NDArray two = Vector({1, 2}), three = Vector({1, 2, 3}), four = Vector({1, 2, 3, 4});
  const NDArray integers = *NDArray::Zeros({2}, DType::kInt32);
  const NDArray elsewhere = *NDArray::Zeros({2}, DType::kFloat32, Context::Cpu(1));
  const auto refused = [](const char* text) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text));
  };
  EXPECT_THAT(Invoke("sgd_update", {{"lr", "0.1"}}, {&two, &three}, {&two}), refused("sgd_update"));
  EXPECT_THAT(Invoke("sgd_update", {{"lr", "0.1"}}, {&four, &four}, {&two}), refused("(4,)"));
  EXPECT_THAT(Invoke("sgd_update", {{"lr", "0.1"}}, {&two}, {&two}), refused("1 inputs, expected"));
  EXPECT_THAT(Invoke("sgd_update", {{"lr", "0.1"}}, {&two, &two}, {}), refused("0 outputs"));
  EXPECT_THAT(Invoke("sgd_update", {{"lr", "0.1"}}, {&two, &integers}, {&two}), refused("int32"));
  EXPECT_THAT(Invoke("sgd_update", {{"lr", "0.1"}}, {&two, &elsewhere}, {&two}), refused("cpu(1)"));
  const NDArray nothing;
  EXPECT_THAT(Invoke("sgd_update", {{"lr", "0.1"}}, {&two, &nothing}, {&two}),
              refused("input 'grad' is a null array"));
  EXPECT_THAT(Invoke("sgd_update", {{"lr", "0.1"}}, {&nothing, &nothing}, {&nothing}),
              refused("input 'weight' is a null array"));
  EXPECT_THAT(*two.ToVector<float>(), ElementsAre(1, 2));
  // The check comes before a list of that many names is made.
  EXPECT_THAT(Invoke("add_n", {{"num_args", "2000000000"}}, {&two}, {&two}),
              refused("1 inputs, but num_args='2000000000'"));
}

TEST(InvokeTest, EachRunDrawsOtherNumbers) {
  const NDArray first = *NDArray::Zeros({100}), second = *NDArray::Zeros({100});
  COOPER_ASSERT_OK(Invoke("_random_uniform", {{"shape", "100"}}, {}, {&first}));
  COOPER_ASSERT_OK(Invoke("_random_uniform", {{"shape", "100"}}, {}, {&second}));
  EXPECT_NE(*first.ToVector<float>(), *second.ToVector<float>());
}

TEST(InvokeTest, TheDefaultSeedBeginsTheStreamAnew) {
  const auto draw = [](uint64_t seed) {
    SetDefaultSeed(seed);
    const NDArray drawn = *NDArray::Zeros({100});
    COOPER_EXPECT_OK(Invoke("_random_uniform", {{"shape", "100"}}, {}, {&drawn}));
    SetDefaultSeed(0);
    return *drawn.ToVector<float>();
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
}

TEST(InvokeTest, WhatTheKernelRefusesStaysRefused) {
  OpCall call{.op = *FindOp("sgd_update")};
  call.params = *call.op->params()->Parse({{"lr", "0.25"}});
  COOPER_ASSERT_OK_AND_ASSIGN(Invocation invocation,
                              Invocation::Create(std::move(call), DeviceType::kCpu));
  const NDArray integers = *NDArray::Zeros({2}, DType::kInt32);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(invocation.SetArrays({&integers, &integers}, {&integers}),
                StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("int32")));
  }
  const NDArray weight = Vector({1, 2}), grad = Vector({2, 4});
  COOPER_ASSERT_OK(invocation.SetArrays({&weight, &grad}, {&weight}));
  COOPER_ASSERT_OK(invocation.Run());
  EXPECT_THAT(*weight.ToVector<float>(), ElementsAre(0.5, 1));
}

// Tests large and small arrays, for several numbers of threads, with an operator in between that
// must run as a whole.
TEST(InvokeTest, RunAllIsRunOfEach) {
  const int threads = NumThreads();
  const int64_t sizes[] = {50'003, 3, 40'000, 1};
  const char* const ops[] = {"sgd_update", "sgd_update", "_lars_update", "sgd_update"};
  std::vector<std::vector<float>> expected;
  for (const int n : {0, 1, 3}) {  // 0: runs each one alone
    SetNumThreads(std::max(n, 1));
    std::vector<NDArray> arrays;
    std::vector<Invocation> invocations;
    for (int i = 0; i < 4; ++i) {
      arrays.push_back(*NDArray::Full({sizes[i]}, i + 1));
      OpCall call{.op = *FindOp(ops[i])};
      call.params = *call.op->params()->Parse({{"lr", "0.1"}});
      invocations.push_back(*Invocation::Create(std::move(call), DeviceType::kCpu));
    }
    for (int i = 0; i < 4; ++i) {
      COOPER_ASSERT_OK(invocations[i].SetArrays({&arrays[i], &arrays[i]}, {&arrays[i]}));
      if (n == 0) {
        COOPER_ASSERT_OK(invocations[i].Run());
      }
    }
    if (n > 0) {
      COOPER_ASSERT_OK(RunAll(invocations));
    }
    std::vector<std::vector<float>> results;
    results.reserve(arrays.size());
    for (const NDArray& array : arrays) results.push_back(*array.ToVector<float>());
    if (n == 0) expected = results;
    EXPECT_EQ(results, expected) << n << " threads";
  }
  EXPECT_NEAR(expected[1][0], 1.8, 1e-6);
  SetNumThreads(threads);
}

}  // namespace
}  // namespace cooper
