// Tests binding of modules on several contexts and in several buckets. The tests correspond to
// functions of MXNet 1.9.1's test_module.py, which their comments name (docs/mxnet_tests.md).

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/devices/data_parallel_executor_group.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/attr_scope.h"
#include "symbol/graph/name_manager.h"
#include "tests/module/module_fixtures.h"
#include "tests/module/parity_fixtures.h"

namespace cooper {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

Symbol TimeMajorRelu() {
  return Op("Activation", {.name = "relu",
                           .inputs = {Symbol::Variable("data")},
                           .attrs = {{"act_type", "relu"}, {"__layout__", "TNC"}}});
}

NDArray Ones(const Shape& shape, DType dtype = DType::kFloat32) {
  return *NDArray::Full(shape, 1, dtype);
}

// test_module_dtype: float16 data is computed and differentiated in float16.
TEST(ParityBindTest, TheDtypeOfTheDataIsThatOfOutputsAndGradients) {
  constexpr DType kHalf = DType::kFloat16;
  auto module = Make(TimeMajorRelu(), {.label_names = {}, .compute = {.contexts = Cpus(2)}});
  COOPER_ASSERT_OK(module->Bind(
      {.data_shapes = {{.name = "data", .shape = {2, 6, 3}, .dtype = kHalf, .layout = "TNC"}},
       .inputs_need_grad = true}));
  COOPER_ASSERT_OK(module->InitParams());
  COOPER_ASSERT_OK(module->Forward({.data = {Ones({2, 6, 3}, kHalf)}}));
  COOPER_ASSERT_OK(module->Backward({Ones({2, 6, 3}, kHalf)}));
  EXPECT_EQ((*module->GetOutputs())[0].dtype(), kHalf);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> grads, module->GetInputGrads());
  EXPECT_EQ(grads[0].dtype(), kHalf);
  EXPECT_THAT(Floats(grads[0]), Each(1));
}

// test_module_bind: a description that cannot be bound leaves the module unbound and usable.
TEST(ParityBindTest, ABindThatIsRefusedLeavesTheModuleUnbound) {
  auto module = Make(TimeMajorRelu(), {.label_names = {}, .compute = {.contexts = Cpus(2)}});
  EXPECT_THAT(module->Bind({.data_shapes = {{.name = "data", .shape = {}}}}),
              StatusIs(kInvalidArgument, HasSubstr("has no axis 0 to split over contexts")));
  EXPECT_FALSE(module->binded());
  COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "data", .shape = {10, 10}}}}));
  EXPECT_TRUE(module->binded());
  // Outputs are split and joined along the rows of data. MXNet's (5, 20), from the output's own
  // layout, would not be consistent.
  EXPECT_EQ(module->output_shapes()[0].second, Shape({10, 10}));
}

// test_module_input_grads: gradients are in the order of the data, for any order in the graph.
TEST(ParityBindTest, GradientsOfInputsAreInTheOrderOfTheData) {
  const auto times = [](const char* name, const char* factor) {
    const Symbol variable = Symbol::Variable(name, {.attrs = {{"__layout__", "NC"}}});
    return Op("_mul_scalar", {.inputs = {variable}, .attrs = {{"scalar", factor}}});
  };
  const Symbol sum =
      Op("add_n", {.name = "sum", .inputs = {times("a", "5"), times("b", "-2"), times("c", "3")}});
  auto module = Make(
      sum, {.data_names = {"b", "c", "a"}, .label_names = {}, .compute = {.contexts = Cpus(2)}});
  COOPER_ASSERT_OK(module->Bind({.data_shapes = {{.name = "b", .shape = {5, 4}},
                                                 {.name = "c", .shape = {5, 4}},
                                                 {.name = "a", .shape = {5, 4}}},
                                 .inputs_need_grad = true}));
  COOPER_ASSERT_OK(module->InitParams());
  const NDArray ones = Ones({5, 4});
  COOPER_ASSERT_OK(module->Forward({.data = {ones, ones, ones}}));
  COOPER_ASSERT_OK(module->Backward({ones}));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<NDArray> grads, module->GetInputGrads());
  ASSERT_EQ(grads.size(), 3u);
  EXPECT_THAT(Floats(grads[0]), Each(-2));
  EXPECT_THAT(Floats(grads[1]), Each(3));
  EXPECT_THAT(Floats(grads[2]), Each(5));
}

