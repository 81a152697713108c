// Tests conveniences that MXNet's scripts call: checkpoints at the ends of epochs, also with cells'
// weights unpacked, and one seed for everything.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/checkpoint/do_checkpoint.h"
#include "module/checkpoint/rnn_checkpoint.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "module/parameters/checkpoint.h"
#include "module/sequential_module.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "symbol/rnn/unroll.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

std::string Prefix(const char* name) { return testing::TempDir() + "/" + name; }

std::unique_ptr<NDArrayIter> Rows(bool shuffle = false) {
  return *NDArrayIter::Create({{"data", RandomArray({8, 6}, 1)}},
                              {{"softmax_label", Classes(8, 3, 2)}},
                              {.batch_size = 4, .shuffle = shuffle});
}

std::vector<float> Weight(const BaseModule& module) {
  return Floats(module.GetParams()->args.at("fc1_weight"));
}

TEST(DoCheckpointTest, SavesTheModuleThatIsTrained) {
  const std::string prefix = Prefix("trained");
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, Module::Create(TwoLayers()));
  const auto data = Rows();
  COOPER_ASSERT_OK(model->Fit(
      *data, {.epoch_end_callbacks = {DoCheckpoint(prefix, /*period=*/2)}, .num_epoch = 4}));
  EXPECT_FALSE(ReadFile(ParamsPath(prefix, 1)).ok());
  EXPECT_TRUE(ReadFile(ParamsPath(prefix, 2)).ok());
  COOPER_ASSERT_OK_AND_ASSIGN(auto loaded, Module::Load(prefix, 4));
  COOPER_ASSERT_OK(loaded->Bind({.data_shapes = data->provide_data(), .for_training = false}));
  EXPECT_EQ(Weight(*loaded), Weight(*model));
}

TEST(DoCheckpointTest, AModuleWithoutASymbolSaysWhatToSave) {
  SequentialModule chain;
  EXPECT_THAT(DoCheckpoint("no_such")(0, chain),
              StatusIs(kUnimplemented, AllOf(HasSubstr("this kind of module has no symbol"),
                                             HasSubstr("SaveParams"))));
}

// A bucketed run resumed from files with optimizer states equals the uninterrupted run.
TEST(ModuleCheckpointTest, OptimizerStatesOfBucketsAreSaved) {
  const std::string prefix = Prefix("buckets");
  const BucketingModuleOptions options = {.sym_gen = [](const BucketKey&) { return TwoLayers(); },
                                          .default_bucket_key = 1};
  const FitOptions fit = {
      .optimizer = {.optimizer = "sgd",
                    .optimizer_params = {{"learning_rate", "0.1"}, {"momentum", "0.9"}}},
      .params = {.initializer = init::Uniform(0.5)},
      .num_epoch = 2};
  const auto data = Rows();
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, BucketingModule::Create(options));
  EXPECT_THAT(ModuleCheckpoint(*model, prefix, 1, /*save_optimizer_states=*/true)(0, *model),
              StatusIs(kFailedPrecondition, HasSubstr("SaveCheckpoint: call Bind first")));
  FitOptions saving = fit;
  saving.epoch_end_callbacks = {
      ModuleCheckpoint(*model, prefix, /*period=*/1, /*save_optimizer_states=*/true)};
  COOPER_ASSERT_OK(model->Fit(*data, saving));
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto resumed, BucketingModule::Load(prefix, 1, options, /*load_optimizer_states=*/true));
  FitOptions rest = fit;
  rest.begin_epoch = 1;
  COOPER_ASSERT_OK(resumed->Fit(*data, rest));
  EXPECT_EQ(Weight(*resumed), Weight(*model));
  COOPER_ASSERT_OK_AND_ASSIGN(auto without, BucketingModule::Load(prefix, 1, options));
  COOPER_ASSERT_OK(without->Fit(*data, rest));
  EXPECT_NE(Weight(*without), Weight(*model));
}

