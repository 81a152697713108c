// Tests the shape rules of the losses.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

const AttrMap kMultiOutput = {{"multi_output", "True"}};

const ShapeRuleCase kCases[] = {
    Infers("Softmax", "SoftmaxOutput", {}, {"(4, 3)", "?"}, {"(4, 3)", "(4,)"}, "(4, 3)"),
    {"SoftmaxFromOutput",
     "SoftmaxOutput",
     {},
     {"?", "?"},
     "(?, 3)",
     {"(?, 3)", "(?,)"},
     "(?, 3)",
     ""},
    // As in MXNet, labels give no information about data.
    Infers("SoftmaxLabelAlone", "SoftmaxOutput", {}, {"?", "(4,)"}, {"?", "(4,)"}, "?"),
    Infers("SoftmaxProbabilities", "SoftmaxOutput", {}, {"(4, 3)", "(4, 3)"}, {"(4, 3)", "(4, 3)"},
           "(4, 3)"),
    Infers("SoftmaxOfOneAxis", "SoftmaxOutput", {}, {"(4,)", "?"}, {"(4,)", "?"}, "(4,)"),
    Infers("SoftmaxOfOneAxisProbabilities", "SoftmaxOutput", {}, {"(4,)", "(4,)"}, {"(4,)", "(4,)"},
           "(4,)"),
    Refuses("SoftmaxOfOneAxisBadLabel", "SoftmaxOutput", {}, {"(4,)", "()"}, "expected (4,)"),
    Infers("SoftmaxOfOneAxisPreserved", "SoftmaxOutput", {{"preserve_shape", "True"}},
           {"(4,)", "?"}, {"(4,)", "()"}, "(4,)"),
    Refuses("SoftmaxBadLabel", "SoftmaxOutput", {}, {"(4, 3)", "(5,)"}, "expected (4,)"),
    Infers("SoftmaxPositions", "SoftmaxOutput", kMultiOutput, {"(2, 3, 4, 5)", "?"},
           {"(2, 3, 4, 5)", "(2, 20)"}, "(2, 3, 4, 5)"),
    Infers("SoftmaxPositionsSpread", "SoftmaxOutput", kMultiOutput, {"(2, 3, 4, 5)", "(2, 4, ?)"},
           {"(2, 3, 4, 5)", "(2, 4, 5)"}, "(2, 3, 4, 5)"),
    Infers("SoftmaxPositionsKept", "SoftmaxOutput", kMultiOutput, {"(2, 3, 4, 5)", "(2, 1, 4, 5)"},
           {"(2, 3, 4, 5)", "(2, 1, 4, 5)"}, "(2, 3, 4, 5)"),
    Refuses("SoftmaxPositionsBad", "SoftmaxOutput", kMultiOutput, {"(2, 3, 4, 5)", "(2, 19)"},
            "expected (2, 20)"),
    Infers("FcSoftmaxFromData", "_fc_softmax_output", {{"num_hidden", "7"}},
           {"(4, 3)", "?", "?", "?"}, {"(4, 3)", "(7, 3)", "(7,)", "(4,)"}, "(4, 7)"),
    Infers("FcSoftmaxFromWeight", "_fc_softmax_output", {{"num_hidden", "7"}, {"no_bias", "True"}},
           {"(4, ?)", "(?, 3)", "?"}, {"(4, 3)", "(7, 3)", "(4,)"}, "(4, 7)"),
    Refuses("FcSoftmaxBadWeight", "_fc_softmax_output", {{"num_hidden", "7"}},
            {"(4, 3)", "(7, 5)", "?", "?"}, "'weight' has shape (7, 5), expected (7, 3)"),
    Refuses("FcSoftmaxBadLabel", "_fc_softmax_output", {{"num_hidden", "7"}},
            {"(4, 3)", "?", "?", "(5,)"}, "'label' has shape (5,), expected (4,)"),
    Refuses("FcSoftmaxBadRank", "_fc_softmax_output", {{"num_hidden", "7"}},
            {"(4, 3, 2)", "?", "?", "?"}, "(rows, features)"),
    Infers("RegressionColumn", "LinearRegressionOutput", {}, {"(4, 1)", "?"}, {"(4, 1)", "(4,)"},
           "(4, 1)"),
    Infers("RegressionSameCount", "LogisticRegressionOutput", {}, {"(4, 6)", "(4, 2, 3)"},
           {"(4, 6)", "(4, 2, 3)"}, "(4, 6)"),
    Refuses("RegressionBadLabel", "MAERegressionOutput", {}, {"(4, 3)", "(3, 4)"},
            "expected (4, 3) or one with as many elements"),
    Infers("RegressionOfANumber", "LinearRegressionOutput", {}, {"()", "?"}, {"()", "()"}, "()"),
    Refuses("RegressionOfANumberBadLabel", "LogisticRegressionOutput", {}, {"()", "(0, 5)"},
            "'label' has shape (0, 5), expected ()"),
    Infers("Svm", "SVMOutput", {}, {"(4, 3)", "?"}, {"(4, 3)", "(4,)"}, "(4, 3)"),
    Infers("CrossEntropy", "softmax_cross_entropy", {}, {"(4, 3)", "?"}, {"(4, 3)", "(4,)"},
           "(1,)"),
    Infers("Ctc", "CTCLoss", {{"use_label_lengths", "True"}}, {"(5, 2, 4)", "(?, 3)", "?"},
           {"(5, 2, 4)", "(2, 3)", "(2,)"}, "(2,)"),
    Refuses("CtcLabelTooLong", "CTCLoss", {}, {"(2, 2, 4)", "(2, 3)"}, "longer than the 2"),
    Refuses("CtcNoClasses", "CTCLoss", {}, {"(5, 2, 0)", "?"}, "has no classes"),
};

TEST(LossShapeTest, Rules) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
