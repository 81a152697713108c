// Compares gradients of the operators with indices with central differences. Some indices are out
// of range.

#include "gtest/gtest.h"
#include "tests/operators/gradient_checker.h"

namespace cooper {
namespace {

const GradientCase kCases[] = {
    {"TakeClips", "take", {}, {{"a", {3, 2}}, {"indices", {2, 2}, {2, 0, -5, 2.9}}}},
    {"TakeWraps",
     "take",
     {{"axis", "-1"}, {"mode", "wrap"}},
     {{"a", {2, 3}}, {"indices", {3}, {-1, 4, 2}}}},
    {"Pick", "pick", {{"axis", "1"}}, {{"data", {2, 3, 2}}, {"index", {2, 2}, {0, 2, 7, 1}}}},
    {"PickWraps",
     "pick",
     {{"mode", "wrap"}, {"keepdims", "True"}},
     {{"data", {2, 3}}, {"index", {2, 1}, {-1, 4}}}},
    {"GatherNd", "gather_nd", {}, {{"data", {3, 2}}, {"indices", {2, 3}, {0, 2, 0, 1, -1, 1}}}},
    {"GatherNdRows", "gather_nd", {}, {{"data", {3, 2}}, {"indices", {1, 2}, {2, 2}}}},
    {"ScatterNd",
     "scatter_nd",
     {{"shape", "(3, 2)"}},
     {{"data", {2}}, {"indices", {2, 2}, {0, 2, 1, 0}}}},
    {"IndexCopy",
     "_contrib_index_copy",
     {},
     {{"old_tensor", {4, 2}}, {"index_vector", {2}, {3, 0}}, {"new_tensor", {2, 2}}}},
    {"TopK", "topk", {{"k", "2"}, {"ret_typ", "value"}, {"axis", "0"}}, {{"data", {4, 3}}}},
    {"TopKFlat",
     "topk",
     {{"k", "3"}, {"ret_typ", "value"}, {"axis", "None"}, {"is_ascend", "True"}},
     {{"data", {2, 4}}}},
    {"Sort", "sort", {{"axis", "1"}, {"is_ascend", "False"}}, {{"data", {2, 4, 2}}}},
    {"SequenceMask",
     "SequenceMask",
     {{"use_sequence_length", "True"}, {"value", "7"}},
     {{"data", {3, 3, 2}}, {"length", {3}, {1, 3, 0}}}},
    {"SequenceMaskOfRows",
     "SequenceMask",
     {{"use_sequence_length", "True"}, {"axis", "1"}},
     {{"data", {2, 3}}, {"length", {2}, {2, 9}}}},
    {"SequenceReverse",
     "SequenceReverse",
     {{"use_sequence_length", "True"}},
     {{"data", {3, 2, 2}}, {"length", {2}, {2, 3}}}},
    {"SequenceLast",
     "SequenceLast",
     {{"use_sequence_length", "True"}, {"axis", "1"}},
     {{"data", {2, 3, 2}}, {"length", {2}, {2, 3}}}},
    {"SequenceLastOfAll", "SequenceLast", {}, {{"data", {3, 2, 2}}}},
};

TEST(IndexGradientTest, MatchesDifferences) {
  for (const GradientCase& test : kCases) CheckGradient(test);
}

}  // namespace
}  // namespace cooper
