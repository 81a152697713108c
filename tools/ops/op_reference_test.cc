#include "tools/ops/op_reference.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "symbol/op/op_description.h"
#include "symbol/schema/op.h"
#include "tools/ops/op_headers.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(OpReferenceTest, IsComplete) {
  std::set<std::string> names;
  for (const OpEntry& entry : AllEntries()) {
    SCOPED_TRACE(entry.name);
    names.insert(entry.name);
    EXPECT_THAT(entry.doc, Not(IsEmpty()));
    EXPECT_THAT(entry.family, Not(IsEmpty()));
    EXPECT_THAT(entry.function, Not(IsEmpty()));
    EXPECT_THAT(entry.outputs, Not(IsEmpty()));
    EXPECT_THAT(entry.shapes, HasSubstr("-> "));
    EXPECT_THAT(entry.gradient, Not(IsEmpty()));
    EXPECT_THAT(entry.kernels, Not(IsEmpty()));
    for (const OpEntry::Attribute& attribute : entry.attributes) {
      EXPECT_THAT(attribute.type, Not(IsEmpty())) << attribute.name;
      EXPECT_THAT(attribute.meaning, Not(IsEmpty())) << attribute.name;
    }
  }
  for (const OpSchema* op : AllOps()) {
    EXPECT_EQ(names.count(op->name()), HasFunction(*op) ? 1 : 0) << op->name();
  }
}

TEST(OpReferenceTest, TellsOfAnOperator) {
  EXPECT_THAT(EntryText(DescribeEntry(**FindOp("FullyConnected"))),
              AllOf(HasSubstr("op::FullyConnected(data, {...})"),
                    HasSubstr("symbol/op/nn.h from @cooper//symbol/op:nn"),
                    HasSubstr("data, weight (optional), bias (if attributes ask for it)"),
                    HasSubstr("data (2, 3), weight (2, 3), bias (2,) -> output (2, 2)  with "
                              "num_hidden=2"),
                    HasSubstr("  optional  weight (2, 3) float32\n"
                              "  optional  bias (2,) float32\n"),
                    HasSubstr("cpu: float32"),
                    HasSubstr("num_hidden  int >= 1  required  rows of weight")));
}

TEST(OpReferenceTest, TellsOfInputsThatAttributesAskFor) {
  const std::pair<const char*, const char*> kCases[] = {
      {"softmax", "  optional  length (2,) of any dtype, with use_length=True\n"},
      {"SequenceMask", "sequence_length (3,) float32, with use_sequence_length=True\n"},
      {"CTCLoss", "label_lengths (2,) of any dtype, with use_label_lengths=True\n"},
      {"RNN", "state_cell (2, 3, 2) float32, with mode=lstm\n"},
      {"BatchNorm", "moving_mean (3,) float32\n"},
      {"LeakyReLU", "gamma (3,) float32, with act_type=prelu\n"}};
  for (const auto& [op, text] : kCases) {
    EXPECT_THAT(EntryText(DescribeEntry(**FindOp(op))), HasSubstr(text));
  }
}

// The entry has the layout that the rules expect, with the tried shapes as an example.
TEST(OpReferenceTest, TellsTheLayoutOfInterleavedProjections) {
  for (const char* op : {"selfatt_qk", "selfatt_valatt", "encdec_qk", "encdec_valatt"}) {
    const std::string name = std::string("_contrib_interleaved_matmul_") + op;
    EXPECT_THAT(EntryText(DescribeEntry(**FindOp(name))),
                HasSubstr(op[0] == 's' ? "(T, N, heads x [q k v])" : "(T, N, heads x [k v])"));
  }
}

TEST(OpHeadersTest, PageHasTheTable) {
  std::ifstream file("docs/symbol.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(absl::StrContains(page, OpHeaderTable(AllOps())))
      << "docs/symbol.md is older than the operators: put in it what "
         "./bazelw run //tools:ops -- --headers prints";
}

TEST(OpReferenceTest, HiddenOperatorsAreLast) {
  const std::vector<OpEntry> entries = AllEntries();
  const auto is_hidden = [](const OpEntry& entry) { return absl::StartsWith(entry.name, "_"); };
  EXPECT_FALSE(is_hidden(entries.front()));
  EXPECT_TRUE(is_hidden(entries.back()));
  EXPECT_TRUE(std::is_partitioned(entries.begin(), entries.end(), std::not_fn(is_hidden)));
}

TEST(OpReferenceTest, PageHasAnEntryForEachOperatorAndNoMarkupOfTheirs) {
  const std::string page = ReferencePage(AllEntries());
  for (const OpEntry& entry : AllEntries()) {
    EXPECT_THAT(page, HasSubstr("<section id=\"" + entry.name + "\">"));
  }
  const std::string one =
      ReferencePage({{.name = "less", .doc = "1 where a < b & c", .family = "x"}});
  EXPECT_THAT(one, HasSubstr("1 where a &lt; b &amp; c"));
}

}  // namespace
}  // namespace cooper
