// Compares the table with MXNet's, and the counts that MXNet gets wrong with sums done by hand.

#include "symbol/visualization/print_summary.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/visualization/test_networks.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

// Matches a table that has a row with these first three columns.
auto HasRow(const std::string& layer, const std::string& shape, const std::string& params) {
  const auto literal = [](const std::string& text) {
    std::string regex;
    for (char c : text) {
      if (std::string("()?").find(c) != std::string::npos) regex += '\\';
      regex += c;
    }
    return regex;
  };
  return ContainsRegex("\n" + literal(layer) + " +" + literal(shape) + " +" + literal(params) +
                       " ");
}

// The output of MXNet 1.9.1 for this network.
constexpr char kMlpTable[] =
    R"(__________________________________________________________________________________________
Layer (type)                           Output Shape      Param #  Previous Layer          
==========================================================================================
data(null)                             784               0                                
__________________________________________________________________________________________
fc1(FullyConnected)                    128               100480   data                    
__________________________________________________________________________________________
relu1(Activation)                      128               0        fc1                     
__________________________________________________________________________________________
fc2(FullyConnected)                    10                1290     relu1                   
__________________________________________________________________________________________
softmax(SoftmaxOutput)                 10                0        fc2                     
==========================================================================================
Total params: 101770
__________________________________________________________________________________________
)";

TEST(PrintSummaryTest, PrintsMXNetsTable) {
  EXPECT_THAT(PrintSummary(Mlp(), {{"data", {32, 784}}}, {.line_length = 90}),
              IsOkAndHolds(std::string(kMlpTable)));
  // Column ends in characters; the label does not become a layer because it has a shape.
  EXPECT_THAT(PrintSummary(Mlp(), {{"data", {32, 784}}, {"softmax_label", {32}}},
                           {.line_length = 90, .positions = {39, 57, 66, 90}}),
              IsOkAndHolds(std::string(kMlpTable)));
}

TEST(PrintSummaryTest, CountsEveryOperatorsParameters) {
  // MXNet 1.9.1 counts neither prelu2_gamma nor auxiliary states.
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string table,
                              PrintSummary(ConvNet(), {{"data", {32, 1, 28, 28}}}));
  EXPECT_THAT(table, HasRow("conv1(Convolution)", "20x24x24", "520"));
  EXPECT_THAT(table, HasRow("bn1(BatchNorm)", "20x24x24", "40"));
  EXPECT_THAT(table, HasRow("conv2(Convolution)", "50x8x8", "12500"));
  EXPECT_THAT(table, HasRow("prelu2(LeakyReLU)", "50x8x8", "50"));
  EXPECT_THAT(table, HasRow("fc1(FullyConnected)", "10", "510"));
  EXPECT_THAT(table, HasSubstr("\nTotal params: 13620\nTotal auxiliary: 40\n"));
}

TEST(PrintSummaryTest, CountsAWeightOfAllStepsOnce) {
  for (const int num_steps : {1, 2, 7}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string table,
                                PrintSummary(UnrolledLstm(num_steps), {{"data", {32, num_steps}}}));
    EXPECT_THAT(table, HasRow("lstm_t0_i2h(FullyConnected)", "32", "160"));
    EXPECT_THAT(table, HasRow("lstm_t0_h2h(FullyConnected)", "32", "288"));
    if (num_steps > 1) {
      EXPECT_THAT(table, HasRow("lstm_t1_h2h(FullyConnected)", "32", "0"));
    }
    EXPECT_THAT(table, HasRow("lstm_t0_slice(SliceChannel)", "8 (4 outputs)", "0"));
    EXPECT_THAT(table, HasSubstr("\nTotal params: " + std::to_string(kLstmParams) + "\n"));
    EXPECT_THAT(table, Not(HasSubstr("auxiliary")));
  }
}

TEST(PrintSummaryTest, CountsTheVectorOfAFusedCell) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string table,
                              PrintSummary(FusedLstm(7), {{"data", {32, 7}}}));
  EXPECT_THAT(table, ContainsRegex("\nlstm_rnn\\(RNN\\) +32x8 +448 "));
  EXPECT_THAT(table, HasSubstr("\nTotal params: " + std::to_string(kLstmParams) + "\n"));
}

