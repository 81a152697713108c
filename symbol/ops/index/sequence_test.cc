// Tests which calls SequenceMask, SequenceLast and SequenceReverse refuse. index_rules_test tests
// their shapes.

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct ErrorCase {
  const char* op;
  AttrMap attrs;
  int num_inputs;
  const char* error;
};

TEST(SequenceTest, RefusesWhatItCannotDo) {
  const ErrorCase cases[] = {
      {"SequenceMask", {{"axis", "2"}}, 1, "axis='2'"},
      {"SequenceMask", {{"axis", "-1"}}, 1, "axis='-1'"},
      {"SequenceLast", {{"axis", "2"}}, 1, "axis='2'"},
      {"SequenceReverse", {{"axis", "1"}}, 1, "axis='1'"},
      {"SequenceMask",
       {{"use_sequence_length", "True"}},
       1,
       "input 'sequence_length' is missing: use_sequence_length is True"},
      {"SequenceLast",
       {{"use_sequence_length", "True"}},
       1,
       "input 'sequence_length' is missing: use_sequence_length is True"},
      {"SequenceReverse",
       {{"use_sequence_length", "True"}},
       1,
       "input 'sequence_length' is missing: use_sequence_length is True"},
      {"SequenceMask",
       {},
       2,
       "takes 1 inputs (data), but 2 came; with use_sequence_length=True it has input "
       "'sequence_length'"},
  };
  for (const ErrorCase& c : cases) {
    const std::string name = "node7";
    OpArgs args = {.name = name, .inputs = {Symbol::Variable("data")}, .attrs = c.attrs};
    if (c.num_inputs == 2) args.inputs.push_back(Symbol::Variable("lengths"));
    EXPECT_THAT(Symbol::Create(c.op, args).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(c.op), HasSubstr("'node7'"), HasSubstr(c.error))));
  }
}

// Passes one variable as data and as lengths: lengths have one axis, and data must have two.
TEST(SequenceTest, DataMayNotBeItsOwnLengths) {
  const Symbol same = Symbol::Variable("same");
  for (const char* op : {"SequenceMask", "SequenceLast"}) {
    const auto made =
        Symbol::Create(op, {.name = "node7",
                            .inputs = {same, same},
                            .attrs = {{"use_sequence_length", "True"}, {"axis", "1"}}});
    ASSERT_THAT(made, IsOk());
    EXPECT_THAT(InferShapePartial(*made, {}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("'node7'"), HasSubstr("no axes of time and batch"))));
  }
}

// A variable is created for data, but not for the lengths.
TEST(SequenceTest, LengthsAreGiven) {
  const auto mask =
      Symbol::Create("SequenceMask", {.name = "m",
                                      .named = {{"sequence_length", Symbol::Variable("lengths")}},
                                      .attrs = {{"use_sequence_length", "True"}}});
  ASSERT_THAT(mask, IsOk());
  EXPECT_THAT(mask->ListArguments(), ElementsAre("m_data", "lengths"));
}

}  // namespace
}  // namespace cooper
