// The cells of the example's language model: how many parameters each has, and that it trains.

#include "examples/language_model.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing_module.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBatchSize = 2;
constexpr int64_t kLength = 3;
constexpr int64_t kVocab = 11;
constexpr int64_t kEmbed = 5;
constexpr int64_t kHidden = 4;

struct CellCase {
  std::string cell;
  int64_t gates;
};

std::vector<DataDesc> Desc(const std::string& name) {
  return {{.name = name, .shape = Shape({kBatchSize, kLength}), .layout = "NT"}};
}

absl::StatusOr<std::unique_ptr<BucketingModule>> MakeModel(const std::string& cell,
                                                           bool bidirectional) {
  COOPER_ASSIGN_OR_RETURN(SymGen sym_gen, MakeLanguageModel({.vocab = kVocab,
                                                             .num_embed = kEmbed,
                                                             .num_hidden = kHidden,
                                                             .cell = cell,
                                                             .bidirectional = bidirectional}));
  COOPER_ASSIGN_OR_RETURN(
      auto model, BucketingModule::Create(
                      {.sym_gen = std::move(sym_gen), .default_bucket_key = BucketKey(kLength)}));
  COOPER_RETURN_IF_ERROR(
      model->Bind({.data_shapes = Desc("data"), .label_shapes = Desc("softmax_label")}));
  COOPER_RETURN_IF_ERROR(model->InitParams({.initializer = LanguageModelInitializer()}));
  COOPER_RETURN_IF_ERROR(model->InitOptimizer());
  return model;
}

class CellTest : public testing::TestWithParam<CellCase> {};

// Two biases for each gate, as in MXNet and PyTorch.
int64_t LayerParameters(int64_t gates, int64_t inputs) {
  return gates * kHidden * (inputs + kHidden + 2);
}

TEST_P(CellTest, HasTheParametersOfItsGates) {
  for (const bool bidirectional : {false, true}) {
    auto model = MakeModel(GetParam().cell, bidirectional);
    ASSERT_THAT(model.status(), IsOk());
    const int64_t directions = bidirectional ? 2 : 1;
    const int64_t features = directions * kHidden;
    const int64_t gates = GetParam().gates;
    EXPECT_EQ((*model)->group()->parameters().num_elements(),
              kVocab * kEmbed +
                  directions * (LayerParameters(gates, kEmbed) + LayerParameters(gates, features)) +
                  (features + 1) * kVocab)
        << "bidirectional " << bidirectional;
  }
}

TEST_P(CellTest, Trains) {
  for (const bool bidirectional : {false, true}) {
    auto model = MakeModel(GetParam().cell, bidirectional);
    ASSERT_THAT(model.status(), IsOk());
    auto data = NDArray::FromVector<float>(Shape({kBatchSize, kLength}), {1, 2, 3, 4, 5, 6});
    ASSERT_THAT(data.status(), IsOk());
    const DataBatch batch = {.data = {*data},
                             .label = {*data},
                             .bucket_key = BucketKey(kLength),
                             .provide_data = Desc("data"),
                             .provide_label = Desc("softmax_label")};
    COOPER_EXPECT_OK((*model)->ForwardBackward(batch));
    COOPER_EXPECT_OK((*model)->Update());
    auto outputs = (*model)->GetOutputs();
    ASSERT_THAT(outputs.status(), IsOk());
    EXPECT_EQ((*outputs)[0].shape(), Shape({kBatchSize * kLength, kVocab}));
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, CellTest,
                         testing::Values(CellCase{"lstm", 4}, CellCase{"gru", 3},
                                         CellCase{"rnn", 1}, CellCase{"fused", 4},
                                         CellCase{"fused_gru", 3}, CellCase{"fused_rnn", 1}),
                         [](const auto& info) { return info.param.cell; });

TEST(LanguageModelTest, RefusesOtherCells) {
  EXPECT_THAT(MakeLanguageModel({.vocab = kVocab, .cell = "dense"}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'dense', expected lstm")));
}

}  // namespace
}  // namespace cooper