// Returns the gradients of a and b in 2 a * b, where a is in group "left" and b in "right".
std::vector<NDArray> GradientsOfProduct(int num_contexts, const GroupContexts& group2ctxs) {
  Symbol twice, product;
  {
    AttrScope left(AttrMap{{"ctx_group", "left"}});
    twice = Op("_mul_scalar", {.inputs = {Symbol::Variable("a")}, .attrs = {{"scalar", "2"}}});
  }
  {
    AttrScope right(AttrMap{{"ctx_group", "right"}});
    product = Op("elemwise_mul", {.inputs = {twice, Symbol::Variable("b")}});
  }
  auto module =
      Make(product, {.data_names = {"a", "b"},
                     .label_names = {},
                     .compute = {.contexts = Cpus(num_contexts), .group2ctxs = group2ctxs}});
  const Shape shape({4, 3});
  COOPER_EXPECT_OK(
      module->Bind({.data_shapes = {{.name = "a", .shape = shape}, {.name = "b", .shape = shape}},
                    .inputs_need_grad = true}));
  COOPER_EXPECT_OK(module->InitParams());
  COOPER_EXPECT_OK(
      module->Forward({.data = {RandomArray(shape, 1), RandomArray(shape, 2)}}, /*is_train=*/true));
  COOPER_EXPECT_OK(module->Backward({RandomArray(shape, 3)}));
  auto grads = module->GetInputGrads();
  EXPECT_TRUE(grads.ok()) << grads.status();
  return *std::move(grads);
}

// test_module_ctx_group: for all placements of the groups, in each form of the option, the
// gradients equal those of one context and are on the context of their group.
TEST(ParityBindTest, PartsOnOtherContextsComputeTheSame) {
  using Map = GroupContexts::Map;
  using ListMap = GroupContexts::ListMap;
  const auto cpu = [](int i) { return Context::Cpu(i); };
  const std::vector<NDArray> expected = GradientsOfProduct(1, {});
  const std::vector<NDArray> placed =
      GradientsOfProduct(1, Map{{"left", cpu(1)}, {"right", cpu(2)}});
  EXPECT_EQ(placed[0].context(), cpu(1));
  EXPECT_EQ(placed[1].context(), cpu(2));
  const std::pair<int, GroupContexts> cases[] = {
      {1, Map{{"left", cpu(1)}, {"right", cpu(2)}}},
      {2, std::vector<Map>{{{"left", cpu(2)}, {"right", cpu(3)}},
                           {{"left", cpu(4)}, {"right", cpu(5)}}}},
      {2, Map{{"left", cpu(2)}, {"right", cpu(3)}}},
      {2, ListMap{{"left", {cpu(2)}}, {"right", {cpu(3)}}}},
      {2, ListMap{{"left", {cpu(2)}}, {"right", {cpu(3), cpu(3)}}}},
      {2, ListMap{{"left", {cpu(2), cpu(4)}}, {"right", {cpu(3), cpu(5)}}}},
  };
  for (const auto& [num_contexts, group2ctxs] : cases) {
    const std::vector<NDArray> grads = GradientsOfProduct(num_contexts, group2ctxs);
    EXPECT_EQ(Floats(grads[0]), Floats(expected[0]));
    EXPECT_EQ(Floats(grads[1]), Floats(expected[1]));
  }
}

// Returns `length` layers for each group, which share the weights of the group.
absl::StatusOr<BucketSymbol> TwoGroups(const BucketKey& length) {
  Symbol net = Symbol::Variable("data");
  for (const std::string group : {"left", "right"}) {
    AttrScope scope(AttrMap{{"ctx_group", group}});
    const Symbol weight = Symbol::Variable(group + "_weight");
    const Symbol bias = Symbol::Variable(group + "_bias");
    for (int64_t i = 0; i < length.int_value(); ++i) {
      net = Op("FullyConnected", {.name = group + std::to_string(i),
                                  .inputs = {net, weight, bias},
                                  .attrs = {{"num_hidden", "6"}}});
    }
  }
  AttrScope scope(AttrMap{{"ctx_group", "right"}});
  const Symbol label = Symbol::Variable("label");
  return BucketSymbol{.symbol = Op("SoftmaxOutput", {.name = "softmax", .inputs = {net, label}}),
                      .label_names = {"label"}};
}

