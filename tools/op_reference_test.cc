#include "tools/op_reference.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "symbol/op.h"
#include "symbol/op/op_description.h"

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
                    HasSubstr("cpu: float32"),
                    HasSubstr("num_hidden  int >= 1  required  rows of weight")));
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
