// Compares the gradients of losses whose output is the loss with central differences.

#include "gtest/gtest.h"
#include "tests/operators/gradient_checker.h"

namespace cooper {
namespace {

const GradientCase kCases[] = {
    {"CrossEntropy", "softmax_cross_entropy", {}, {{"data", {3, 4}}, {"label", {3}, {2, 0, 3}}}},
    {"CtcRepeats", "CTCLoss", {}, {{"data", {6, 2, 4}}, {"label", {2, 3}, {2, 2, 1, 3, 0, 0}}}},
    {"CtcLast",
     "CTCLoss",
     {{"blank_label", "last"}, {"use_data_lengths", "True"}, {"use_label_lengths", "True"}},
     {{"data", {5, 3, 3}},
      {"label", {3, 2}, {0, 1, 1, 1, 0, 0}},
      {"data_lengths", {3}, {5, 4, 1}},
      {"label_lengths", {3}, {2, 1, 0}}}},
    // Rows of states are longer than a vector.
    {"CtcLong",
     "CTCLoss",
     {{"use_data_lengths", "True"}},
     {{"data", {24, 2, 5}},
      {"label", {2, 11}, {1, 1, 2, 3, 4, 4, 2, 1, 2, 2, 3, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0}},
      {"data_lengths", {2}, {24, 17}}}},
    // The second label needs three steps, one more than there are: no loss, no gradient.
    {"CtcImpossible", "CTCLoss", {}, {{"data", {2, 2, 3}}, {"label", {2, 2}, {1, 2, 1, 1}}}},
};

TEST(LossGradientTest, MatchesDifferences) {
  for (const GradientCase& test : kCases) CheckGradient(test);
}

}  // namespace
}  // namespace cooper