// test_bucket_module_ctx_group: buckets with groups compute the same as buckets without.
TEST(ParityBindTest, BucketsTakeGroupsOfContexts) {
  const auto run = [](const GroupContexts& group2ctxs) {
    auto module = *BucketingModule::Create(
        {.sym_gen = TwoGroups, .default_bucket_key = 3, .compute = {.group2ctxs = group2ctxs}});
    const std::vector<DataDesc> data = {{.name = "data", .shape = {5, 6}}};
    const std::vector<DataDesc> label = {{.name = "label", .shape = {5}}};
    COOPER_EXPECT_OK(
        module->Bind({.data_shapes = data, .label_shapes = label, .inputs_need_grad = true}));
    EXPECT_TRUE(module->binded());
    COOPER_EXPECT_OK(module->InitParams({.initializer = init::Uniform(0.5)}));
    std::vector<std::vector<float>> grads;
    for (int64_t key : {3, 2}) {
      COOPER_EXPECT_OK(module->ForwardBackward({.data = {RandomArray({5, 6}, 1)},
                                                .label = {Classes(5, 6, 1)},
                                                .bucket_key = key,
                                                .provide_data = data,
                                                .provide_label = label}));
      grads.push_back(Floats((*module->GetInputGrads())[0]));
      grads.push_back(Floats(*module->GetGrad("left_weight")));
    }
    return grads;
  };
  const auto placed =
      run(std::vector<GroupContexts::Map>{{{"left", Context::Cpu(1)}, {"right", Context::Cpu(2)}}});
  EXPECT_EQ(placed, run({}));
}

// test_module_layout: the layout determines the axis that is split over the contexts and joined.
TEST(ParityBindTest, TheLayoutSaysWhichAxisIsSplit) {
  auto module = Make(TimeMajorRelu(), {.label_names = {}, .compute = {.contexts = Cpus(2)}});
  const Shape shape({2, 6, 3});
  COOPER_ASSERT_OK(
      module->Bind({.data_shapes = {{.name = "data", .shape = shape, .layout = "TNC"}}}));
  COOPER_ASSERT_OK(module->InitParams());
  const NDArray values = *NDArray::Full(shape, 0.5);
  COOPER_ASSERT_OK(module->Forward({.data = {values}}));
  COOPER_ASSERT_OK(module->Backward({values}));
  EXPECT_EQ((*module->GetOutputs())[0].shape(), shape);
  EXPECT_EQ(Floats((*module->GetOutputs())[0]), Floats(values));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto parts, module->executor_group()->OutputsByContext());
  ASSERT_EQ(parts.size(), 2u);
  for (const auto& outputs : parts) EXPECT_EQ(outputs[0].shape(), Shape({2, 3, 3}));
}

// test_module_switch_bucket: automatic names start from 0 in each bucket, and binding a bucket
// again takes no more memory than the first time.
TEST(ParityBindTest, ABucketThatComesBackReusesTheMemory) {
  constexpr int64_t kRows = 4;
  const auto descs = [](const char* name, int64_t length) {
    return std::vector<DataDesc>{{.name = name, .shape = {kRows, length}, .layout = "NT"}};
  };
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto module,
      BucketingModule::Create({.sym_gen =
                                   [](const BucketKey& key) {
                                     return BucketSymbol{
                                         .symbol = WordsNet(static_cast<int>(key.int_value()))};
                                   },
                               .default_bucket_key = 6,
                               .max_bound_buckets = 1}));
  COOPER_ASSERT_OK(
      module->Bind({.data_shapes = descs("data", 6), .label_shapes = descs("softmax_label", 6)}));
  COOPER_ASSERT_OK(module->InitParams({.initializer = init::Xavier()}));
  const std::vector<std::string> names = module->symbol()->ListArguments();
  EXPECT_EQ(names[1], "embedding0_weight");
  const int64_t bytes = module->group()->arena_bytes();
  EXPECT_EQ(bytes, module->Report()[0].memory.planned_bytes);
  for (int64_t length : {3, 6, 3}) {  // each takes the place of the one before
    COOPER_ASSERT_OK(
        module->SwitchBucket(length, descs("data", length), descs("softmax_label", length)));
    ASSERT_EQ(module->Report().size(), 1u);
    EXPECT_EQ(module->Report()[0].key, BucketKey(length));
    EXPECT_EQ(module->group()->arena_bytes(), bytes);
    EXPECT_EQ(module->symbol()->ListArguments()[1], names[1]);
  }
}

