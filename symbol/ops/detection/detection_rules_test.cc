// Tests the shape rules of the detection operators, in both directions, and their errors.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

constexpr char kPrior[] = "_contrib_MultiBoxPrior", kTarget[] = "_contrib_MultiBoxTarget",
               kDetection[] = "_contrib_MultiBoxDetection", kNms[] = "_contrib_box_nms",
               kIou[] = "_contrib_box_iou", kAlign[] = "_contrib_ROIAlign",
               kPsroi[] = "_contrib_PSROIPooling",
               kDeformable[] = "_contrib_DeformablePSROIPooling", kProposal[] = "_contrib_Proposal",
               kMultiProposal[] = "_contrib_MultiProposal";

const AttrMap kPsroiAttrs = {{"spatial_scale", "1"}, {"output_dim", "2"}, {"pooled_size", "3"}};
const AttrMap kDeformableAttrs = {
    {"spatial_scale", "1"}, {"output_dim", "4"}, {"group_size", "1"}, {"pooled_size", "3"}};

const ShapeRuleCase kCases[] = {
    Infers("Prior", kPrior, {{"sizes", "(0.2, 0.3)"}, {"ratios", "(1, 2, 0.5)"}}, {"(?, 3, 5, 7)"},
           {"(?, 3, 5, 7)"}, "(1, 140, 4)"),
    Infers("PriorOfUnknownWidth", kPrior, {}, {"(2, 3, 5, ?)"}, {"(2, 3, 5, ?)"}, "(1, ?, 4)"),
    Refuses("PriorWithoutSizes", kPrior, {{"sizes", "()"}}, {"(2, 3, 5, 7)"},
            "sizes and ratios have to have a number each"),
    Refuses("PriorOfMixedSteps", kPrior, {{"steps", "(0.1, -1)"}}, {"(2, 3, 5, 7)"},
            "steps have to be two numbers of one sign"),
    Refuses("PriorBesideItsPixel", kPrior, {{"offsets", "(0.5, 1.5)"}}, {"(2, 3, 5, 7)"},
            "offsets have 1.5, expected numbers from 0 to 1"),
    Infers("Target", kTarget, {}, {"(1, 20, 4)", "(2, 3, 5)", "(?, 4, ?)"},
           {"(1, 20, 4)", "(2, 3, 5)", "(2, 4, 20)"}, "(2, 80)"),
    Infers("TargetFromPredictions", kTarget, {}, {"?", "(?, 3, 6)", "(2, 4, 20)"},
           {"(1, 20, 4)", "(2, 3, 6)", "(2, 4, 20)"}, "(2, 80)"),
    Refuses("TargetOfNarrowLabels", kTarget, {}, {"(1, 20, 4)", "(2, 3, 4)", "(2, 4, 20)"},
            "has rows of 4 numbers, expected at least 5"),
    Refuses("TargetWithoutClasses", kTarget, {}, {"(1, 20, 4)", "(2, 3, 5)", "(2, 0, 20)"},
            "has no classes, expected the background"),
    Refuses("TargetOfOtherAnchors", kTarget, {}, {"(1, 21, 4)", "(2, 3, 5)", "(2, 4, 20)"},
            "expected (2, ?, 21) = (batch_size, classes, anchors)"),
    Refuses("TargetOfThreeVariances", kTarget, {{"variances", "(1, 1, 1)"}},
            {"(1, 20, 4)", "(2, 3, 5)", "(2, 4, 20)"}, "variances are 3 numbers, expected 4"),
    Refuses("TargetThatMinesNothing", kTarget,
            {{"negative_mining_ratio", "3"}, {"negative_mining_thresh", "0"}},
            {"(1, 20, 4)", "(2, 3, 5)", "(2, 4, 20)"},
            "negative_mining_thresh is 0, expected a number above 0"),
    Infers("Detection", kDetection, {}, {"(2, 4, ?)", "?", "(1, 20, 4)"},
           {"(2, 4, 20)", "(2, 80)", "(1, 20, 4)"}, "(2, 20, 6)"),
    Refuses("DetectionOfOtherAnchors", kDetection, {}, {"(2, 4, 20)", "(2, 60)", "(1, 20, 4)"},
            "expected (2, 80) = (batch_size, anchors * 4)"),
    Infers("Nms", kNms, {}, {"(2, 3, 10, 6)"}, {"(2, 3, 10, 6)"}, "(2, 3, 10, 6)"),
    {"NmsBack", kNms, {}, {"?"}, "(10, 7)", {"(10, 7)"}, "(10, 7)", ""},
    Refuses("NmsOfAVector", kNms, {}, {"(6,)"}, "is not (..., boxes, width)"),
    Refuses("NmsOfShortRows", kNms, {}, {"(10, 5)"},
            "coord_start is 2, but rows of 5 numbers have no four from there on"),
    Refuses("NmsWithAScoreInTheBox", kNms, {{"score_index", "3"}}, {"(10, 6)"},
            "score_index is 3, expected one of the 6 numbers of a row that is not of the box from "
            "2 on"),
    Refuses("NmsWithoutScores", kNms, {{"score_index", "-1"}}, {"(10, 6)"}, "is -1"),
    Refuses("NmsWithAClassThatIsTheScore", kNms, {{"id_index", "1"}}, {"(10, 6)"},
            "id_index and score_index are both 1"),
    Refuses("NmsFarAway", kNms, {{"coord_start", "9223372036854775807"}}, {"(10, 6)"},
            "coord_start is 9223372036854775807"),
    Infers("Iou", kIou, {}, {"(2, 5, ?)", "(3, 4)"}, {"(2, 5, 4)", "(3, 4)"}, "(2, 5, 3)"),
    Refuses("IouOfABox", kIou, {}, {"(4,)", "(3, 4)"}, "input 'lhs' (4,) is not"),
    Refuses("IouOfFiveNumbers", kIou, {}, {"(2, 4)", "(3, 5)"},
            "expected (?, 4) = (..., boxes, 4)"),
    Infers("Align", kAlign, {{"pooled_size", "(2, 3)"}, {"spatial_scale", "0.5"}},
           {"(2, 6, ?, 9)", "(4, ?)"}, {"(2, 6, ?, 9)", "(4, 5)"}, "(4, 6, 2, 3)"),
    Infers("AlignOfPositions", kAlign,
           {{"pooled_size", "(2, 3)"}, {"spatial_scale", "0.5"}, {"position_sensitive", "True"}},
           {"(2, 12, 9, 9)", "(4, 5)"}, {"(2, 12, 9, 9)", "(4, 5)"}, "(4, 2, 2, 3)"),
    Refuses("AlignOfTooFewChannels", kAlign,
            {{"pooled_size", "(2, 3)"}, {"spatial_scale", "0.5"}, {"position_sensitive", "True"}},
            {"(2, 8, 9, 9)", "(4, 5)"},
            "input 'data' has 8 channels, expected a multiple of the 6 bins of pooled_size"),
    Infers("Psroi", kPsroi, kPsroiAttrs, {"(2, 18, 9, 9)", "(4, ?)"}, {"(2, 18, 9, 9)", "(4, 5)"},
           "(4, 2, 3, 3)"),
    Refuses("PsroiOfTooFewChannels", kPsroi, kPsroiAttrs, {"(2, 17, 9, 9)", "(4, 5)"},
            "input 'data' has 17 channels, expected at least 18 = output_dim * group_size^2"),
    Refuses("PsroiOfSixNumbers", kPsroi, kPsroiAttrs, {"(2, 18, 9, 9)", "(4, 6)"},
            "expected (?, 5) = (regions, 5)"),
    Refuses("PsroiOfHugeSizes", kPsroi,
            {{"spatial_scale", "1"},
             {"output_dim", "2"},
             {"pooled_size", "2"},
             {"group_size", "4611686018427387904"}},
            {"(2, 18, 9, 9)", "(4, 5)"}, "expected at least 9223372036854775807"),
    Infers("Deformable", kDeformable, kDeformableAttrs, {"(2, 4, 9, 9)", "(5, 5)", "(?, 4, ?, ?)"},
           {"(2, 4, 9, 9)", "(5, 5)", "(5, 4, 3, 3)"}, "(5, 4, 3, 3)"),
    Refuses("DeformableOfOtherParts", kDeformable, kDeformableAttrs,
            {"(2, 4, 9, 9)", "(5, 5)", "(5, 4, 2, 2)"},
            "expected (5, ?, 3, 3) = (regions, 2 * classes, part_size, part_size)"),
    Refuses("DeformableOfHalfAClass", kDeformable, kDeformableAttrs,
            {"(2, 4, 9, 9)", "(5, 5)", "(5, 3, 3, 3)"},
            "input 'trans' has 3 channels, expected two for each class"),
    Refuses("DeformableOfThreeClasses", kDeformable, kDeformableAttrs,
            {"(2, 4, 9, 9)", "(5, 5)", "(5, 6, 3, 3)"}, "classes to divide output_dim 4"),
    Infers("Proposal", kProposal, {}, {"(1, 24, ?, 5)", "(1, 48, 4, ?)", "?"},
           {"(1, 24, 4, 5)", "(1, 48, 4, 5)", "(1, 3)"}, "(300, 5)"),
    Infers("ProposalsOfABatch", kMultiProposal, {{"ratios", "(1,)"}, {"rpn_post_nms_top_n", "7"}},
           {"(3, 8, 4, 5)", "?", "?"}, {"(3, 8, 4, 5)", "(3, 16, 4, 5)", "(3, 3)"}, "(21, 5)"),
    Refuses("ProposalOfOtherAnchors", kProposal, {}, {"(1, 22, 4, 5)", "(1, 44, 4, 5)", "(1, 3)"},
            "expected (?, 24, ?, ?) = (batch_size, 2 * scales * ratios, height, width)"),
    Refuses("ProposalWithoutAnchors", kProposal, {{"scales", "()"}},
            {"(1, 0, 4, 5)", "(1, 0, 4, 5)", "(1, 3)"},
            "scales and ratios have to have a number each"),
    Refuses("AlignOfNothing", kAlign, {{"pooled_size", "(2, 0)"}, {"spatial_scale", "0.5"}},
            {"(2, 8, 9, 9)", "(4, 5)"}, "pooled_size has to be two numbers above 0"),
};

TEST(DetectionRulesTest, Shapes) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
