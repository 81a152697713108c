// Tests wrong uses of modules: labels, batches and shapes that are missing, misnamed or do not fit,
// and keys that sym_gen does not accept. The messages must be clear to the caller.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/ndarray_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

std::unique_ptr<DataIter> RandomRows(int64_t rows) {
  return *NDArrayIter::Create({{"data", RandomArray({rows, 6}, 5)}},
                              {{"softmax_label", Classes(rows, 3, 5)}}, {.batch_size = 4});
}

FitOptions Options() { return {.progress = nullptr, .num_epoch = 1}; }

class EmptyIter : public DataIter {
 public:
  absl::StatusOr<std::optional<DataBatch>> Next() override { return std::nullopt; }
  absl::Status Reset() override { return absl::OkStatus(); }
  const std::vector<DataDesc>& provide_data() const override { return data_; }
  const std::vector<DataDesc>& provide_label() const override { return label_; }
  int64_t batch_size() const override { return 4; }

 private:
  const std::vector<DataDesc> data_ = {{.name = "data", .shape = {4, 6}, .layout = "NC"}};
  const std::vector<DataDesc> label_ = {{.name = "softmax_label", .shape = {4}, .layout = "N"}};
};

TEST(WrongUseTest, AnIteratorWithoutABatch) {
  EmptyIter empty;
  auto module = *Module::Create(TwoLayers());
  EXPECT_THAT(module->Fit(empty, Options()),
              StatusIs(kInvalidArgument, HasSubstr("Fit: epoch 0: train_data has no batch")));
  auto train = RandomRows(8);
  FitOptions options = Options();
  options.eval_data = &empty;
  EXPECT_THAT(module->Fit(*train, options),
              StatusIs(kInvalidArgument, HasSubstr("Fit: epoch 0: eval_data has no batch")));
}

TEST(WrongUseTest, AUsedUpIteratorBeginsAgain) {
  auto module = *Module::Create(TwoLayers());
  auto train = RandomRows(8);
  int batches = 0;
  FitOptions options = Options();
  options.batch_end_callbacks.push_back([&](const BatchEndParam&) {
    ++batches;
    return true;
  });
  for (int i = 0; i < 3; ++i) COOPER_ASSERT_OK(train->Next());
  COOPER_EXPECT_OK(module->Fit(*train, options));
  EXPECT_EQ(batches, 2);
}

TEST(WrongUseTest, ABatchWithoutLabels) {
  auto module = *Module::Create(TwoLayers());
  COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {4, 6}}},
                                 .label_shapes = {{.name = "softmax_label", .shape = {4}}}}));
  COOPER_ASSERT_OK(module->InitParams());
  EXPECT_THAT(module->ForwardBackward({.data = {RandomArray({4, 6}, 1)}}),
              StatusIs(kInvalidArgument,
                       HasSubstr("the batch had no labels, expected softmax_label (4,)")));
  // Outputs do not need a label.
  COOPER_EXPECT_OK(module->Forward({.data = {RandomArray({4, 6}, 1)}}, /*is_train=*/true));
}

TEST(WrongUseTest, WhatANetworkMayTakeIsBounded) {
  auto module = *Module::Create(TwoLayers());
  const auto bind = [&](int64_t max_bytes) {
    return module->Bind({.data_shapes = {{.name = "data", .shape = {4, 6}}},
                         .label_shapes = {{.name = "softmax_label", .shape = {4}}},
                         .max_bytes = max_bytes});
  };
  EXPECT_THAT(bind(200), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("the 200 of")));
  COOPER_ASSERT_OK(bind(100'000));
  COOPER_ASSERT_OK(module->InitParams());
  const std::string prefix = testing::TempDir() + "/bounded";
  COOPER_ASSERT_OK(module->SaveCheckpoint(prefix, 1));
  EXPECT_THAT(Module::Load(prefix, 1, false, {.compute = {.load_limits = {.nodes = 3}}}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("LoadLimits::nodes")));
  COOPER_EXPECT_OK(Module::Load(prefix, 1).status());
}

TEST(WrongUseTest, TrainingWithoutLabelShapes) {
  auto module = *Module::Create(TwoLayers());
  auto train = *NDArrayIter::Create({{"data", RandomArray({8, 6}, 5)}}, {}, {.batch_size = 4});
  EXPECT_THAT(module->Fit(*train, Options()),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("Fit: epoch 0, batch 0"),
                                               HasSubstr("bound without label_shapes, expected "
                                                         "those of softmax_label"))));
}