// test_executor_group: a second group of executors, of a deeper network, uses parameters and
// gradients of the first one, on each context, and the rows of the same batch.
TEST(ParityBindTest, GroupsOfExecutorsShareWhatHasOneName) {
  constexpr int64_t kRows = 4, kLength = 5;
  const std::vector<DataDesc> data = {{.name = "data", .shape = {kRows, kLength}, .layout = "NT"}};
  const std::vector<DataDesc> label = {
      {.name = "softmax_label", .shape = {kRows, kLength}, .layout = "NT"}};
  const ModuleOptions options = {.compute = {.contexts = Cpus(2), .work_load_list = {1, 1}}};
  const auto bind = [&](const Symbol& symbol, ModuleGroup* group) {
    auto bound = DataParallelExecutorGroup::Bind(
        symbol, options, {.data_shapes = data, .label_shapes = label}, group);
    EXPECT_TRUE(bound.ok()) << bound.status();
    return std::pair(*std::move(bound), ParamNames(symbol.ListArguments(), options));
  };
  ModuleGroup group(Cpus(2));
  // Both embeddings have the automatic name of the first one.
  const auto [shallow, shared_names] = [&] {
    NameManager names;
    return bind(WordsNet(kLength, {.num_layers = 2}), &group);
  }();
  const int64_t shallow_bytes = shallow->memory().planned_bytes;
  EXPECT_EQ(group.arena_bytes(), shallow_bytes);
  const auto [deep, deep_names] = [&] {
    NameManager names;
    return bind(WordsNet(kLength, {.num_layers = 3}), &group);
  }();
  EXPECT_EQ(deep_names.size(), shared_names.size() + 4);
  EXPECT_EQ(group.arena_bytes(), deep->memory().planned_bytes) << "one arena, not two";
  const NDArray words = *NDArray::Zeros({kRows, kLength});
  COOPER_ASSERT_OK(shallow->SetInput(0, &words));
  COOPER_ASSERT_OK(deep->SetInput(0, &words));
  for (int i = 0; i < 2; ++i) {
    const Executor& a = shallow->executor(i);
    const Executor& b = deep->executor(i);
    for (const std::string& name : shared_names) {
      EXPECT_THAT(deep_names, Contains(name));
      EXPECT_EQ(a.arg(name).raw_data(), b.arg(name).raw_data()) << name;
      EXPECT_EQ(a.grad(name).raw_data(), b.grad(name).raw_data()) << name;
    }
    EXPECT_NE(a.arg("pred_weight").raw_data(),
              shallow->executor(1 - i).arg("pred_weight").raw_data());
    // Batches are read in place.
    EXPECT_EQ(a.arg("data").raw_data(), words.Slice(2 * i, 2 * i + 2)->raw_data());
    EXPECT_EQ(b.arg("data").raw_data(), a.arg("data").raw_data());
  }
}

// test_bucket_module_grad_req: every bucket writes or adds, as set in Bind.
TEST(ParityBindTest, GradReqIsThatOfAllBuckets) {
  const SymGen scaled_sum = [](const BucketKey&) -> absl::StatusOr<BucketSymbol> {
    const Symbol scale =
        Symbol::Variable("scale", {.shape = PartialShape({1}), .init = R"(["one", {}])"});
    const Symbol product = Op("broadcast_mul", {.inputs = {Symbol::Variable("data"), scale}});
    return BucketSymbol{.symbol = Op("make_loss", {.inputs = {product}}), .label_names = {}};
  };
  const std::vector<DataDesc> data = {{.name = "data", .shape = {3}, .layout = "N"}};
  for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        auto module, BucketingModule::Create({.sym_gen = scaled_sum, .default_bucket_key = 10}));
    COOPER_ASSERT_OK(module->Bind({.data_shapes = data, .grad_req = req}));
    COOPER_ASSERT_OK(module->InitParams());
    float expected = 0;
    for (int64_t key : {10, 5}) {
      const DataBatch batch = {
          .data = {*NDArray::Full({3}, 2)}, .bucket_key = key, .provide_data = data};
      COOPER_ASSERT_OK(module->ForwardBackward(batch));
      expected = req == WriteReq::kAdd ? expected + 6 : 6;
      EXPECT_THAT(Floats(*module->GetGrad("scale")), ElementsAre(expected)) << "bucket " << key;
    }
  }
}

}  // namespace
}  // namespace cooper
