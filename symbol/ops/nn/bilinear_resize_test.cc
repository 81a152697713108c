// Tests the shape rule of _contrib_BilinearResize2D.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

constexpr char kResize[] = "_contrib_BilinearResize2D";

const ShapeRuleCase kCases[] = {
    Infers("Size", kResize, {{"height", "7"}, {"width", "9"}}, {"(2, 3, ?, ?)"}, {"(2, 3, ?, ?)"},
           "(2, 3, 7, 9)"),
    {"FromOutput",
     kResize,
     {{"height", "7"}, {"width", "9"}},
     {"?"},
     "(2, 3, ?, ?)",
     {"(2, 3, ?, ?)"},
     "(2, 3, 7, 9)",
     ""},
    {"BadOutput",
     kResize,
     {{"height", "7"}, {"width", "9"}},
     {"(2, 3, 4, 5)"},
     "(2, 3, 7, 8)",
     {},
     "",
     "expected (2, 3, 7, 9)"},
    Infers("Scales", kResize, {{"scale_height", "1.5"}, {"scale_width", "0.57"}},
           {"(2, 3, 3, 100)"}, {"(2, 3, 3, 100)"}, "(2, 3, 4, 57)"),
    Infers("ScaleOfUnknownHeight", kResize, {{"scale_height", "2"}, {"scale_width", "2"}},
           {"(2, 3, ?, 4)"}, {"(2, 3, ?, 4)"}, "(2, 3, ?, 8)"),
    Infers("OddScale", kResize,
           {{"mode", "odd_scale"}, {"scale_height", "2"}, {"scale_width", "0.5"}}, {"(1, 1, 5, 6)"},
           {"(1, 1, 5, 6)"}, "(1, 1, 9, 3)"),
    Infers("EvenDown", kResize, {{"mode", "to_even_down"}}, {"(1, 1, 5, 6)"}, {"(1, 1, 5, 6)"},
           "(1, 1, 4, 6)"),
    Infers("EvenUp", kResize, {{"mode", "to_even_up"}}, {"(1, 1, 5, 6)"}, {"(1, 1, 5, 6)"},
           "(1, 1, 6, 6)"),
    Infers("EvenUpFromInt64sEnd", kResize, {{"mode", "to_even_up"}},
           {"(1, 1, 9223372036854775807, 6)"}, {"(1, 1, 9223372036854775807, 6)"},
           "(1, 1, 9223372036854775807, 6)"),
    Infers("OddDown", kResize, {{"mode", "to_odd_down"}}, {"(1, 1, 5, 6)"}, {"(1, 1, 5, 6)"},
           "(1, 1, 5, 5)"),
    Infers("OddUp", kResize, {{"mode", "to_odd_up"}}, {"(1, 1, 5, 6)"}, {"(1, 1, 5, 6)"},
           "(1, 1, 5, 7)"),
    {"Like",
     kResize,
     {{"mode", "like"}},
     {"(2, 3, 4, 5)", "(?, ?, 6, ?)"},
     "(?, ?, ?, 8)",
     {"(2, 3, 4, 5)", "(?, ?, 6, 8)"},
     "(2, 3, 6, 8)",
     ""},
    {"LikeOtherOutput",
     kResize,
     {{"mode", "like"}},
     {"(2, 3, 4, 5)", "(1, 1, 6, 7)"},
     "(2, 3, 6, 8)",
     {},
     "",
     "expected (2, 3, 6, 7)"},
    Refuses("LikeRank", kResize, {{"mode", "like"}}, {"(2, 3, 4, 5)", "(6, 7)"},
            "(batch_size, channels, height, width)"),
    Refuses("Rank", kResize, {}, {"(2, 3, 4)"}, "(batch_size, channels, height, width)"),
    Refuses("NoPixels", kResize, {}, {"(2, 3, 0, 4)"}, "input 'data' (2, 3, 0, 4) has no pixels"),
    Refuses("LikeNoPixels", kResize, {{"mode", "like"}}, {"(2, 3, 4, 5)", "(1, 1, 6, 0)"},
            "input 'like' (1, 1, 6, 0) has no pixels"),
    Refuses("NothingLeft", kResize, {{"scale_height", "1"}, {"scale_width", "0.2"}},
            {"(2, 3, 4, 4)"},
            "width of output: input 'data' (2, 3, 4, 4) becomes 0, expected >= 1"),
    Refuses("HugeScale", kResize, {{"scale_height", "1e30"}, {"scale_width", "1"}},
            {"(2, 3, 4, 4)"}, "4 * 1e+30 is not a number of pixels"),
    Refuses("OneScale", kResize, {{"scale_height", "2"}}, {"(2, 3, 4, 4)"},
            "scale_height and scale_width"),
    Refuses("OddScaleWithoutScales", kResize,
            {{"mode", "odd_scale"}, {"height", "3"}, {"width", "3"}}, {"(2, 3, 4, 4)"},
            "scale_height and scale_width"),
};

TEST(BilinearResizeTest, Shapes) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