TEST(WrongUseTest, LabelNamesThatNoArgumentHas) {
  // The loss's label is another argument than the named one.
  auto module = *Module::Create(TwoLayers(), {.label_names = {"lable"}});
  auto train = RandomRows(8);
  EXPECT_THAT(module->Fit(*train, Options()),
              StatusIs(kInvalidArgument, AllOf(HasSubstr("softmax_label"), HasSubstr("lable"))));
  const ModuleBindOptions bind = {.data_shapes = {{.name = "data", .shape = {4, 6}}}};
  EXPECT_THAT(module->Bind(bind),
              StatusIs(kInvalidArgument,
                       HasSubstr("'softmax_label' is the label of SoftmaxOutput 'softmax', but not "
                                 "among label_names (lable)")));
  // A loss composed of other operators, whose label is under an undeclared name.
  const Symbol difference =
      Op("elemwise_sub", {.name = "difference",
                          .inputs = {Op("FullyConnected", {.name = "fc",
                                                           .inputs = {Symbol::Variable("data")},
                                                           .attrs = {{"num_hidden", "1"}}}),
                                     Symbol::Variable("target")}});
  const Symbol loss =
      Op("MakeLoss", {.name = "loss", .inputs = {Op("square", {.inputs = {difference}})}});
  module = *Module::Create(loss, {.label_names = {"tagret"}});
  EXPECT_THAT(module->Bind(bind),
              StatusIs(kInvalidArgument, HasSubstr("label_names has 'tagret', which is no "
                                                   "argument of the symbol; candidates: target")));
  // Inference needs no labels, and a graph without one may be bound without them.
  COOPER_EXPECT_OK(module->Bind({.data_shapes = bind.data_shapes, .for_training = false}));
}

// data * mask, by rows, -> fc (2) -> softmax.
Symbol Masked() {
  const Symbol product =
      Op("broadcast_mul",
         {.name = "masked", .inputs = {Symbol::Variable("data"), Symbol::Variable("mask")}});
  const Symbol fc =
      Op("FullyConnected", {.name = "fc", .inputs = {product}, .attrs = {{"num_hidden", 2}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}});
}

TEST(WrongUseTest, AnInputThatOneSideDoesNotDeclare) {
  const std::string declare =
      "in ModuleOptions::data_names (of a bucket, in the BucketSymbol that sym_gen returns)";
  const struct {
    std::vector<std::string> declared, given;
    std::string message;
  } kCases[] = {
      {{"data"},
       {"data", "mask"},
       "Bind: data_shapes has (data, mask), expected data_names (data); declare the input 'mask' " +
           declare},
      {{"data"},
       {"data", "musk"},
       "expected data_names (data); the symbol has no argument 'musk'; did you mean 'mask'?"},
      {{"data", "mask"},
       {"data"},
       "Bind: data_shapes has (data), expected data_names (data, mask); 'mask' is in data_names, "
       "so the iterator's provide_data (or the caller of Bind) has to describe it"},
      {{"data"},
       {"data"},
       "'mask' is in neither data_names (data) nor label_names (softmax_label), and taken for a "
       "parameter: an input is declared " +
           declare + ", and the iterator's provide_data describes it"}};
  for (const auto& c : kCases) {
    NamedSources data;
    for (const std::string& name : c.given) data.push_back({name, RandomArray({8, 6}, 5)});
    auto iter =
        *NDArrayIter::Create(data, {{"softmax_label", Classes(8, 2, 5)}}, {.batch_size = 4});
    auto module = *Module::Create(Masked(), {.data_names = c.declared});
    const absl::Status status = module->Fit(*iter, Options());
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr(c.message));
  }
  // Its shape follows from others, so only its name tells that it is not a parameter.
  const Symbol sum =
      Op("elemwise_add", {.inputs = {Symbol::Variable("data"), Symbol::Variable("mask")}});
  auto module = *Module::Create(Op("SoftmaxOutput", {.name = "softmax", .inputs = {sum}}));
  auto train = RandomRows(8);
  EXPECT_THAT(
      module->Fit(*train, Options()),
      StatusIs(kInvalidArgument, AllOf(HasSubstr("no rule for 'mask'"),
                                       HasSubstr("what batches give has to be among the module's "
                                                 "data_names"))));
  auto labelled = *NDArrayIter::Create(
      {{"data", RandomArray({8, 6}, 5)}},
      {{"softmax_label", Classes(8, 3, 5)}, {"fc1_bias", Classes(8, 3, 5)}}, {.batch_size = 4});
  EXPECT_THAT((*Module::Create(TwoLayers()))->Fit(*labelled, Options()),
              StatusIs(kInvalidArgument,
                       HasSubstr("Bind: label_shapes has 'fc1_bias', expected label_names "
                                 "(softmax_label); declare the input 'fc1_bias' in "
                                 "ModuleOptions::label_names")));
}

