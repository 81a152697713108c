// Tests the shape rules of elementwise operators, in both directions.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

const ShapeRuleCase kCases[] = {
    Infers("Forward", "exp", {}, {"(2, 3)"}, {"(2, 3)"}, "(2, 3)"),
    {"Backward", "exp", {}, {"?"}, "(2, 3)", {"(2, 3)"}, "(2, 3)", ""},
    {"MergesAll",
     "elemwise_add",
     {},
     {"(2, ?)", "?"},
     "(?, 3)",
     {"(2, 3)", "(2, 3)"},
     "(2, 3)",
     ""},
    Refuses("NeverBroadcasts", "elemwise_add", {}, {"(2, 3)", "(1, 3)"},
            "input 'rhs' has shape (1, 3), expected (2, 3)"),
    {"ZeroOfShapeIsUnknown", "_zeros", {{"shape", "(0, 5)"}}, {}, "(32, ?)", {}, "(32, 5)", ""},
    {"NoShapeTakesAny", "_ones", {}, {}, "(4, 5)", {}, "(4, 5)", ""},
    {"FullContradiction",
     "_full",
     {{"shape", "(2, 3)"}, {"value", "1"}},
     {},
     "(2, 4)",
     {},
     "",
     "expected (2, 3)"},
    Infers("Arange", "_arange", {{"start", "1"}, {"stop", "7"}, {"step", "2"}, {"repeat", "2"}}, {},
           {}, "(6,)"),
    Infers("ArangeWithoutStop", "_arange", {{"start", "4"}}, {}, {}, "(4,)"),
    Refuses("ArangeOfNoRange", "_arange", {{"start", "4"}, {"stop", "1"}}, {},
            "no range from 4 to 1 in steps of 1"),
    Infers("Eye", "_eye", {{"N", "3"}}, {}, {}, "(3, 3)"),
    Infers("EyeNegativeColumns", "_eye", {{"N", "3"}, {"M", "-1"}}, {}, {}, "(3, 3)"),
    Infers("ShapeArray", "shape_array", {}, {"(2, ?, 4)"}, {"(2, ?, 4)"}, "(3,)"),
    Infers("WhereOfRows", "where", {}, {"(?,)", "(2, 3)", "?"}, {"(2,)", "(2, 3)", "(2, 3)"},
           "(2, 3)"),
    Refuses("WhereOfElements", "where", {}, {"(2, 4)", "(2, 3)", "?"},
            "input 'condition' has shape (2, 4), expected (2, 3)"),
    {"AmpMulticast",
     "amp_multicast",
     {{"num_outputs", "2"}},
     {"?", "(4,)"},
     "(3,)",
     {"(3,)", "(4,)"},
     "(3,)",
     ""},
};

TEST(ElemwiseShapeTest, Rules) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
