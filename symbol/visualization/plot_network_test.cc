#include "symbol/visualization/plot_network.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/status_matchers.h"
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

// What is wrong with `text` as XML; empty if nothing is. Knows what the writer uses: elements,
// attributes in double quotes, the five named entities.
std::string XmlError(const std::string& text) {
  std::vector<std::string> open;
  size_t i = text.find("?>") + 2;
  const auto bad_text = [](const std::string& part) {
    for (size_t k = part.find('&'); k != std::string::npos; k = part.find('&', k + 1)) {
      const std::string entity = part.substr(k, part.find(';', k) - k + 1);
      const std::vector<std::string> known = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
      if (std::find(known.begin(), known.end(), entity) == known.end()) return true;
    }
    return std::any_of(part.begin(), part.end(),
                       [](char c) { return c == '<' || (c >= 0 && c < ' ' && c != '\n'); });
  };
  while (i < text.size()) {
    const size_t tag = text.find('<', i);
    if (tag == std::string::npos) break;
    if (bad_text(text.substr(i, tag - i))) return "text: " + text.substr(i, tag - i);
    size_t end = tag + 1;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
    }
    const std::string inside = text.substr(tag + 1, end - tag - 1);
    if (bad_text(inside)) return "tag: " + inside;
    const std::string name = inside.substr(0, inside.find(' '));
    if (name[0] == '/') {
      if (open.empty() || "/" + open.back() != name) return "not open: " + name;
      open.pop_back();
    } else if (inside.back() != '/') {
      open.push_back(name);
    }
    i = end + 1;
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

TEST(PlotNetworkDotTest, DrawsWhatMXNetDraws) {
  EXPECT_THAT(PlotNetworkDot(Mlp(), {.shapes = {{"data", {32, 784}}}}),
              IsOkAndHolds(std::string(R"(digraph "plot" {
	node ["fixedsize"="true" "height"="0.8034" "shape"="box" "style"="filled" "width"="1.3"]
	"data" [label="data" fillcolor="#8dd3c7" shape=oval]
	"fc1" [label="FullyConnected\n128" fillcolor="#fb8072"]
	"relu1" [label="Activation\nrelu" fillcolor="#ffffb3"]
	"fc2" [label="FullyConnected\n10" fillcolor="#fb8072"]
	"softmax_label" [label="softmax_label" fillcolor="#8dd3c7" shape=oval]
	"softmax" [label="SoftmaxOutput" fillcolor="#b3de69"]
	"fc1" -> "data" [label="784" arrowtail=open dir=back]
	"relu1" -> "fc1" [label="128" arrowtail=open dir=back]
	"fc2" -> "relu1" [label="128" arrowtail=open dir=back]
	"softmax" -> "fc2" [label="10" arrowtail=open dir=back]
	"softmax" -> "softmax_label" [label="" arrowtail=open dir=back]
}
)")));
}

TEST(PlotNetworkDotTest, LabelsHaveTheMainParameters) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string dot, PlotNetworkDot(ConvNet()));
  for (const char* label :
       {"Convolution\\n5x5/1, 20", "BatchNorm", "Activation\\ntanh", "Pooling\\nmax, 2x2/2x2",
        "Convolution\\n5x5/1x1, 50", "LeakyReLU\\nprelu", "Pooling\\navg, global", "Flatten"}) {
    EXPECT_THAT(dot, HasSubstr(absl::StrCat("[label=\"", label, "\"")));
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
  // One line with what it carries.
  EXPECT_THAT(PlotNetworkSvg(both, {.shapes = {{"data", {4, 6, 5}}}}),
              IsOkAndHolds(HasSubstr(">4x5, 2x5</text>")));
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
  EXPECT_THAT(dot, HasSubstr(R"("b\"c" -> "<a> & \\n\"&lt;\\" [)"));
}

TEST(PlotNetworkDotTest, OperatorsOfOneNameStayApart) {
  const Symbol net = Relu("x", Relu("x", Relu("x#2", Symbol::Variable("data"))));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string dot, PlotNetworkDot(net));
  EXPECT_THAT(dot, AllOf(HasSubstr("\"x\" -> \"x#2\""), HasSubstr("\"x#3\" -> \"x\"")));
}

TEST(PlotNetworkSvgTest, IsWellFormedAndHasTheSameTexts) {
  for (const bool hide_weights : {true, false}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const std::string svg,
                                PlotNetworkSvg(ConvNet(), {.title = "a < b",
                                                           .shapes = {{"data", {32, 1, 28, 28}}},
                                                           .hide_weights = hide_weights}));
    EXPECT_EQ(XmlError(svg), "");
    EXPECT_THAT(svg, AllOf(HasSubstr("<title>a &lt; b</title>"), HasSubstr(">Convolution</text>"),
                           HasSubstr(">5x5/1, 20</text>"), HasSubstr(">20x12x12</text>"),
                           HasSubstr("fill=\"#fb8072\""),
                           HasSubstr("<title>conv1\nkernel=(5, 5), num_filter=20</title>")));
    EXPECT_EQ(absl::StrContains(svg, ">bn1_gamma</text>"), !hide_weights);
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string nothing, PlotNetworkSvg(Symbol()));
  EXPECT_EQ(XmlError(nothing), "");
}

TEST(PlotNetworkSvgTest, EscapesAndShortensNames) {
  const Symbol net = Relu("]]>&amp;'\x01\xC3", Symbol::Variable("<a> & \"b\xC3\xA9\""));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string svg, PlotNetworkSvg(net));
  EXPECT_EQ(XmlError(svg), "");
  EXPECT_THAT(svg, AllOf(HasSubstr(">&lt;a&gt; &amp; &quot;b\u00E9&quot;</text>"),
                         HasSubstr("<title>]]&gt;&amp;amp;&apos;\uFFFD\uFFFD</title>")));
  const std::string long_name(300, 'n');
  EXPECT_THAT(PlotNetworkSvg(Symbol::Variable(long_name)),
              IsOkAndHolds(AllOf(HasSubstr("<title>" + long_name + "</title>"),
                                 HasSubstr(">" + std::string(39, 'n') + "\u2026</text>"))));
}