TEST(WrongUseTest, WhatIsNotLinkedIsNamedWithItsTarget) {
  const Symbol take =
      Op("take",
         {.name = "words", .inputs = {Symbol::Variable("table_weight"), Symbol::Variable("data")}});
  const ModuleBindOptions bind = {.data_shapes = {{.name = "data", .shape = {4}}},
                                  .for_training = false};
  EXPECT_THAT((*Module::Create(take))->Bind({.data_shapes = bind.data_shapes}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("table_weight")));
  const Symbol known =
      *take.Compose({{"table_weight", Symbol::Variable("table_weight", {.shape = {7, 2}})}});
  EXPECT_THAT((*Module::Create(known))->Bind(bind),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("no kernel of operator take for cpu is linked into this program; "
                                 "link @cooper//executor/cpu/index, or "
                                 "@cooper//executor/cpu:all_kernels")));
  const std::pair<const char*, const char*> kOptimizers[] = {
      {"Adam", "optimizer 'Adam' is not linked: its target is @cooper//module/optimizer:adam"},
      {"rmspop",
       "no optimizer 'rmspop', expected one of ccsgd, dcasgd, nag, sgd, sgld, signum; did you mean "
       "'rmsprop'? 'rmsprop' is not linked: its target is @cooper//module/optimizer:adagrad"},
      {"sdg", "did you mean 'sgd'"}};
  for (const auto& [name, message] : kOptimizers) {
    auto module = *Module::Create(TwoLayers());
    auto train = RandomRows(8);
    FitOptions options = Options();
    options.optimizer.optimizer = name;
    EXPECT_THAT(module->Fit(*train, options),
                StatusIs(absl::StatusCode::kNotFound, HasSubstr(message)));
  }
}

// An iterator with buckets, whose default one this is.
class KeyedIter : public EmptyIter {
 public:
  std::optional<BucketKey> default_bucket_key() const override { return 40; }
};

TEST(WrongUseTest, ADefaultKeyThatIsNotTheIterators) {
  const SymGen sym_gen = [](const BucketKey&) -> Symbol { return TwoLayers(); };
  for (const BucketKey& key : {BucketKey(60), BucketKey("40")}) {
    auto module = *BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = key});
    KeyedIter iter;
    EXPECT_THAT(
        module->Fit(iter, Options()),
        StatusIs(kInvalidArgument,
                 AllOf(HasSubstr("Bind: the module's default_bucket_key is the "),
                       HasSubstr(key.ToString()),
                       HasSubstr("but the shapes are those of the integer 40, the iterator's "
                                 "default: create the module with .default_bucket_key = "
                                 "iterator->default_bucket_key()"))));
    EXPECT_FALSE(module->binded());
  }
}

TEST(WrongUseTest, AParameterWhoseShapeDependsOnTheKey) {
  // A layer over all steps together, and one with the key in its name.
  const SymGen sym_gen = [](const BucketKey& key) -> Symbol {
    const Symbol own = Op("FullyConnected", {.name = "own" + key.ToString(),
                                             .inputs = {Symbol::Variable("data")},
                                             .attrs = {{"num_hidden", key.int_value()}}});
    const Symbol fc =
        Op("FullyConnected", {.name = "fc", .inputs = {own}, .attrs = {{"num_hidden", 2}}});
    return Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}});
  };
  const std::vector<DataDesc> label = {{.name = "softmax_label", .shape = {4}}};
  const auto shapes = [](int64_t length) {
    return std::vector<DataDesc>{{.name = "data", .shape = {4, length}}};
  };
  for (const bool trained : {false, true}) {
    auto module = *BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = 20});
    COOPER_ASSERT_OK(module->Bind({.data_shapes = shapes(20), .label_shapes = label}));
    if (trained) {
      COOPER_ASSERT_OK(module->InitParams());
    }
    EXPECT_THAT(module->SwitchBucket(10, shapes(10), label),
                StatusIs(kInvalidArgument,
                         AllOf(testing::StartsWith(
                                   "bucket key 10: parameter 'fc_weight' is (2, 10) for this key, "
                                   "but (2, 20) for the default bucket key 20: all keys share it, "
                                   "so its shape must not depend on the key: bound to data"),
                               HasSubstr("FullyConnected 'fc'"))));
  }
}

