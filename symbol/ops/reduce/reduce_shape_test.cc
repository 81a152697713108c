// Tests the shape rules of reductions and of broadcasting.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

const ShapeRuleCase kCases[] = {
    Infers("All", "sum", {}, {"(2, 3)"}, {"(2, 3)"}, "(1,)"),
    Infers("EmptyAxisIsAll", "sum", {{"axis", "()"}, {"keepdims", "True"}}, {"(2, ?)"}, {"(2, ?)"},
           "(1, 1)"),
    Infers("Negative", "max", {{"axis", "-1"}}, {"(2, 3, 4)"}, {"(2, 3, 4)"}, "(2, 3)"),
    Infers("Exclude", "mean", {{"axis", "(1,)"}, {"exclude", "1"}}, {"(2, 3, 4)"}, {"(2, 3, 4)"},
           "(3,)"),
    {"UnknownRank", "sum", {{"axis", "0"}}, {"?"}, "(3,)", {"?"}, "(3,)", ""},
    Refuses("AxisTwice", "sum", {{"axis", "(1, -1)"}}, {"(2, 3)"}, "axis -1 is given twice"),
    Refuses("AxisOutOfRange", "sum", {{"axis", "2"}}, {"(2, 3)"}, "axis 2"),
    Refuses("MaxOfNothing", "max", {}, {"(2, 0)"}, "(2, 0) has no elements"),
    Infers("Norm", "norm", {{"axis", "(0, 2)"}}, {"(2, 3, 4)"}, {"(2, 3, 4)"}, "(3,)"),
    Infers("Argmax", "argmax", {{"axis", "1"}, {"keepdims", "1"}}, {"(2, 3)"}, {"(2, 3)"},
           "(2, 1)"),
    Infers("ArgmaxChannel", "argmax_channel", {}, {"(2, 3)"}, {"(2, 3)"}, "(2,)"),
    Infers("CumsumFlat", "cumsum", {}, {"(2, 3)"}, {"(2, 3)"}, "(6,)"),
    {"CumsumAxis", "cumsum", {{"axis", "0"}}, {"?"}, "(2, 3)", {"(2, 3)"}, "(2, 3)", ""},
    Infers("Broadcast", "broadcast_add", {}, {"(2, 1, 4)", "(3, 1)"}, {"(2, 1, 4)", "(3, 1)"},
           "(2, 3, 4)"),
    Infers("BroadcastEmpty", "broadcast_mul", {}, {"(0, 4)", "(1, 4)"}, {"(0, 4)", "(1, 4)"},
           "(0, 4)"),
    {"BroadcastUnknown",
     "broadcast_mul",
     {},
     {"(?, 4)", "(1, 4)"},
     "(2, ?)",
     {"(?, 4)", "(1, 4)"},
     "(2, 4)",
     ""},
    Refuses("BroadcastConflict", "broadcast_sub", {}, {"(2, 3)", "(2, 4)"},
            "'lhs' (2, 3) and 'rhs' (2, 4) cannot be broadcast together: extents 3 and 4 meet on "
            "axis 1"),
    Infers("BroadcastTo", "broadcast_to", {{"shape", "(0, 3)"}}, {"(2, 1)"}, {"(2, 1)"}, "(2, 3)"),
    Refuses("BroadcastToConflict", "broadcast_to", {{"shape", "(2, 3)"}}, {"(2, 2)"},
            "cannot broadcast (2, 2) to (2, 3)"),
    {"BroadcastToAnyExtent",
     "broadcast_to",
     {{"shape", "(-1, 3)"}},
     {"(2, 3)"},
     "(5, 3)",
     {},
     "",
     "shape is (-1, 3), expected extents, or 0 for those of data"},
    {"BroadcastAxisToAnyExtent",
     "broadcast_axis",
     {{"axis", "(0,)"}, {"size", "(-1,)"}},
     {"(1, 3)"},
     "(5, 3)",
     {},
     "",
     "size is (-1,), expected extents"},
    Infers("BroadcastAxis", "broadcast_axis", {{"axis", "(0, 2)"}, {"size", "(5, 6)"}},
           {"(1, 2, 1)"}, {"(1, 2, 1)"}, "(5, 2, 6)"),
    Refuses("BroadcastAxisNotOne", "broadcast_axis", {{"axis", "1"}, {"size", "4"}}, {"(1, 2)"},
            "expected 1 on axis 1"),
    Infers("BroadcastLike", "broadcast_like", {}, {"(1, 3)", "(2, 3)"}, {"(1, 3)", "(2, 3)"},
           "(2, 3)"),
    Infers("BroadcastLikeAxes", "broadcast_like", {{"lhs_axes", "(0,)"}, {"rhs_axes", "(-1,)"}},
           {"(1, 3)", "(2, 7)"}, {"(1, 3)", "(2, 7)"}, "(7, 3)"),
};

TEST(ReduceShapeTest, Rules) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
