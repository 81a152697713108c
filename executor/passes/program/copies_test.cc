// Checks that graphs with parts on other contexts give the same bits as on one context. All
// contexts here are on the CPU; values are copied between them as between devices.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gtest/gtest.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// Returns the attributes of node `i`, with its context group.
AttrMap InGroup(int i, AttrMap attrs = {}) {
  attrs["__ctx_group__"] = absl::StrCat("node", i);
  return attrs;
}

constexpr int kNodes = 6;

// States that are read before and after the operator that changes them, and changed twice.
Symbol StatesReadAndWritten() {
  const Symbol x = Symbol::Variable("x"), mean = Symbol::Variable("mean"),
               var = Symbol::Variable("var");
  const auto row = [&](int i, const Symbol& state) {
    return Op("Reshape", {.inputs = {state}, .attrs = InGroup(i, {{"shape", "(1, 3)"}})});
  };
  const auto norm = [&](int i, const char* name, const Symbol& data) {
    return Op("BatchNorm", {.name = name,
                            .inputs = {data, Symbol::Variable(absl::StrCat(name, "_gamma")),
                                       Symbol::Variable(absl::StrCat(name, "_beta")), mean, var},
                            .attrs = InGroup(i, {{"fix_gamma", "False"}})});
  };
  const auto add = [](int i, const Symbol& a, const Symbol& b) {
    return Op("broadcast_add", {.inputs = {a, b}, .attrs = InGroup(i)});
  };
  const Symbol first = norm(2, "bn1", add(1, x, row(0, mean)));
  const Symbol between = add(3, first, row(4, Op("BlockGrad", {.inputs = {mean}})));
  return norm(5, "bn2", between);
}

// Returns outputs, gradients and states after each of two steps.
std::vector<std::vector<float>> Train(const std::map<std::string, Context>& group2ctx) {
  auto bound = Executor::SimpleBind(
      StatesReadAndWritten(), {.group2ctx = group2ctx, .shapes = {{"x", {5, 3}}, {"mean", {3}}}});
  EXPECT_TRUE(bound.ok()) << bound.status();
  Executor& executor = **bound;
  uint64_t seed = 1;
  for (const auto* arrays : {&executor.arg_dict(), &executor.aux_dict()}) {
    for (const auto& [name, array] : *arrays) FillRandom(array, seed++);
  }
  std::vector<std::vector<float>> results;
  for (int step = 0; step < 2; ++step) {
    COOPER_EXPECT_OK(executor.Forward(/*is_train=*/true));
    results.push_back(Floats((*executor.outputs())[0]));
    COOPER_EXPECT_OK(executor.Backward(RandomArrays({{5, 3}}, 100)));
    for (const auto* arrays : {&executor.grad_dict(), &executor.aux_dict()}) {
      for (const auto& [name, array] : *arrays) results.push_back(Floats(array));
    }
  }
  return results;
}

TEST(CopiesTest, StatesAreWhatOneContextMakesOfThem) {
  const std::vector<std::vector<float>> expected = Train({});
  for (int placed = 1; placed < 1 << kNodes; ++placed) {
    std::map<std::string, Context> group2ctx;
    std::string other;
    for (int i = 0; i < kNodes; ++i) {
      const bool there = (placed >> i & 1) != 0;
      group2ctx[absl::StrCat("node", i)] = Context::Cpu(there ? 1 : 0);
      if (there) absl::StrAppend(&other, " ", i);
    }
    EXPECT_EQ(Train(group2ctx), expected) << "with these nodes on cpu(1):" << other;
  }
}

}  // namespace
}  // namespace cooper
