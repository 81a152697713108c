#include "symbol/rnn/unroll.h"

#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/name_manager.h"
#include "symbol/json/json.h"
#include "symbol/rnn/lstm_cell.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const Symbol kBroken(absl::InvalidArgumentError("FullyConnected 'fc': no"));

TEST(UnrollTest, GivesWhatTheCellGives) {
  const Symbol x = Symbol::Variable("x");
  NameManager names;
  LSTMCell cell(3, {.prefix = "lstm_"});
  const Unrolled kept = Unroll(cell, 2, x, {.merge_outputs = true});
  NameManager again;
  LSTMCell same(3, {.prefix = "lstm_"});
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled told, same.Unroll(2, x, {.merge_outputs = true}));
  ASSERT_THAT(kept.outputs.merged().status(), IsOk());
  EXPECT_EQ(SymbolToJson(kept.outputs.merged()), SymbolToJson(told.outputs.merged()));

  cell.Reset();
  const StepResult step = Step(cell, x, BeginState(cell));
  EXPECT_THAT(step.output.status(), IsOk());
  EXPECT_THAT(step.states, SizeIs(2));
}

TEST(UnrollTest, KeepsTheErrorOfItsInputs) {
  LSTMCell cell(3);
  const Unrolled merged = Unroll(cell, 2, kBroken);
  EXPECT_EQ(merged.outputs.merged().status(), kBroken.status());
  ASSERT_THAT(merged.states, SizeIs(2));
  EXPECT_EQ(merged.states[1].status(), kBroken.status());
  const Unrolled steps = Unroll(cell, 2, kBroken, {.merge_outputs = false});
  ASSERT_THAT(steps.outputs.steps(), SizeIs(2));
  EXPECT_EQ(steps.outputs.steps()[1].status(), kBroken.status());
  const Symbol x = Symbol::Variable("x");
  EXPECT_EQ(Unroll(cell, 2, x, {.valid_length = kBroken}).outputs.merged().status(),
            kBroken.status());
  EXPECT_EQ(Step(cell, x, {x, kBroken}).output.status(), kBroken.status());
}

TEST(UnrollTest, KeepsWhatTheCellRefuses) {
  LSTMCell cell(3);
  const Symbol x = Symbol::Variable("x");
  const Unrolled unrolled = Unroll(cell, 2, x, {.layout = "NC"});
  EXPECT_THAT(unrolled.outputs.merged().status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("layout")));
  EXPECT_THAT(Step(cell, x, {x}).states, SizeIs(2));
}

}  // namespace
}  // namespace cooper
