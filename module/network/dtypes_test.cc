// Tests arrays of other dtypes than float32: integer labels, checkpoints of float16 and float64.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/network/module.h"
#include "module/parameters/checkpoint.h"
#include "module/predict/predictor.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

Symbol Classifier() {
  return Op("SoftmaxOutput", {.name = "softmax",
                              .inputs = {Op("FullyConnected", {.name = "fc",
                                                               .inputs = {Symbol::Variable("data")},
                                                               .attrs = {{"num_hidden", "3"}}})}});
}

// Returns the weights after training with these labels on data of this dtype.
absl::StatusOr<std::vector<double>> Trained(DType data, const NDArray& labels, int contexts) {
  COOPER_ASSIGN_OR_RETURN(const auto iter,
                          NDArrayIter::Create({{"data", *RandomArray({4, 6}, 1).AsType(data)}},
                                              {{"softmax_label", labels}}, {.batch_size = 2}));
  ModuleOptions options;
  options.compute.contexts.assign(contexts, Context::Cpu());
  for (int i = 0; i < contexts; ++i) options.compute.contexts[i] = Context::Cpu(i);
  COOPER_ASSIGN_OR_RETURN(const auto module, Module::Create(Classifier(), options));
  COOPER_RETURN_IF_ERROR(module->Fit(*iter, {.params = {.seed = 3}, .num_epoch = 2}));
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, module->GetParams());
  EXPECT_EQ(params.args.at("fc_weight").dtype(), data);
  return params.args.at("fc_weight").ToVector<double>();
}

TEST(DTypesTest, LabelsOfAnyDTypeFeedTheLossInItsOwn) {
  const NDArray classes = *NDArray::FromVector<float>({4}, {0, 1, 2, 1});
  for (const int contexts : {1, 2}) {
    for (const DType data : {DType::kFloat32, DType::kFloat64}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<double> expected,
                                  Trained(data, *classes.AsType(data), contexts));
      for (const DType label : {DType::kUint8, DType::kInt8, DType::kInt32, DType::kInt64,
                                DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
        EXPECT_THAT(Trained(data, *classes.AsType(label), contexts), IsOkAndHolds(expected))
            << DTypeName(label) << " on " << contexts << " contexts";
      }
    }
  }
}

TEST(DTypesTest, ALabelThatTheLossCannotHoldIsAnError) {
  const NDArray labels = *NDArray::FromVector<int64_t>({4}, {0, 1, 2, (1 << 24) + 1});
  EXPECT_THAT(Trained(DType::kFloat32, labels, 1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("softmax_label"),
                             HasSubstr("has the value 16777217, which float32 does not hold; give "
                                       "an array of that dtype (NDArray::AsType)"))));
}

TEST(DTypesTest, DataKeepTheirDTypeWhichMayHaveNoKernel) {
  EXPECT_THAT(Trained(DType::kInt32, *NDArray::Zeros({4}), 1),
              StatusIs(absl::StatusCode::kUnimplemented, AllOf(HasSubstr("int32; it takes float32"),
                                                               HasSubstr("(NDArray::AsType)"))));
}

// As in a module, the data are float32 by default.
TEST(DTypesTest, CheckpointsOfOtherFloatsPredictAsInAModule) {
  const std::string prefix = testing::TempDir() + "/other_floats";
  const Symbol fc =
      Op("FullyConnected",
         {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "3"}}});
  const Symbol net = Op("BatchNorm", {.name = "bn", .inputs = {fc}});
  const NDArray data = RandomArray({2, 6}, 5), one = *NDArray::FromVector<float>({3}, {1, 2, 3});
  for (const DType dtype : {DType::kFloat16, DType::kFloat64}) {
    SCOPED_TRACE(DTypeName(dtype));
    ArrayMap args, auxs;
    args["fc_weight"] = *RandomArray({3, 6}, 7).AsType(dtype);
    for (const char* name : {"fc_bias", "bn_gamma", "bn_beta"}) args[name] = *one.AsType(dtype);
    for (const char* name : {"bn_moving_mean", "bn_moving_var"}) auxs[name] = one;
    COOPER_ASSERT_OK(SaveCheckpoint(prefix, 1, net, args, auxs));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto module,
                                Module::Load(prefix, 1, false, {.label_names = {}}));
    COOPER_ASSERT_OK(
        module->Bind({.data_shapes = {{.name = "data", .shape = {2, 6}}}, .for_training = false}));
    COOPER_ASSERT_OK(module->Forward({.data = {data}}, /*is_train=*/false));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto expected, module->GetOutputs());
    for (const KnownTypes& types : {KnownTypes(), KnownTypes{{"data", DType::kFloat32}}}) {
      COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor,
                                  Predictor::Load(prefix, 1, {.types = types}));
      for (int i = 0; i < 2; ++i) {
        COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, predictor->Predict({{"data", data}}));
        EXPECT_EQ(outputs[0].dtype(), DType::kFloat32);
        EXPECT_THAT(Floats(outputs[0]), Pointwise(FloatNear(1e-4f), Floats(expected[0])));
      }
      // Data of `dtype` does not fit the checkpoint: its BatchNorm averages are float32.
      EXPECT_FALSE(predictor->Predict({{"data", *data.AsType(dtype)}}).ok());
    }
  }
}

TEST(DTypesTest, ACheckpointsOwnDTypeIsTakenBesideFloat32) {
  const Symbol net =
      Op("broadcast_mul", {.inputs = {Symbol::Variable("data"), Symbol::Variable("scale")}});
  const NDArray half = *RandomArray({1, 6}, 7).AsType(DType::kFloat16);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Create(net, {{"scale", half}}));
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat16}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto outputs, predictor->Predict({{"data", *RandomArray({2, 6}, 5).AsType(dtype)}}));
    EXPECT_EQ(outputs[0].dtype(), dtype);
  }
  EXPECT_THAT(predictor->Predict({{"data", *NDArray::Zeros({2, 6}, DType::kFloat64)}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected float16")));
}

TEST(DTypesTest, AnInputOfAnotherDTypeIsNamed) {
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto predictor, Predictor::Create(Classifier(), {{"fc_weight", RandomArray({3, 6}, 7)},
                                                             {"fc_bias", *NDArray::Zeros({3})}}));
  EXPECT_THAT(
      predictor->Predict({{"data", *NDArray::Zeros({2, 6}, DType::kInt32)}}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("input 'data' is (2, 6) int32 cpu(0), expected float32; convert it "
                         "(NDArray::AsType), or name its dtype in PredictorOptions::types")));
}

}  // namespace
}  // namespace cooper
