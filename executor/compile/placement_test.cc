// Tests graphs with parts that are placed on other contexts.

#include "executor/compile/placement.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/profiler.h"
#include "symbol/graph/attr_scope.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Symbol Layer(const Symbol& x, const Symbol& weight, const std::string& name) {
  return Op(
      "FullyConnected",
      {.name = name, .inputs = {x, weight}, .attrs = {{"num_hidden", "4"}, {"no_bias", "True"}}});
}

// Returns three layers in the groups a, b and a. They share one weight, which is in no group.
Symbol ThreeLayers() {
  NameManager names;
  const Symbol weight = Symbol::Variable("weight");
  Symbol x = Symbol::Variable("data");
  int layer = 0;
  for (const char* group : {"a", "b", "a"}) {
    AttrScope scope(AttrMap{{"ctx_group", group}});
    x = Layer(x, weight, "fc" + std::to_string(layer++));
    x = Op("tanh", {.inputs = {x}});
  }
  return x;
}

struct Outcome {
  std::vector<float> output;
  std::map<std::string, std::vector<float>> grads;
  std::string program;
  MemoryReport memory;
};

Outcome RunOnce(const Symbol& symbol, const std::map<std::string, Context>& group2ctx,
                WriteReq req = WriteReq::kWrite) {
  Outcome run;
  auto executor = Executor::SimpleBind(
      symbol,
      {.group2ctx = group2ctx, .shapes = {{"data", PartialShape({3, 4})}}, .grad_req = req});
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!executor.ok()) return run;
  for (const auto& [name, array] : (*executor)->arg_dict()) FillRandom(array, name.size());
  for (const auto& [name, array] : (*executor)->grad_dict()) FillRandom(array, name.size() + 1);
  COOPER_EXPECT_OK((*executor)->Forward(true));
  run.output = Floats((*(*executor)->outputs())[0]);
  const NDArray head = *NDArray::Full({3, 4}, 1);
  COOPER_EXPECT_OK((*executor)->Backward({head}));
  for (const auto& [name, array] : (*executor)->grad_dict()) {
    run.grads[name] = Floats(array);
  }
  run.program = (*executor)->DebugString();
  run.memory = (*executor)->memory();
  return run;
}

TEST(PlacementTest, ResultsDoNotDependOnIt) {
  const struct {
    std::map<std::string, Context> group2ctx;
    bool copies;
  } placements[] = {
      {{{"a", Context::Cpu(0)}, {"b", Context::Cpu(1)}}, true},
      {{{"a", Context::Cpu(1)}, {"b", Context::Cpu(2)}}, true},
      // The layers of the other group follow.
      {{{"b", Context::Cpu(1)}}, false},
      {{{"a", Context::Cpu(3)}}, false},
      {{{"c", Context::Cpu(1)}}, false},
  };
  for (WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    const Outcome here = RunOnce(ThreeLayers(), {}, req);
    EXPECT_THAT(here.program, Not(HasSubstr("_CrossDeviceCopy")));
    for (const auto& [group2ctx, copies] : placements) {
      const Outcome placed = RunOnce(ThreeLayers(), group2ctx, req);
      EXPECT_EQ(placed.output, here.output);
      ASSERT_EQ(placed.grads.size(), here.grads.size());
      for (const auto& [name, grad] : here.grads) {
        EXPECT_THAT(placed.grads.at(name), testing::Pointwise(testing::FloatNear(1e-5f), grad))
            << name;
      }
      EXPECT_EQ(placed.program.find("_CrossDeviceCopy") != std::string::npos, copies);
    }
  }
}

TEST(PlacementTest, AProfileHasTheCopies) {
  StartProfile();
  RunOnce(ThreeLayers(), {{"b", Context::Cpu(1)}, {"a", Context::Cpu(0)}});
  const Profile profile = StopProfile();
  int forward = 0;
  int backward = 0;
  for (const ProfileEvent& event : profile.events) {
    if (event.name != "_CrossDeviceCopy") continue;
    ++(event.category == ProfileCategory::kBackward ? backward : forward);
  }
  EXPECT_GE(forward, 2);  // copies to the layer in b and back
  EXPECT_GE(backward, 2);
}

TEST(PlacementTest, EveryContextHasAPlanOfItsOwn) {
  const Outcome placed = RunOnce(ThreeLayers(), {{"b", Context::Cpu(1)}});
  EXPECT_THAT(placed.program, HasSubstr("on cpu(1)"));
  EXPECT_GE(placed.memory.planned_bytes, placed.memory.lower_bound);
  EXPECT_GT(placed.memory.arena_bytes, 0);
}

// A node without a group is placed with its inputs, a variable with its first reader.
TEST(PlacementTest, TheRestFollows) {
  const Symbol net = ThreeLayers();
  auto executor = Executor::SimpleBind(
      net, {.group2ctx = {{"a", Context::Cpu(1)}}, .shapes = {{"data", PartialShape({3, 4})}}});
  COOPER_ASSERT_OK(executor.status());
  EXPECT_EQ((*executor)->arg_names(), (std::vector<std::string>{"data", "weight"}));
  EXPECT_THAT((*executor)->arg_contexts(), ElementsAre(Context::Cpu(1), Context::Cpu(1)));
  EXPECT_EQ((*executor)->arg("weight").context(), Context::Cpu(1));
  EXPECT_EQ((*executor)->grad("weight").context(), Context::Cpu(1));
}

