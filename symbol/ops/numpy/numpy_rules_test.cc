// Tests the shape rules of NumPy operators, with unknown extents, scalars and errors.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

const ShapeRuleCase kCases[] = {
    Infers("AddScalars", "_npi_add", {}, {"()", "()"}, {"()", "()"}, "()"),
    Infers("AddToScalar", "_npi_add", {}, {"()", "(2, 0)"}, {"()", "(2, 0)"}, "(2, 0)"),
    Refuses("AddConflict", "_npi_add", {}, {"(2, 3)", "(4,)"},
            "'lhs' (2, 3) and 'rhs' (4,) cannot be broadcast together: extents 3 and 4 meet on "
            "axis 1"),
    Infers("WhereOfThree", "_npi_where", {}, {"(2, 1)", "(3,)", "()"}, {"(2, 1)", "(3,)", "()"},
           "(2, 3)"),
    Refuses("WhereConflict", "_npi_where", {}, {"(2,)", "(3,)", "()"},
            "inputs 'condition' (2,) and 'x' (3,) cannot be broadcast together"),

    Infers("SumToScalar", "_np_sum", {}, {"(2, 3)"}, {"(2, 3)"}, "()"),
    Infers("SumOfNoAxis", "_np_sum", {{"axis", "()"}}, {"(2, ?)"}, {"(2, ?)"}, "(2, ?)"),
    Infers("SumOfScalar", "_np_sum", {{"axis", "-1"}}, {"()"}, {"()"}, "()"),
    Refuses("SumAxisOutOfRange", "_np_sum", {{"axis", "2"}}, {"(2, 3)"}, "axis 2"),
    Refuses("SumInitial", "_np_sum", {{"initial", "1"}}, {"(2,)"},
            "initial is 1, expected None, as MXNet does"),
    Infers("MaxOfOtherAxis", "_np_max", {{"axis", "0"}}, {"(2, 0)"}, {"(2, 0)"}, "(0,)"),
    Refuses("MaxOfNothing", "_np_max", {{"axis", "1"}}, {"(2, 0)"},
            "input 'a' (2, 0) has no elements on axis 1"),
    Refuses("NormOfMatrices", "_npi_norm", {{"ord", "2"}, {"axis", "(0, 1)"}}, {"(2, 3)"},
            "no norm with ord 2 and flag -1"),

    Refuses("FlipTwice", "_npi_flip", {{"axis", "(1, -1)"}}, {"(2, 3)"}, "axis has axis -1 twice"),
    Infers("StackVectors", "_npi_hstack", {{"num_args", "2"}}, {"(2,)", "()"}, {"(2,)", "()"},
           "(3,)"),
    Infers("StackColumns", "_npi_column_stack", {{"num_args", "2"}}, {"(3,)", "(3, ?)"},
           {"(3,)", "(3, ?)"}, "(3, ?)"),
    Infers("StackRows", "_npi_vstack", {{"num_args", "2"}}, {"(3,)", "(?, 3)"}, {"(3,)", "(?, 3)"},
           "(?, 3)"),
    Infers("StackDeep", "_npi_dstack", {{"num_args", "2"}}, {"(3,)", "(1, 3)"}, {"(3,)", "(1, 3)"},
           "(1, 3, 2)"),
    Refuses("StackConflict", "_npi_vstack", {{"num_args", "2"}}, {"(3,)", "(2, 4)"},
            "only the extents along axis 0 may differ"),
    Infers("PadPairs", "_npi_pad", {{"pad_width", "((1, 2), (0, 3))"}}, {"(2, 3)"}, {"(2, 3)"},
           "(5, 6)"),
    Refuses("PadOdd", "_npi_pad", {{"pad_width", "((1, 2),)"}, {"reflect_type", "odd"}}, {"(3,)"},
            "reflect_type is 'odd', expected 'even'"),
    Refuses("PadTooFar", "_npi_pad", {{"pad_width", "((4, 0),)"}, {"mode", "symmetric"}}, {"(3,)"},
            "this mode needs an extent of 4"),
    Infers("MoveaxisUnknown", "_np_moveaxis", {{"source", "(0,)"}, {"destination", "(-1,)"}},
           {"(2, ?, 4)"}, {"(2, ?, 4)"}, "(?, 4, 2)"),
    Refuses("MoveaxisTwice", "_np_moveaxis", {{"source", "(0, -3)"}, {"destination", "(0, 1)"}},
            {"(2, 3, 4)"}, "source has axis -3 twice"),
    Refuses("RollShifts", "_np_roll", {{"shift", "(1, 2)"}, {"axis", "(0, 1, 2)"}}, {"(2, 3, 4)"},
            "shift has 2 numbers, expected 1 or 3, one for each axis"),

    Infers("ReshapeInferred", "_np_reshape", {{"newshape", "(3, -1)"}}, {"(2, 3)"}, {"(2, 3)"},
           "(3, 2)"),
    Refuses("ReshapeCount", "_np_reshape", {{"newshape", "(4, -1)"}}, {"(2, 3)"},
            "newshape (4, -1) does not fit input 'a' (2, 3): it has 6 elements"),
    Refuses("ReshapeTwice", "_np_reshape", {{"newshape", "(-1, -1)"}}, {"(2, 3)"},
            "more than one extent is unknown"),
    Refuses("SkipNoOne", "_npx_reshape", {{"newshape", "(-3, -4)"}}, {"(2, 3)"},
            "-3 skips extents of 1 only"),
    Refuses("SplitUneven", "_npx_reshape", {{"newshape", "(-6, 2, -1)"}}, {"(3,)"},
            "-6 cannot split 3"),
    Refuses("SplitWithoutExtents", "_npx_reshape", {{"newshape", "(-6, 2)"}}, {"(4,)"},
            "-6 needs two extents behind it"),
    Refuses("MergeOne", "_npx_reshape", {{"newshape", "(-5,)"}}, {"(3,)"}, "it has too few axes"),
    Refuses("UnknownCode", "_npx_reshape", {{"newshape", "(-7,)"}}, {"(3,)"},
            "there is no code -7"),
    Refuses("SqueezeTwo", "_np_squeeze", {{"axis", "(0,)"}}, {"(2, 1)"},
            "cannot remove axis 0 of input 'a' (2, 1): expected different axes of extent 1"),
    Refuses("BroadcastToFewer", "_npi_broadcast_to", {{"shape", "(3,)"}}, {"(2, 3)"},
            "cannot broadcast input 'array' (2, 3) to (3,)"),
    Refuses("TrilOfScalar", "_npi_tril", {}, {"()"}, "input 'data' is a scalar"),

    Infers("ArangeOfNothing", "_npi_arange", {{"start", "5"}, {"stop", "2"}}, {}, {}, "(0,)"),
    Refuses("ArangeStandsStill", "_npi_arange", {{"start", "0"}, {"stop", "2"}, {"step", "0"}}, {},
            "no range from 0 to 2 in steps of 0"),
    Refuses("RandomDeviation", "_npi_normal", {{"loc", "0"}, {"scale", "-1"}}, {}, "scale is -1"),
    Refuses("RandomSize", "_npi_uniform", {{"low", "None"}, {"high", "1"}, {"size", "(2,)"}},
            {"(3,)"}, "inputs 'size' (2,) and 'input1' (3,) cannot be broadcast together"),

    Infers("DotOfScalar", "_np_dot", {}, {"()", "(2, 3)"}, {"()", "(2, 3)"}, "(2, 3)"),
    Infers("DotUnknown", "_np_dot", {}, {"(?, 3)", "(3, ?)"}, {"(?, 3)", "(3, ?)"}, "(?, ?)"),
    Refuses("DotConflict", "_np_dot", {}, {"(2, 3)", "(4, 5)"},
            "inputs of shapes (2, 3) (4, 5): extents 3 and 4 meet on axis 0 of input 1"),
    Refuses("MatmulOfScalar", "_npi_matmul", {}, {"()", "(2, 3)"},
            "expected no scalars; use multiply"),
    Infers("MatmulBroadcast", "_npi_matmul", {}, {"(2, 1, 4, 3)", "(5, 3, 2)"},
           {"(2, 1, 4, 3)", "(5, 3, 2)"}, "(2, 5, 4, 2)"),
    Refuses("TensordotTwice", "_npi_tensordot",
            {{"a_axes_summed", "(0, 0)"}, {"b_axes_summed", "(0, 1)"}}, {"(2, 3)", "(2, 2)"},
            "an axis is summed twice"),
    Refuses("TensordotTooMany", "_npi_tensordot_int_axes", {{"axes", "3"}}, {"(2, 3)", "(2, 3)"},
            "they have not 3 axes to sum"),
    Refuses("EinsumTerms", "_npi_einsum", {{"subscripts", "ij->ij"}, {"num_args", "2"}},
            {"(2, 3)", "(2, 3)"}, "subscripts 'ij->ij': expected a term per input"),
    Refuses("EinsumRank", "_npi_einsum", {{"subscripts", "ij,j"}, {"num_args", "2"}},
            {"(2, 3)", "(2, 3)"}, "term 1 does not fit the input's rank"),
    Refuses("EinsumOutput", "_npi_einsum", {{"subscripts", "ij->ik"}, {"num_args", "1"}},
            {"(2, 3)"}, "the output has a label that no input has"),
    Refuses("EinsumTwice", "_npi_einsum", {{"subscripts", "ij->ii"}, {"num_args", "1"}}, {"(2, 3)"},
            "the output has a label twice"),
    Refuses("EinsumDigits", "_npi_einsum", {{"subscripts", "i1->i"}, {"num_args", "1"}}, {"(2, 3)"},
            "expected letters"),
    Refuses("EinsumHidden", "_npi_einsum", {{"subscripts", "...i->i"}, {"num_args", "1"}},
            {"(2, 3)"}, "the output has no '...'"),
};

TEST(NumpyRulesTest, Shapes) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
