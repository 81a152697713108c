#include "executor/passes/graph/unit_order.h"

#include <algorithm>
#include <string>
#include <vector>

#include "executor/passes/graph/facts_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Symbol Unary(const char* op, const std::string& name, const Symbol& x) {
  return Op(op, {.name = name, .inputs = {x}});
}

int IndexOf(const GraphFacts& facts, const Symbol& symbol) { return facts.index(EntryOf(symbol)); }

// A graph of two branches, x -> a1 -> b1 and x -> b2 -> a2, and their sum.
struct Branches {
  NameManager names;
  Symbol x = Symbol::Variable("x");
  Symbol a1 = Unary("sin", "a1", x), b1 = Unary("cos", "b1", a1);
  Symbol b2 = Unary("cos", "b2", x), a2 = Unary("sin", "a2", b2);
  Symbol sum = Op("elemwise_add", {.name = "sum", .inputs = {b1, a2}});
  GraphFacts facts = FactsOf(sum, {{"x", {2}}});

  int at(const Symbol& symbol) const { return IndexOf(facts, symbol); }
};

TEST(UnitOrderTest, AUnitComesAfterAllThatItsNodesUse) {
  const Branches graph;
  const std::vector<std::vector<int>> units = {{graph.at(graph.a2), graph.at(graph.a1)}};
  const UnitOrder found = OrderUnits(graph.facts, units);
  EXPECT_THAT(found.cycle, IsEmpty());
  EXPECT_THAT(found.order, ElementsAre(graph.at(graph.x), graph.at(graph.b2), ~0,
                                       graph.at(graph.b1), graph.at(graph.sum)));
}

TEST(UnitOrderTest, NodesOfAUnitMayUseEachOther) {
  const Branches graph;
  const std::vector<std::vector<int>> units = {{graph.at(graph.a1), graph.at(graph.b1)}};
  const UnitOrder found = OrderUnits(graph.facts, units);
  EXPECT_THAT(found.cycle, IsEmpty());
  EXPECT_THAT(found.order, UnorderedElementsAre(graph.at(graph.x), ~0, graph.at(graph.b2),
                                                graph.at(graph.a2), graph.at(graph.sum)));
}

TEST(UnitOrderTest, UnitsThatWaitForEachOther) {
  const Branches graph;
  const std::vector<std::vector<int>> units = {{graph.at(graph.a1), graph.at(graph.a2)},
                                               {graph.at(graph.b1), graph.at(graph.b2)}};
  const UnitOrder found = OrderUnits(graph.facts, units);
  EXPECT_THAT(found.order, IsEmpty());
  EXPECT_THAT(found.cycle, UnorderedElementsAre(0, 1));
}

// A unit that depends on itself through a node that is in no unit.
TEST(UnitOrderTest, AUnitThatWaitsForItself) {
  const Branches graph;
  const std::vector<std::vector<int>> units = {{graph.at(graph.x), graph.at(graph.b1)}};
  const UnitOrder found = OrderUnits(graph.facts, units);
  EXPECT_THAT(found.order, IsEmpty());
  EXPECT_THAT(found.cycle, ElementsAre(0));
}

}  // namespace
}  // namespace cooper
