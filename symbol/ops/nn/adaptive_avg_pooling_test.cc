// Tests the shape rule of _contrib_AdaptiveAvgPooling2D.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

constexpr char kPooling[] = "_contrib_AdaptiveAvgPooling2D";

const ShapeRuleCase kCases[] = {
    Infers("Whole", kPooling, {}, {"(2, 3, 5, ?)"}, {"(2, 3, 5, ?)"}, "(2, 3, 1, 1)"),
    Infers("OneNumber", kPooling, {{"output_size", "7"}}, {"(2, 3, ?, ?)"}, {"(2, 3, ?, ?)"},
           "(2, 3, 7, 7)"),
    {"FromOutput",
     kPooling,
     {{"output_size", "(2, 9)"}},
     {"?"},
     "(2, 3, ?, ?)",
     {"(2, 3, ?, ?)"},
     "(2, 3, 2, 9)",
     ""},
    {"BadOutput",
     kPooling,
     {{"output_size", "(2, 9)"}},
     {"(2, 3, 4, 5)"},
     "(2, 3, 2, 8)",
     {},
     "",
     "expected (2, 3, 2, 9)"},
    Refuses("NoWindow", kPooling, {{"output_size", "(2, 0)"}}, {"(2, 3, 4, 5)"},
            "output_size is (2, 0), expected at most two numbers >= 1"),
    Refuses("ThreeNumbers", kPooling, {{"output_size", "(2, 3, 4)"}}, {"(2, 3, 4, 5)"},
            "output_size is (2, 3, 4)"),
    Refuses("NoPixels", kPooling, {{"output_size", "2"}}, {"(2, 3, 0, 5)"}, "has no pixels"),
    Refuses("ThreeAxes", kPooling, {}, {"(2, 3, 4)"}, "(batch_size, channels, height, width)"),
};

TEST(AdaptiveAvgPoolingTest, Shapes) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
