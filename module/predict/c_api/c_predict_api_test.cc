// Tests the C interface through libcooper_predict.so alone, as programs use it.

#include "module/predict/c_api/c_predict_api.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "symbol/json/json.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr uint32_t kFeatures = 4;

ArrayMap Params() {
  return {{"fc1_weight", RandomArray({5, kFeatures}, 1)},
          {"fc1_bias", RandomArray({5}, 2)},
          {"fc2_weight", RandomArray({3, 5}, 3)},
          {"fc2_bias", RandomArray({3}, 4)}};
}

std::string ParamBytes() {
  NamedArrays arrays;
  for (const auto& [name, array] : Params()) arrays.emplace_back("arg:" + name, array);
  return *SerializeNamedArrays(arrays);
}

std::vector<float> Expected(const NDArray& data) {
  BindOptions options{.grad_req = WriteReq::kNull, .args = Params()};
  options.args["data"] = data;
  auto executor = Executor::SimpleBind(TwoLayers(), options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  EXPECT_TRUE((*executor)->Forward(false).ok());
  return Floats((*(*executor)->outputs())[0]);
}

// Matches equal values up to rounding: the library uses other matrix products than the executor
// here.
testing::Matcher<const std::vector<float>&> Near(const std::vector<float>& expected) {
  return Pointwise(FloatNear(1e-6f), expected);
}

class PredictApiTest : public testing::Test {
 protected:
  ~PredictApiTest() override {
    for (PredictorHandle handle : handles_) EXPECT_EQ(MXPredFree(handle), 0);
  }

  int Create(uint32_t rows, PredictorHandle* out) {
    const uint32_t shape[] = {rows, kFeatures};
    const int result = MXPredCreate(json_.c_str(), params_.data(), static_cast<int>(params_.size()),
                                    1, 0, 1, &kData, kIndptr, shape, out);
    if (result == 0) handles_.push_back(*out);
    return result;
  }

  // Returns the outputs for (rows, kFeatures) data.
  static std::vector<float> Run(PredictorHandle handle, const NDArray& data) {
    EXPECT_EQ(MXPredSetInput(handle, "data", static_cast<const float*>(data.raw_data()),
                             static_cast<uint32_t>(data.size())),
              0)
        << MXGetLastError();
    EXPECT_EQ(MXPredForward(handle), 0) << MXGetLastError();
    std::vector<float> out(static_cast<size_t>(data.shape()[0]) * 3);
    EXPECT_EQ(MXPredGetOutput(handle, 0, out.data(), static_cast<uint32_t>(out.size())), 0)
        << MXGetLastError();
    return out;
  }

  static constexpr uint32_t kIndptr[] = {0, 2};
  const char* kData = "data";
  const std::string json_ = SymbolToJson(TwoLayers());
  const std::string params_ = ParamBytes();
  std::vector<PredictorHandle> handles_;
};

TEST_F(PredictApiTest, Predicts) {
  PredictorHandle handle = nullptr;
  ASSERT_EQ(Create(2, &handle), 0) << MXGetLastError();
  uint32_t* shape = nullptr;
  uint32_t ndim = 0;
  ASSERT_EQ(MXPredGetOutputShape(handle, 0, &shape, &ndim), 0);
  EXPECT_THAT(std::vector<uint32_t>(shape, shape + ndim), ElementsAre(2, 3));
  int type = -1;
  ASSERT_EQ(MXPredGetOutputType(handle, 0, &type), 0);
  EXPECT_EQ(type, 0);
  for (uint64_t seed : {7, 8}) {
    const NDArray data = RandomArray({2, kFeatures}, seed);
    EXPECT_THAT(Run(handle, data), Near(Expected(data)));
  }
}

TEST_F(PredictApiTest, Reshapes) {
  PredictorHandle handle = nullptr;
  ASSERT_EQ(Create(2, &handle), 0);
  for (uint32_t rows : {7, 1, 2}) {
    const uint32_t shape[] = {rows, kFeatures};
    PredictorHandle reshaped = nullptr;
    ASSERT_EQ(MXPredReshape(1, &kData, kIndptr, shape, handle, &reshaped), 0) << MXGetLastError();
    const NDArray data = RandomArray({rows, kFeatures}, rows);
    EXPECT_THAT(Run(reshaped, data), Near(Expected(data)));
    const NDArray old = RandomArray({2, kFeatures}, 9);
    EXPECT_THAT(Run(handle, old), Near(Expected(old)));
    MXPredFree(reshaped);
  }
  const uint32_t other[] = {2, kFeatures + 1};
  PredictorHandle reshaped = nullptr;
  EXPECT_EQ(MXPredReshape(1, &kData, kIndptr, other, handle, &reshaped), -1);
  EXPECT_THAT(MXGetLastError(), HasSubstr("fc1"));
}

TEST_F(PredictApiTest, HandlesOfSeveralThreads) {
  constexpr int kThreads = 4;
  const uint32_t shape[] = {2, kFeatures};
  std::vector<PredictorHandle> handles(kThreads);
  ASSERT_EQ(MXPredCreateMultiThread(json_.c_str(), params_.data(), static_cast<int>(params_.size()),
                                    1, 0, 1, &kData, kIndptr, shape, kThreads, handles.data()),
            0)
      << MXGetLastError();
  handles_ = handles;
  std::vector<int> right(kThreads, 0);
  std::vector<std::vector<float>> expected;
  expected.reserve(20);
  for (int k = 0; k < 20; ++k) expected.push_back(Expected(RandomArray({2, kFeatures}, k)));
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 20; ++k) {
        right[t] +=
            testing::Value(Run(handles[t], RandomArray({2, kFeatures}, k)), Near(expected[k]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(kThreads, 20));
}

TEST_F(PredictApiTest, OutputsOfInnerNodes) {
  const uint32_t shape[] = {2, kFeatures};
  const char* outputs[] = {"act", "fc1"};
  PredictorHandle handle = nullptr;
  const auto create = [&] {
    return MXPredCreatePartialOut(json_.c_str(), params_.data(), static_cast<int>(params_.size()),
                                  1, 0, 1, &kData, kIndptr, shape, 2, outputs, &handle);
  };
  ASSERT_EQ(create(), 0) << MXGetLastError();
  handles_.push_back(handle);
  uint32_t* dims = nullptr;
  uint32_t ndim = 0;
  ASSERT_EQ(MXPredGetOutputShape(handle, 1, &dims, &ndim), 0);
  EXPECT_THAT(std::vector<uint32_t>(dims, dims + ndim), ElementsAre(2, 5));
  EXPECT_EQ(MXPredGetOutputShape(handle, 2, &dims, &ndim), -1);
  EXPECT_THAT(MXGetLastError(), HasSubstr("output 2 of a network of 2"));
  outputs[1] = "fc9";
  EXPECT_EQ(create(), -1);
  EXPECT_THAT(MXGetLastError(), HasSubstr("fc9_output"));
}

TEST_F(PredictApiTest, GoesStepByStep) {
  PredictorHandle handle = nullptr;
  ASSERT_EQ(Create(2, &handle), 0);
  const NDArray data = RandomArray({2, kFeatures}, 3);
  ASSERT_EQ(MXPredSetInput(handle, "data", static_cast<const float*>(data.raw_data()), 8), 0);
  int left = 1;
  int steps = 0;
  for (; left > 0 && steps < 1000; ++steps) {
    ASSERT_EQ(MXPredPartialForward(handle, steps, &left), 0) << MXGetLastError();
  }
  EXPECT_GT(steps, 1);
  std::vector<float> out(6);
  ASSERT_EQ(MXPredGetOutput(handle, 0, out.data(), 6), 0) << MXGetLastError();
  EXPECT_THAT(out, Near(Expected(data)));
}

TEST_F(PredictApiTest, CallsMonitors) {
  PredictorHandle handle = nullptr;
  ASSERT_EQ(Create(2, &handle), 0);
  std::vector<std::string> names;
  ASSERT_EQ(MXPredSetMonitorCallback(
                handle,
                [](const char* name, NDArrayHandle, void* to) {
                  static_cast<std::vector<std::string>*>(to)->emplace_back(name);
                },
                &names, false),
            0);
  ASSERT_EQ(MXPredForward(handle), 0);
  EXPECT_THAT(names, Contains("fc1_output"));
}

TEST_F(PredictApiTest, TellsWhatIsWrong) {
  PredictorHandle handle = nullptr;
  ASSERT_EQ(Create(2, &handle), 0);
  const std::vector<float> values(9);
  const auto expect_error = [](int result, const auto& message) {
    EXPECT_EQ(result, -1);
    EXPECT_THAT(MXGetLastError(), message);
  };
  expect_error(MXPredSetInput(handle, "dat", values.data(), 8),
               AllOf(HasSubstr("'dat'"), HasSubstr("did you mean")));
  expect_error(MXPredSetInput(handle, "data", values.data(), 9),
               AllOf(HasSubstr("'data' has 8 elements"), HasSubstr("size is 9")));
  expect_error(MXPredSetInput(handle, "data", nullptr, 8), HasSubstr("data is null"));
  expect_error(MXPredSetInput(nullptr, "data", values.data(), 8), HasSubstr("handle is null"));
  std::vector<float> out(6);
  expect_error(MXPredGetOutput(handle, 0, out.data(), 6), HasSubstr("Forward"));
  ASSERT_EQ(MXPredForward(handle), 0);
  expect_error(MXPredGetOutput(handle, 0, out.data(), 5), HasSubstr("output 0 has 6 elements"));
  expect_error(MXPredGetOutput(handle, 1, out.data(), 6), HasSubstr("output 1"));
  // A label is an argument in MXNet.
  EXPECT_EQ(MXPredSetInput(handle, "softmax_label", values.data(), 2), 0);
  EXPECT_EQ(MXPredSetInput(handle, "softmax_label", values.data(), 8), 0) << "of any size";

  const uint32_t shape[] = {2, kFeatures};
  const auto create = [&](const char* json, const std::string& params, int dev_type) {
    return MXPredCreate(json, params.data(), static_cast<int>(params.size()), dev_type, 0, 1,
                        &kData, kIndptr, shape, &handle);
  };
  expect_error(create("{", params_, 1), HasSubstr("JSON"));
  expect_error(create(json_.c_str(), "no parameters", 1), HasSubstr("expected 0x112"));
  expect_error(create(json_.c_str(), params_.substr(0, params_.size() / 2), 1),
               HasSubstr("are left in the file"));
  expect_error(MXPredCreate(json_.c_str(), params_.data(), static_cast<int>(params_.size()), 1, 0,
                            1, nullptr, kIndptr, shape, &handle),
               HasSubstr("input_keys is null"));
  expect_error(MXPredGetOutputShape(handle, 0, nullptr, nullptr), HasSubstr("shape_data is null"));
  expect_error(create(json_.c_str(), params_, 7), HasSubstr("dev_type is 7"));
  kData = "date";
  expect_error(create(json_.c_str(), params_, 1), HasSubstr("'date'"));
}

TEST_F(PredictApiTest, ReadsListsOfArrays) {
  const std::string bytes =
      *SerializeNamedArrays({{"mean_img", *NDArray::FromVector<float>({1, 3}, {1, 2, 3})},
                             {"counts", *NDArray::FromVector<int32_t>({2}, {4, 5})}});
  NDListHandle list = nullptr;
  uint32_t length = 0;
  ASSERT_EQ(MXNDListCreate(bytes.data(), static_cast<int>(bytes.size()), &list, &length), 0);
  ASSERT_EQ(length, 2);
  const char* key = nullptr;
  const float* data = nullptr;
  const uint32_t* shape = nullptr;
  uint32_t ndim = 0;
  ASSERT_EQ(MXNDListGet(list, 0, &key, &data, &shape, &ndim), 0);
  EXPECT_STREQ(key, "mean_img");
  EXPECT_THAT(std::vector<uint32_t>(shape, shape + ndim), ElementsAre(1, 3));
  EXPECT_THAT(std::vector<float>(data, data + 3), ElementsAre(1, 2, 3));
  ASSERT_EQ(MXNDListGet(list, 1, &key, &data, &shape, &ndim), 0);
  EXPECT_THAT(std::vector<float>(data, data + 2), ElementsAre(4, 5));
  EXPECT_EQ(MXNDListGet(list, 2, &key, &data, &shape, &ndim), -1);
  EXPECT_EQ(MXNDListFree(list), 0);
}

}  // namespace
}  // namespace cooper