TEST(PlotNetworkSvgTest, DrawsAnUnrolledNetwork) {
  const Symbol net = UnrolledLstm(20);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string svg,
                              PlotNetworkSvg(net, {.shapes = {{"data", {32, 20}}}}));
  EXPECT_EQ(XmlError(svg), "");
  EXPECT_EQ(Count(svg, ">FullyConnected</text>"), 41);
  EXPECT_EQ(Count(svg, "<ellipse "), 2);  // data and softmax_label
  // An arrow for each pair of joined nodes.
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string dot, PlotNetworkDot(net));
  EXPECT_EQ(Count(svg, "<path d=\"M") - 1, Count(dot, " -> "));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(PlotNetworkSvgTest, DrawsDeepGraphs) {
  Symbol net = Symbol::Variable("data");
  for (int i = 0; i < 5000; ++i) net = Relu(absl::StrCat("r", i), net);
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string svg, PlotNetworkSvg(net));
  EXPECT_EQ(Count(svg, "<rect x="), 5000);
}

TEST(PlotNetworkTest, ToldWhatIsWrong) {
  const PlotOptions contradiction = {.shapes = {{"data", {32, 784}}, {"fc1_bias", {3}}}};
  const PlotOptions unknown = {.shapes = {{"date", {32, 784}}}};
  for (const auto& plot : {PlotNetworkDot, PlotNetworkSvg}) {
    EXPECT_THAT(plot(Mlp(), contradiction), StatusIs(absl::StatusCode::kInvalidArgument,
                                                     AllOf(HasSubstr("'fc1'"), HasSubstr("(3,)"))));
    EXPECT_THAT(plot(Mlp(), unknown), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'date'")));
  }
}

}  // namespace
}  // namespace cooper
