// Tests the shape rules of operators that draw arrays.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

const ShapeRuleCase kCases[] = {
    Infers("Attribute", "_random_uniform", {{"shape", "(2, 3)"}}, {}, {}, "(2, 3)"),
    Infers("OneNumber", "_random_normal", {{"shape", "3"}}, {}, {}, "(3,)"),
    {"FromConsumers", "_random_normal", {{"shape", "(0, 3)"}}, {}, "(2, ?)", {}, "(2, 3)", ""},
    Refuses("LowAboveHigh", "_random_uniform", {{"shape", "2"}, {"low", "2"}}, {},
            "high is 1, expected a finite number, no less than low"),
    Refuses("NoDeviation", "_random_normal", {{"shape", "2"}, {"scale", "0"}}, {},
            "scale is 0, expected > 0"),
    Refuses("NoScale", "_random_gamma", {{"shape", "2"}, {"beta", "-1"}}, {},
            "beta is -1, expected > 0"),
    Refuses("NotANumber", "_random_poisson", {{"shape", "2"}, {"lam", "nan"}}, {},
            "lam is nan, expected >= 0"),
    Refuses("NoProbability", "_random_negative_binomial", {{"shape", "2"}, {"p", "1.5"}}, {},
            "p is 1.5, expected 0 < p <= 1"),
    {"Like", "_random_normal_like", {}, {"(2, ?)"}, "(?, 3)", {"(2, 3)"}, "(2, 3)", ""},
    Refuses("LikeChecks", "_random_exponential_like", {{"lam", "0"}}, {"(2, 3)"},
            "lam is 0, expected > 0"),
    Infers("Each", "_sample_normal", {{"shape", "(4, 5)"}}, {"(2, 3)", "(2, ?)"},
           {"(2, 3)", "(2, 3)"}, "(2, 3, 4, 5)"),
    Infers("OneEach", "_sample_gamma", {}, {"?", "(2,)"}, {"(2,)", "(2,)"}, "(2,)"),
    Infers("OneParameter", "_sample_poisson", {{"shape", "4"}}, {"(2,)"}, {"(2,)"}, "(2, 4)"),
    Refuses("UnlikeParameters", "_sample_normal", {}, {"(2,)", "(3,)"}, "(2,)"),
    Infers("Integers", "_random_randint", {{"low", "-3"}, {"high", "4"}, {"shape", "(2, 2)"}}, {},
           {}, "(2, 2)"),
    Refuses("NoIntegers", "_random_randint", {{"low", "4"}, {"high", "4"}, {"shape", "2"}}, {},
            "low is 4 and high 4, expected low < high"),
};

TEST(DrawTest, Shapes) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