TEST(PrintSummaryTest, CountsAnOutputThatIsAVariable) {
  const Symbol both = *Symbol::Group({Mlp(), Symbol::Variable("free", {.shape = {5, 3}})});
  EXPECT_THAT(PrintSummary(both, {{"data", {32, 784}}}),
              IsOkAndHolds(HasSubstr("\nTotal params: 101785\n")));
}

TEST(PrintSummaryTest, PrintsWhatIsKnown) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string nothing, PrintSummary(Mlp()));
  EXPECT_THAT(nothing, ContainsRegex("\ndata\\(null\\) +0 +\n"));
  EXPECT_THAT(nothing, ContainsRegex("\nfc1\\(FullyConnected\\) +\\? +data"));
  EXPECT_THAT(nothing, HasSubstr("\nTotal params: at least 0, shapes of 4 unknown\n"));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string most,
                              PrintSummary(ConvNet(), {{"data", {32, kUnknownDim, 28, 28}}}));
  EXPECT_THAT(most, HasRow("conv1(Convolution)", "20x24x24", "?"));
  EXPECT_THAT(most, HasSubstr("\nTotal params: at least 13120, shapes of 1 unknown\n"));
  // Some networks determine the shapes of all of their weights.
  EXPECT_THAT(PrintSummary(FusedLstm(3)),
              IsOkAndHolds(HasSubstr("\nTotal params: " + std::to_string(kLstmParams) + "\n")));
  // The batch size does not affect the shape of any parameter.
  EXPECT_THAT(PrintSummary(Mlp(), {{"data", {kUnknownDim, 784}}}),
              IsOkAndHolds(HasSubstr("\nTotal params: 101770\n")));
  EXPECT_THAT(PrintSummary(ConvNet(), {{"data", {1, 1, 28, kUnknownDim}}}),
              IsOkAndHolds(HasRow("conv1(Convolution)", "20x24x?", "520")));
  EXPECT_THAT(PrintSummary(Symbol()), IsOkAndHolds(HasSubstr("\nTotal params: 0\n")));
}

TEST(PrintSummaryTest, ListsAllInputsAndCutsLongNames) {
  // Uses a name of two-byte characters.
  const std::string name(40, '\xC3');
  std::string long_name;
  for (char c : name) long_name += {c, '\xA9'};
  const Symbol sum = *Symbol::Create(
      "elemwise_add",
      {.name = "sum",
       .inputs = {Symbol::Variable(long_name), Symbol::Variable("line\nbreak<\xFF>")}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const std::string table,
      PrintSummary(sum, {{long_name, {4, 3}}}, {.line_length = 40, .positions = {.5, .6, .7, 1}}));
  EXPECT_THAT(table, HasSubstr("\n" + long_name.substr(0, 40) + "3   0               \n"));
  EXPECT_THAT(table, HasSubstr(long_name.substr(0, 24) + "\n"));  // Previous Layer, 12 characters
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string unnamed, PrintSummary(sum));
  EXPECT_THAT(unnamed, HasSubstr(std::string(88, ' ') + "line\uFFFDbreak<\uFFFD>"));
}

TEST(PrintSummaryTest, ToldWhatIsWrong) {
  EXPECT_THAT(PrintSummary(Mlp(), {{"data", {32, 784}}, {"fc1_weight", {128, 3}}}),
              StatusIs(kInvalid, AllOf(HasSubstr("'fc1'"), HasSubstr("(128, 3)"))));
  EXPECT_THAT(PrintSummary(Mlp(), {{"date", {32, 784}}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'date'")));
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_THAT(PrintSummary(Mlp(), {{"data", {1, kHuge}}}),
              StatusIs(kInvalid, AllOf(HasSubstr("'fc1_weight'"), HasSubstr("too many"))));
}

TEST(PrintSummaryTest, ToldWhatMakesNoTable) {
  EXPECT_THAT(PrintSummary(Mlp(), {}, {.line_length = 0}),
              StatusIs(kInvalid, HasSubstr("line_length is 0")));
  for (const std::vector<double>& positions :
       std::vector<std::vector<double>>{{},
                                        {.2, .4, 1},
                                        {.4, .4, .6, 1},
                                        {-1, .2, .4, 1},
                                        {.1, .2, .4, std::nan("")},
                                        {1, 2, 3, 1e9}}) {
    EXPECT_THAT(PrintSummary(Mlp(), {}, {.positions = positions}),
                StatusIs(kInvalid, HasSubstr("four rising column ends")));
  }
}

}  // namespace
}  // namespace cooper
