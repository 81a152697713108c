#include "executor/passes/graph/fold_constants.h"

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "executor/passes/graph/facts_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns the names of the values that the pass folds in a graph with the constant "w" if all
// operators but `missing` have a kernel.
std::vector<std::string> Folded(const Symbol& symbol, absl::string_view missing) {
  const GraphFacts facts = FactsOf(symbol, {{"data", {2, 2}}, {"w", {2, 2}}}, {"w"});
  const auto rewrite = FoldConstants(facts, [&](absl::string_view op) { return op != missing; });
  COOPER_EXPECT_OK(rewrite);
  std::vector<std::string> names;
  if (!rewrite.ok() || !rewrite->has_value()) return names;
  for (const FoldedConstant& folded : (*rewrite)->folded) names.push_back(folded.name);
  return names;
}

// CompileOptions::fallback does not run folded values.
TEST(FoldConstantsTest, NotWhatCannotBeRun) {
  const Symbol inner = Op("square", {.inputs = {Symbol::Variable("w")}});
  const Symbol outer = Op("tanh", {.inputs = {inner}});
  const Symbol data = Symbol::Variable("data");
  const Symbol sum =
      Op("elemwise_add", {.inputs = {Op("elemwise_add", {.inputs = {data, inner}}), outer}});
  EXPECT_THAT(Folded(sum, ""), ElementsAre("square(w)", "tanh(square(w))"));
  EXPECT_THAT(Folded(sum, "tanh"), ElementsAre("square(w)"));
  EXPECT_THAT(Folded(sum, "square"), IsEmpty());
}

}  // namespace
}  // namespace cooper
