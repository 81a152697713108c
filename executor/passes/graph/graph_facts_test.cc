// Tests the users of entries, and changed copies of graphs.

#include "executor/passes/graph/graph_facts.h"

#include <vector>

#include "executor/passes/graph/facts_fixtures.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// x ── split ─┬─ first ── tanh ─┬─ product
//             └─ second ────────┴─
class SplitProductTest : public ::testing::Test {
 protected:
  SplitProductTest()
      : split_(Op("SliceChannel", {.inputs = {x_}, .attrs = {{"num_outputs", "2"}}})),
        tanh_(Op("tanh", {.name = "t", .inputs = {split_[0]}})),
        product_(Op("elemwise_mul", {.name = "p", .inputs = {tanh_, split_[1]}})),
        facts_(FactsOf(*Symbol::Group({product_, split_[1]}), {{"x", {3, 4}}})) {}

  const Symbol x_ = Symbol::Variable("x");
  const Symbol split_, tanh_, product_;
  const GraphFacts facts_;
};

using GraphFactsTest = SplitProductTest;

TEST_F(GraphFactsTest, UsesAreInputsOfNodesAndOutputsAreNone) {
  auto uses = [&](const Symbol& symbol) { return facts_.uses(EntryOf(symbol)); };
  ASSERT_EQ(uses(split_[0]).size(), 1u);
  EXPECT_EQ(uses(split_[0])[0].node, facts_.index(EntryOf(tanh_)));
  ASSERT_EQ(uses(split_[1]).size(), 1u);
  EXPECT_EQ(uses(split_[1])[0].node, facts_.index(EntryOf(product_)));
  EXPECT_EQ(uses(split_[1])[0].input, 1);
  EXPECT_TRUE(uses(product_).empty());
  EXPECT_TRUE(facts_.is_output(EntryOf(product_)));
  EXPECT_TRUE(facts_.is_output(EntryOf(split_[1])));
  EXPECT_FALSE(facts_.is_output(EntryOf(split_[0])));
}

TEST_F(GraphFactsTest, AValueUsedTwiceByOneNodeHasTwoUses) {
  const GraphFacts facts = FactsOf(Op("elemwise_add", {.inputs = {x_, x_}}), {{"x", {3, 4}}});
  ASSERT_EQ(facts.uses(EntryOf(x_)).size(), 2u);
  EXPECT_EQ(facts.uses(EntryOf(x_))[0].input, 0);
  EXPECT_EQ(facts.uses(EntryOf(x_))[1].input, 1);
}

TEST_F(GraphFactsTest, ShapesAndOwnersAreByEntry) {
  EXPECT_EQ(facts_.shape(EntryOf(split_[1])).ToString(), "(3, 2)");
  EXPECT_EQ(facts_.owner(facts_.index(EntryOf(tanh_))), EntryOf(tanh_).node);
}

TEST_F(GraphFactsTest, AliasesAreTheOperatorThatFilesKnow) {
  EXPECT_TRUE(IsOp(*EntryOf(Op("_Plus", {.inputs = {x_, x_}})).node, "elemwise_add"));
  EXPECT_FALSE(IsOp(*EntryOf(tanh_).node, "sigmoid"));
  EXPECT_FALSE(IsOp(*EntryOf(x_).node, "x")) << "a variable is no call";
}

using GraphRebuilderTest = SplitProductTest;

TEST_F(GraphRebuilderTest, SharesWhatDoesNotChangeAndCopiesItsUsers) {
  GraphRebuilder rebuilder(facts_);
  EXPECT_FALSE(rebuilder.New(EntryOf(tanh_))) << "nobody has said yet";
  COOPER_ASSERT_OK_AND_ASSIGN(const NodeEntry enqueue,
                              MakeEntry("relu", "r", {EntryOf(split_[0])}));
  for (int i = 0; i < facts_.graph().num_nodes(); ++i) {
    if (&facts_.node(i) == EntryOf(tanh_).node.get()) {
      rebuilder.Replace(EntryOf(tanh_), enqueue);
    } else {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
    }
  }
  const GraphRewrite rewrite = rebuilder.Finish();
  ASSERT_EQ(rewrite.symbol.num_outputs(), 2);
  EXPECT_EQ(EntryOf(rewrite.symbol[1]), EntryOf(split_[1]));
  const Node& copy = *EntryOf(rewrite.symbol[0]).node;
  EXPECT_NE(&copy, EntryOf(product_).node.get());
  EXPECT_EQ(copy.name(), "p");
  EXPECT_EQ(copy.inputs()[0], enqueue);
  EXPECT_EQ(copy.inputs()[1], EntryOf(split_[1]));
  ASSERT_EQ(rewrite.copies.size(), 1u);
  EXPECT_EQ(rewrite.copies[0].first.get(), &copy);
  EXPECT_EQ(rewrite.copies[0].second, EntryOf(product_).node.get());
  EXPECT_EQ(rewrite.entries[facts_.graph().entry(EntryOf(tanh_))], enqueue);
}

TEST(MakeNodeTest, ParsesAttributesAndSaysWhatIsWrong) {
  const NodeEntry x = EntryOf(Symbol::Variable("x"));
  COOPER_ASSERT_OK_AND_ASSIGN(const NodePtr node,
                              MakeNode("SliceChannel", "s", {x}, {{"num_outputs", "3"}}));
  EXPECT_EQ(node->num_outputs(), 3);
  EXPECT_EQ(node->inputs()[0], x);
  EXPECT_THAT(MakeNode("tahn", "t", {x}).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("tahn")));
  EXPECT_THAT(MakeEntry("SliceChannel", "s", {x}, {{"num_outputs", "few"}}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("num_outputs")));
}

}  // namespace
}  // namespace cooper
