// Tests the shape rules of _contrib_interleaved_matmul_*.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

constexpr char kSelfQk[] = "_contrib_interleaved_matmul_selfatt_qk";
constexpr char kSelfValatt[] = "_contrib_interleaved_matmul_selfatt_valatt";
constexpr char kEncdecQk[] = "_contrib_interleaved_matmul_encdec_qk";
constexpr char kEncdecValatt[] = "_contrib_interleaved_matmul_encdec_valatt";
const AttrMap kTwoHeads = {{"heads", "2"}};

const ShapeRuleCase kCases[] = {
    Infers("SelfQk", kSelfQk, kTwoHeads, {"(5, 3, 24)"}, {"(5, 3, 24)"}, "(6, 5, 5)"),
    {"SelfQkFromOutput",
     kSelfQk,
     kTwoHeads,
     {"(?, ?, 24)"},
     "(6, ?, 5)",
     {"(5, 3, 24)"},
     "(6, 5, 5)",
     ""},
    Refuses("SelfQkColumns", kSelfQk, kTwoHeads, {"(5, 3, 20)"},
            "queries_keys_values (5, 3, 20): extent 20 of axis 2, expected a multiple of 6 = heads "
            "* the "
            "parts of a head"),
    Refuses("SelfQkRank", kSelfQk, kTwoHeads, {"(5, 24)"},
            "(length, batch_size, heads * 3 * head_dim)"),
    {"SelfQkOutput",
     kSelfQk,
     kTwoHeads,
     {"(5, 3, 24)"},
     "(7, 5, 5)",
     {},
     "",
     "output (7, 5, 5): extent 7 of axis 0, expected a multiple of 2 = heads"},
    {"SelfQkNotSquare", kSelfQk, kTwoHeads, {"?"}, "(6, 5, 4)", {}, "", "expected (6, 4, 4)"},
    Infers("SelfValatt", kSelfValatt, kTwoHeads, {"(5, 3, 24)", "?"}, {"(5, 3, 24)", "(6, 5, 5)"},
           "(5, 3, 8)"),
    {"SelfValattFromOutput",
     kSelfValatt,
     kTwoHeads,
     {"?", "?"},
     "(5, 3, 8)",
     {"(5, 3, 24)", "(6, 5, 5)"},
     "(5, 3, 8)",
     ""},
    Refuses("SelfValattWeights", kSelfValatt, kTwoHeads, {"(5, 3, 24)", "(6, 5, 4)"},
            "expected (6, 5, 5) = (batch_size * heads, queries, keys)"),
    Infers("EncdecQk", kEncdecQk, kTwoHeads, {"(4, 3, ?)", "(5, ?, 16)"},
           {"(4, 3, 8)", "(5, 3, 16)"}, "(6, 4, 5)"),
    Refuses("EncdecQkColumns", kEncdecQk, kTwoHeads, {"(4, 3, 8)", "(5, 3, 20)"},
            "expected (5, 3, 16) = (keys, batch_size, heads * 2 * head_dim)"),
    Infers("EncdecValatt", kEncdecValatt, kTwoHeads, {"(5, 3, 16)", "(?, 4, ?)"},
           {"(5, 3, 16)", "(6, 4, 5)"}, "(4, 3, 8)"),
    {"EncdecValattFromOutput",
     kEncdecValatt,
     kTwoHeads,
     {"(5, ?, ?)", "?"},
     "(4, 3, 8)",
     {"(5, 3, 16)", "(6, 4, 5)"},
     "(4, 3, 8)",
     ""},
    Refuses("EncdecValattKeys", kEncdecValatt, kTwoHeads, {"(5, 3, 16)", "(6, 4, 7)"},
            "expected (6, 4, 5)"),
};

TEST(InterleavedAttentionTest, Shapes) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
