#include "symbol/visualization/plot_network.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/visualization/test_networks.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(PlotNetworkDotTest, DrawsWhatMXNetDraws) {
  EXPECT_THAT(PlotNetworkDot(Mlp(), {.shapes = {{"data", {32, 784}}}}),
              IsOkAndHolds(std::string(R"(digraph "plot" {
	node ["fixedsize"="true" "height"="0.8034" "shape"="box" "style"="filled" "width"="1.3"]
	"data" [label="data" fillcolor="#8dd3c7" shape=oval]
	"fc1" [label="fc1\nFullyConnected\n128" fillcolor="#fb8072" tooltip="num_hidden=128"]
	"relu1" [label="relu1\nActivation\nrelu" fillcolor="#ffffb3" tooltip="act_type=relu"]
	"fc2" [label="fc2\nFullyConnected\n10" fillcolor="#fb8072" tooltip="num_hidden=10"]
	"softmax_label" [label="softmax_label" fillcolor="#8dd3c7" shape=oval]
	"softmax" [label="softmax\nSoftmaxOutput" fillcolor="#b3de69"]
	"fc1" -> "data" [label="784" arrowtail=open dir=back]
	"relu1" -> "fc1" [label="128" arrowtail=open dir=back]
	"fc2" -> "relu1" [label="128" arrowtail=open dir=back]
	"softmax" -> "fc2" [label="10" arrowtail=open dir=back]
	"softmax" -> "softmax_label" [label="" arrowtail=open dir=back]
}
)")));
}

TEST(PlotNetworkDotTest, LabelsHaveNameOperatorAndMainParameters) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string dot, PlotNetworkDot(ConvNet()));
  for (const char* label :
       {"conv1\\nConvolution\\n5x5/1, 20", "\\nBatchNorm", "\\nActivation\\ntanh",
        "\\nPooling\\nmax, 2x2/2x2", "\\nConvolution\\n5x5/1x1, 50", "\\nLeakyReLU\\nprelu",
        "\\nPooling\\navg, global", "\\nFlatten"}) {
    EXPECT_THAT(dot, HasSubstr(absl::StrCat(label, "\"")));
  }
  EXPECT_THAT(PlotNetworkDot(FusedLstm(3)),
              IsOkAndHolds(AllOf(HasSubstr("Embedding\\n11x4\""), HasSubstr("RNN\\nlstm, 1x8\""))));
}

TEST(PlotNetworkDotTest, WeightsAreShownOnRequest) {
  EXPECT_THAT(PlotNetworkDot(ConvNet()),
              IsOkAndHolds(AllOf(Not(HasSubstr("conv1_weight")), Not(HasSubstr("gamma")),
                                 Not(HasSubstr("moving_mean")))));
  EXPECT_THAT(PlotNetworkDot(ConvNet(), {.hide_weights = false}),
              IsOkAndHolds(AllOf(HasSubstr("\"conv1\" -> \"conv1_weight\""),
                                 HasSubstr("\"bn1\" -> \"bn1_moving_mean\""))));
}

TEST(PlotNetworkDotTest, EdgesCarryTheShapeOfTheirOwnOutput) {
  const Symbol split =
      *Symbol::Create("_split_v2", {.name = "split",
                                    .inputs = {Symbol::Variable("data")},
                                    .attrs = {{"indices", "(0, 2)"}, {"axis", "1"}}});
  const Symbol both = *Symbol::Create("Concat", {.name = "both", .inputs = {split[1], split[0]}});
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string dot,
                              PlotNetworkDot(both, {.shapes = {{"data", {4, 6, kUnknownDim}}}}));
  EXPECT_EQ(Count(dot, "\"both\" -> \"split\" [label=\"4x?\""), 1);
  EXPECT_EQ(Count(dot, "\"both\" -> \"split\" [label=\"2x?\""), 1);
  EXPECT_EQ(Count(dot, "\"split\" -> \"data\" [label=\"6x?\""), 1);
  EXPECT_THAT(PlotNetworkDot(both), IsOkAndHolds(Not(HasSubstr("x?"))));
}

TEST(PlotNetworkDotTest, NodeAttrsReplaceAndJoinTheDefaults) {
  EXPECT_THAT(PlotNetworkDot(Mlp(), {.title = "my \"net\"",
                                     .node_attrs = {{"fixedsize", "false"}, {"penwidth", "2"}}}),
              IsOkAndHolds(AllOf(HasSubstr("digraph \"my \\\"net\\\"\" {"),
                                 HasSubstr("\"fixedsize\"=\"false\""),
                                 HasSubstr("\"penwidth\"=\"2\""), HasSubstr("\"width\"=\"1.3\""))));
}

Symbol Relu(const std::string& name, const Symbol& data) {
  return *Symbol::Create("relu", {.name = name, .inputs = {data}});
}

TEST(PlotNetworkDotTest, EscapesNames) {
  const Symbol net = Relu("b\"c", Symbol::Variable("<a> & \\n\"&lt;\\"));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string dot, PlotNetworkDot(net));
  EXPECT_THAT(dot, HasSubstr(R"("<a> & \\n\"&lt;\\" [label="<a> &amp; \\n\"&amp;lt;\\")"));
  EXPECT_THAT(dot, HasSubstr(R"("b\"c" [label="b\"c\nrelu")"));
  EXPECT_THAT(dot, HasSubstr(R"("b\"c" -> "<a> & \\n\"&lt;\\" [)"));
}

TEST(PlotNetworkDotTest, OperatorsOfOneNameStayApart) {
  const Symbol net = Relu("x", Relu("x", Relu("x#2", Symbol::Variable("data"))));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string dot, PlotNetworkDot(net));
  EXPECT_THAT(dot, AllOf(HasSubstr("\"x\" -> \"x#2\""), HasSubstr("\"x#3\" -> \"x\"")));
}

TEST(PlotNetworkDotTest, DrawsDeepGraphs) {
  Symbol net = Symbol::Variable("data");
  for (int i = 0; i < 5000; ++i) net = Relu(absl::StrCat("r", i), net);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string dot, PlotNetworkDot(net));
  EXPECT_EQ(Count(dot, " -> "), 5000);
  EXPECT_THAT(PlotNetworkDot(Symbol()), IsOkAndHolds(HasSubstr("digraph \"plot\" {")));
}

TEST(PlotNetworkDotTest, ToldWhatIsWrong) {
  const PlotOptions contradiction = {.shapes = {{"data", {32, 784}}, {"fc1_bias", {3}}}};
  const PlotOptions unknown = {.shapes = {{"date", {32, 784}}}};
  EXPECT_THAT(
      PlotNetworkDot(Mlp(), contradiction),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("'fc1'"), HasSubstr("(3,)"))));
  EXPECT_THAT(PlotNetworkDot(Mlp(), unknown),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'date'")));
}

}  // namespace
}  // namespace cooper