SymGen MeanOfKey() {
  return [](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    EXPECT_GT(key.int_value(), 0);
    return BucketSymbol{.symbol = MeanOverTime()};
  };
}

TEST(WrongUseTest, AnotherKindIsAStatusWithBothKeys) {
  auto module = *BucketingModule::Create({.sym_gen = MeanOfKey(), .default_bucket_key = 3});
  const auto shapes = [](int64_t length) {
    return std::vector<DataDesc>{{.name = "data", .shape = {4, length}}};
  };
  const std::vector<DataDesc> label = {{.name = "softmax_label", .shape = {4}}};
  COOPER_ASSERT_OK(module->Bind({.data_shapes = shapes(3), .label_shapes = label}));
  COOPER_ASSERT_OK(module->InitParams());
  for (const BucketKey& key : {BucketKey("long"), BucketKey({3, 4})}) {
    DataBatch batch = {.data = {RandomArray({4, 3}, 1)}, .label = {Classes(4, 2, 1)}};
    batch.bucket_key = key;
    batch.provide_data = shapes(3);
    batch.provide_label = label;
    const auto refused =
        StatusIs(kInvalidArgument,
                 AllOf(HasSubstr("bucket key " + key.ToString()),
                       HasSubstr("the default key is the integer 3"),
                       HasSubstr((key.is_string() ? "than the string " : "than the tuple ") +
                                 key.ToString())));
    EXPECT_THAT(module->Forward(batch), refused);
    EXPECT_THAT(module->Prepare(batch), refused);
    EXPECT_THAT(module->SwitchBucket(key, shapes(3), label), refused);
    EXPECT_THAT(module->PrepareAll({{.key = key, .data_shapes = shapes(3), .label_shapes = label}}),
                refused);
  }
  EXPECT_THAT(BucketingModule::Create({.sym_gen = MeanOfKey(), .default_bucket_key = "long"}),
              StatusIs(kInvalidArgument, HasSubstr("than the string 'long'")));
}

TEST(WrongUseTest, GradientsOfWhatHasNone) {
  const auto bind = [](const std::string& name, WriteReq req) {
    auto module = *Module::Create(TwoLayers(), {.compute = {.fixed_param_names = {"fc1_bias"}}});
    return module->Bind({.data_shapes = {{.name = "data", .shape = {4, 6}}},
                         .label_shapes = {{.name = "softmax_label", .shape = {4}}},
                         .grad_reqs = {{name, req}}});
  };
  for (const char* name : {"data", "softmax_label", "fc1_bias"}) {
    EXPECT_THAT(bind(name, WriteReq::kAdd),
                StatusIs(kInvalidArgument, HasSubstr(std::string("'") + name + "', which is")));
    COOPER_EXPECT_OK(bind(name, WriteReq::kNull));
  }
}

// The symbol of a key has a slice that fits only that key's length.
TEST(WrongUseTest, ErrorsBeginWithTheKeyAndTheBatch) {
  const SymGen sym_gen = [](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    const Symbol reshaped = Op("Reshape", {.name = "steps",
                                           .inputs = {Symbol::Variable("data")},
                                           .attrs = {{"shape", "(4, " + key.ToString() + ")"}}});
    const Symbol mean =
        Op("mean", {.inputs = {reshaped}, .attrs = {{"axis", "1"}, {"keepdims", "1"}}});
    const Symbol fc =
        Op("FullyConnected", {.name = "fc", .inputs = {mean}, .attrs = {{"num_hidden", "2"}}});
    return BucketSymbol{.symbol = Op("SoftmaxOutput", {.name = "softmax", .inputs = {fc}})};
  };
  auto module = *BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = 3});
  EXPECT_THAT(
      module->Bind({.data_shapes = {{.name = "data", .shape = {4, 5}, .layout = "NT"}},
                    .label_shapes = {{.name = "softmax_label", .shape = {4}, .layout = "N"}}}),
      StatusIs(kInvalidArgument,
               AllOf(testing::StartsWith("bucket key 3: bound to data (4, 5) float32 NT, "
                                         "softmax_label (4,) float32 N: "),
                     HasSubstr("Reshape 'steps'"))));
}

}  // namespace
}  // namespace cooper
