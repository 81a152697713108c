// Compares the gradients of the operators that move elements with central differences.

#include "gtest/gtest.h"
#include "tests/operators/gradient_checker.h"

namespace cooper {
namespace {

const GradientCase kCases[] = {
    {"Reshape", "Reshape", {{"shape", "(-1, 2)"}}, {{"data", {2, 3, 2}}}},
    {"Flatten", "Flatten", {}, {{"data", {2, 3, 2}}}},
    {"ExpandDims", "expand_dims", {{"axis", "-2"}}, {{"data", {2, 3}}}},
    {"Squeeze", "squeeze", {}, {{"data", {2, 1, 3, 1}}}},
    {"ReshapeLike", "reshape_like", {}, {{"lhs", {2, 6}}, {"rhs", {3, 4}}}},
    {"Transpose", "transpose", {{"axes", "(2, 0, 1)"}}, {{"data", {2, 3, 4}}}},
    {"SwapAxis", "SwapAxis", {{"dim1", "0"}, {"dim2", "2"}}, {{"data", {2, 3, 4}}}},
    {"Split", "SliceChannel", {{"num_outputs", "3"}, {"axis", "-1"}}, {{"data", {2, 6}}}},
    {"SplitSqueezed",
     "SliceChannel",
     {{"num_outputs", "3"}, {"squeeze_axis", "True"}},
     {{"data", {2, 3, 2}}}},
    {"SplitUneven", "_split_v2", {{"indices", "()"}, {"sections", "3"}}, {{"data", {2, 7}}}},
    {"SplitAt", "_split_v2", {{"indices", "(0, 1, 4)"}, {"axis", "0"}}, {{"data", {5, 2}}}},
    {"Concat", "Concat", {{"dim", "-1"}}, {{"a", {2, 3}}, {"b", {2, 1}}, {"c", {2, 2}}}},
    {"Stack", "stack", {{"axis", "-1"}}, {{"a", {2, 3}}, {"b", {2, 3}}}},
    {"SliceBackwards",
     "slice",
     {{"begin", "(None, 3)"}, {"end", "(2, None)"}, {"step", "(None, -2)"}},
     {{"data", {3, 5}}}},
    {"SliceAxis",
     "slice_axis",
     {{"axis", "1"}, {"begin", "-3"}, {"end", "None"}},
     {{"data", {2, 5}}}},
    {"SliceLike", "slice_like", {{"axes", "(-1,)"}}, {{"data", {2, 5}}, {"like", {4, 3}}}},
    {"Crop", "Crop", {{"h_w", "(2, 1)"}, {"offset", "(1, 2)"}}, {{"data", {1, 2, 3, 3}}}},
    {"Reverse", "reverse", {{"axis", "(0, -1)"}}, {{"data", {2, 3, 4}}}},
    {"Tile", "tile", {{"reps", "(2, 1, 3)"}}, {{"data", {2, 3}}}},
    {"Repeat", "repeat", {{"repeats", "2"}, {"axis", "1"}}, {{"data", {2, 3, 2}}}},
    {"RepeatFlat", "repeat", {{"repeats", "3"}}, {{"data", {2, 3}}}},
    {"PadConstant",
     "Pad",
     {{"mode", "constant"}, {"pad_width", "(1, 0, 0, 2)"}, {"constant_value", "3"}},
     {{"data", {2, 3}}}},
    {"PadEdge",
     "Pad",
     {{"mode", "edge"}, {"pad_width", "(0, 0, 2, 1, 1, 2)"}},
     {{"data", {2, 2, 2}}}},
    {"PadReflect", "Pad", {{"mode", "reflect"}, {"pad_width", "(1, 2, 2, 1)"}}, {{"data", {3, 3}}}},
    {"DepthToSpace", "depth_to_space", {{"block_size", "2"}}, {{"data", {1, 8, 2, 1}}}},
    {"SpaceToDepth", "space_to_depth", {{"block_size", "2"}}, {{"data", {1, 2, 2, 4}}}},
    {"DiagOfVector", "diag", {{"k", "-1"}}, {{"data", {3}}}},
    {"DiagOfAxes", "diag", {{"k", "1"}, {"axis1", "2"}, {"axis2", "0"}}, {{"data", {3, 2, 4}}}},
};

TEST(ShapeGradientTest, MatchesDifferences) {
  for (const GradientCase& test : kCases) CheckGradient(test);
}

}  // namespace
}  // namespace cooper
