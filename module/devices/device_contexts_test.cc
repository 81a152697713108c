#include "module/devices/device_contexts.h"

#include <vector>

#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

TEST(DeviceContextsTest, ContextsShareAPositionButDrawDifferentNumbers) {
  DeviceContexts devices({Context::Cpu(0), Context::Cpu(1)});
  ASSERT_EQ(devices.size(), 2);
  EXPECT_EQ(devices.context(1), Context::Cpu(1));
  devices.SetSeed(7);
  devices.random(0)->runs = 3;
  devices.AlignRandom();
  EXPECT_EQ(devices.random(1)->seed, 7u);
  EXPECT_EQ(devices.random(1)->runs, 3u);
  devices.SetRank(2);
  EXPECT_EQ(devices.random(0)->replica, 4u);
  EXPECT_EQ(devices.random(1)->replica, 5u);
  // A position that was put back is not another process's device.
  devices.SetRandomPosition({.seed = 9, .runs = 1, .replica = 0});
  EXPECT_EQ(devices.random(0)->seed, 9u);
  EXPECT_EQ(devices.random(1)->runs, 1u);
  EXPECT_EQ(devices.random(0)->replica, 4u);
  devices.SetSeed(1);
  EXPECT_EQ(devices.random(1)->runs, 0u);
}

TEST(DeviceContextsTest, EvaluationDrawsOtherNumbersThanTraining) {
  DeviceContexts devices({Context::Cpu()});
  devices.SetSeed(7);
  const Symbol net =
      Op("Dropout",
         {.name = "drop", .inputs = {Symbol::Variable("data")}, .attrs = {{"mode", "always"}}});
  std::vector<std::vector<float>> outputs;
  for (const auto& random : {devices.random(0), devices.evaluation_random(0)}) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto executor,
        Executor::SimpleBind(
            net, {.shapes = {{"data", {64}}}, .grad_req = WriteReq::kNull, .random = random}));
    COOPER_ASSERT_OK(executor->arg("data").Fill(1));
    COOPER_ASSERT_OK(executor->Forward(false));
    outputs.push_back(Floats((*executor->outputs())[0]));
  }
  EXPECT_NE(outputs[0], outputs[1]);
}

TEST(DeviceContextsTest, ArenasAreCountedTogether) {
  DeviceContexts devices({Context::Cpu(0), Context::Cpu(1)});
  EXPECT_EQ(devices.arena_bytes(), 0);
  COOPER_ASSERT_OK(devices.arena(0)->Reserve(128));
  devices.MakeGroupArenas(1, {{"a", Context::Cpu(2)}, {"b", Context::Cpu(2)}});
  ASSERT_EQ(devices.group_arenas(1).size(), 1u);
  EXPECT_TRUE(devices.group_arenas(0).empty());
  const auto arena = devices.group_arenas(1).at(Context::Cpu(2));
  COOPER_ASSERT_OK(arena->Reserve(256));
  devices.MakeGroupArenas(1, {{"a", Context::Cpu(2)}});
  EXPECT_EQ(devices.group_arenas(1).at(Context::Cpu(2)), arena) << "made once";
  EXPECT_EQ(devices.arena_bytes(), devices.arena(0)->bytes() + arena->bytes());
}

}  // namespace
}  // namespace cooper