// The cell of a network over 3 steps: two LSTM layers in one operator, or unfused.
Symbol OverSteps(BaseRNNCell& cell) {
  const Unrolled steps = Unroll(cell, 3, Symbol::Variable("data"), {.merge_outputs = true});
  const Symbol fc =
      Op("FullyConnected",
         {.name = "fc", .inputs = {steps.outputs.merged()}, .attrs = {{"num_hidden", "3"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}});
}

std::vector<DataDesc> StepData() { return {{.name = "data", .shape = {2, 3, 4}, .layout = "NTC"}}; }

absl::StatusOr<std::unique_ptr<Module>> BoundToSteps(const Symbol& net) {
  auto model = Module::Create(net);
  if (!model.ok()) return model;
  const absl::Status status = (*model)->Bind(
      {.data_shapes = StepData(), .label_shapes = {{.name = "softmax_label", .shape = {2}}}});
  if (!status.ok()) return status;
  return model;
}

// MXNet's functions let a network be trained fused and used unfused.
TEST(RnnCheckpointTest, FusedCellsAreSavedAndUnfusedOnesLoaded) {
  const std::string prefix = Prefix("cells");
  const auto fused =
      std::make_shared<FusedRNNCell>(5, FusedRNNCellOptions{.num_layers = 2, .prefix = "lstm_"});
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, BoundToSteps(OverSteps(*fused)));
  COOPER_ASSERT_OK(model->InitParams({.initializer = init::Uniform(0.5)}));
  const EpochEndCallback save = DoRnnCheckpoint({fused}, prefix, /*period=*/2);
  EXPECT_THAT(save(0, *model), IsOkAndHolds(true));
  EXPECT_FALSE(ReadFile(ParamsPath(prefix, 1)).ok());
  EXPECT_THAT(save(1, *model), IsOkAndHolds(true));

  COOPER_ASSERT_OK_AND_ASSIGN(const Checkpoint plain, LoadCheckpoint(prefix, 2));
  EXPECT_THAT(plain.args, AllOf(Contains(Key("lstm_l1_h2h_f_weight")), Contains(Key("fc_weight")),
                                Not(Contains(Key("lstm_parameters")))));
  COOPER_ASSERT_OK_AND_ASSIGN(const Checkpoint again, LoadRnnCheckpoint({fused}, prefix, 2));
  EXPECT_EQ(Floats(again.args.at("lstm_parameters")),
            Floats(model->GetParams()->args.at("lstm_parameters")));

  const RNNCellPtr unfused = fused->Unfuse();
  COOPER_ASSERT_OK_AND_ASSIGN(const Checkpoint loaded, LoadRnnCheckpoint({unfused}, prefix, 2));
  COOPER_ASSERT_OK_AND_ASSIGN(auto other, BoundToSteps(OverSteps(*unfused)));
  COOPER_ASSERT_OK(other->SetParams(loaded.args, loaded.auxs));
  const NDArray data = RandomArray({2, 3, 4}, 7);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> expected, model->Predict(data));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> outputs, other->Predict(data));
  // Sums of 5 products of numbers below 1 in another order: a few times 5 * 2^-24.
  EXPECT_THAT(Floats(outputs[0]),
              testing::Pointwise(testing::FloatNear(1e-5f), Floats(expected[0])));
}

TEST(RnnCheckpointTest, ErrorsNameWeightAndFile) {
  const std::string prefix = Prefix("wrong_cells");
  const auto cell = std::make_shared<FusedRNNCell>(5, FusedRNNCellOptions{.prefix = "lstm_"});
  const Symbol net = TwoLayers();
  EXPECT_THAT(SaveRnnCheckpoint({cell}, prefix, 1, net, {}, {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("lstm_parameters")));
  COOPER_ASSERT_OK(SaveCheckpoint(prefix, 1, net, {}, {}));
  EXPECT_THAT(LoadRnnCheckpoint({cell}, prefix, 1),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("wrong_cells-0001.params: "), HasSubstr("lstm_"))));
}

// Initial values, dropout and the order of an iterator follow from the one seed.
TEST(DefaultSeedTest, EverythingThatHasNoSeedOfItsOwnFollowsIt) {
  struct Draws {
    std::vector<float> weight;
    std::vector<float> dropped;
    std::vector<float> rows;
    bool operator==(const Draws&) const = default;
  };
  const auto draw = [](uint64_t seed) {
    SetDefaultSeed(seed);
    auto model = *Module::Create(
        Op("Dropout", {.inputs = {Op("FullyConnected", {.name = "fc1",
                                                        .inputs = {Symbol::Variable("data")},
                                                        .attrs = {{"num_hidden", "16"}}})}}),
        {.label_names = {}});
    const auto data = Rows(/*shuffle=*/true);
    COOPER_EXPECT_OK(model->Bind({.data_shapes = data->provide_data()}));
    COOPER_EXPECT_OK(model->InitParams({.initializer = init::Uniform(1)}));
    const DataBatch batch = **data->Next();
    COOPER_EXPECT_OK(model->Forward(batch, /*is_train=*/true));
    Draws draws = {.weight = Weight(*model), .dropped = {}, .rows = Floats(batch.data[0])};
    for (const float value : Floats((*model->GetOutputs())[0])) {
      draws.dropped.push_back(value == 0 ? 0 : 1);
    }
    SetDefaultSeed(0);
    return draws;
  };
  const Draws zero = draw(0);
  const Draws seven = draw(7);
  EXPECT_NE(seven.weight, zero.weight);
  EXPECT_NE(seven.dropped, zero.dropped);
  EXPECT_NE(seven.rows, zero.rows);
  EXPECT_EQ(draw(7), seven);
}

}  // namespace
}  // namespace cooper