// Copies the two outputs of one operator to two other contexts. Each copy has a name of its own.
TEST(PlacementTest, MonitoredCopiesHaveNamesOfTheirOwn) {
  const auto in_group = [](const char* group, const char* op, const OpArgs& args) {
    AttrScope scope(AttrMap{{"ctx_group", group}});
    return Op(op, args);
  };
  const Symbol halves = in_group(
      "here", "SliceChannel",
      {.name = "halves", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_outputs", "2"}}});
  std::vector<Symbol> sums;
  for (const char* group : {"a", "b"}) {
    sums.push_back(
        in_group(group, "elemwise_add", {.name = group, .inputs = {halves[0], halves[1]}}));
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol net, Symbol::Group(sums));
  COOPER_ASSERT_OK_AND_ASSIGN(
      auto executor,
      Executor::SimpleBind(
          net,
          {.group2ctx = {{"here", Context::Cpu(0)}, {"a", Context::Cpu(1)}, {"b", Context::Cpu(2)}},
           .shapes = {{"data", PartialShape({3, 4})}}}));
  std::vector<std::string> copies;
  executor->SetMonitorCallback([&copies](const std::string& name, const NDArray&) {
    if (name.find("copy") != std::string::npos) copies.push_back(name);
  });
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_THAT(
      copies,
      ElementsAre("halves_output0_copy_cpu(1)_output", "halves_output1_copy_cpu(1)_output",
                  "halves_output0_copy_cpu(2)_output", "halves_output1_copy_cpu(2)_output"));
}

// Tests a BatchNorm with fix_gamma, which writes its gamma: here a copy of gamma on another
// context, which is copied back.
TEST(PlacementTest, CopiesBackGoToTheArrayThatSetArgGave) {
  NameManager names;
  const Symbol gamma = Symbol::Variable("gamma");
  Symbol x = Symbol::Variable("data");
  for (const char* group : {"a", "b"}) {
    AttrScope scope(AttrMap{{"ctx_group", group}});
    x = Op("BatchNorm", {.inputs = {x, gamma}});
  }
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor,
      Executor::SimpleBind(x, {.group2ctx = {{"a", Context::Cpu(1)}, {"b", Context::Cpu(2)}},
                               .shapes = {{"data", PartialShape({3, 4})}},
                               .grad_req = WriteReq::kNull}));
  ASSERT_THAT(executor->DebugString(), HasSubstr("gamma_copy_cpu(1)"));
  const NDArray old = executor->arg("gamma");
  COOPER_ASSERT_OK(executor->Forward(true));
  COOPER_ASSERT_OK(old.Fill(5));
  const NDArray gamma_array = *NDArray::Full({4}, 7);
  COOPER_ASSERT_OK(executor->SetArg("gamma", gamma_array));
  COOPER_ASSERT_OK(executor->Forward(true));
  EXPECT_THAT(Floats(old), Each(5.0F));
  EXPECT_THAT(Floats(gamma_array), Each(1.0F));
}

TEST(PlacementTest, WhatCannotRunMovesToTheCpuWithItsOwnVariables) {
  NameManager names;
  const Symbol weight = Symbol::Variable("weight");
  const Symbol first = Layer(Symbol::Variable("data"), weight, "fc0");
  const Symbol normal = Op("BatchNorm", {.name = "bn", .inputs = {first}});
  const Symbol net = Layer(normal, weight, "fc1");
  const IndexedGraph graph(net.outputs());
  const auto move = [&graph](const std::set<std::string>& names_on_gpu) {
    Placement placement = PlaceNodes(graph, {}, Context::Gpu(1));
    MoveToCpu(
        graph,
        [&](int i, Context context) {
          EXPECT_EQ(context, Context::Gpu(1));
          return names_on_gpu.contains(graph.nodes()[i]->name());
        },
        &placement);
    std::set<std::string> on_cpu;
    for (int i = 0; i < graph.num_nodes(); ++i) {
      if (placement.contexts[placement.of_node[i]].is_cpu())
        on_cpu.insert(graph.nodes()[i]->name());
    }
    return on_cpu;
  };
  EXPECT_THAT(move({"fc0", "bn", "fc1"}), IsEmpty());
  EXPECT_THAT(move({"fc0", "fc1"}),
              ElementsAre("bn", "bn_beta", "bn_gamma", "bn_moving_mean", "bn_moving_var"));
  // The other layer, which stays, reads the weight too.
  EXPECT_THAT(move({"bn", "fc1"}), ElementsAre("data", "fc0"));
  EXPECT_THAT(move({"bn"}), ElementsAre("data", "fc0", "fc1", "weight"));
}

TEST(PlacementTest, FallbackChangesNothingWhereAllKernelsAre) {
  const auto bind = [](bool fallback) {
    auto executor = Executor::SimpleBind(
        ThreeLayers(), {.fallback = fallback, .shapes = {{"data", PartialShape({3, 4})}}});
    EXPECT_TRUE(executor.ok()) << executor.status();
    return (*executor)->memory().planned_bytes;
  };
  EXPECT_EQ(bind(true), bind(false));
}

TEST(PlacementTest, AContextThatIsNotThereIsAnError) {
  auto executor = Executor::SimpleBind(ThreeLayers(), {.group2ctx = {{"a", Context::Gpu(99)}},
                                                       .shapes = {{"data", PartialShape({3, 4})}}});
  EXPECT_THAT(executor.status().message(), HasSubstr("gpu(99)"));
}

}  // namespace
}  // namespace cooper
