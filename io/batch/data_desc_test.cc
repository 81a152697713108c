#include "io/batch/data_desc.h"

#include "gtest/gtest.h"

namespace cooper {
namespace {

TEST(DataDescTest, DefaultsAreMXNets) {
  const DataDesc desc{.name = "data", .shape = {32, 10}};
  EXPECT_EQ(desc.ToString(), "data (32, 10) float32 NCHW");
}

TEST(DataDescTest, BatchAxisIsTheN) {
  EXPECT_EQ(BatchAxis("NCHW"), 0);
  EXPECT_EQ(BatchAxis("NT"), 0);
  EXPECT_EQ(BatchAxis("TN"), 1);
  EXPECT_EQ(BatchAxis("TNC"), 1);
  EXPECT_EQ(BatchAxis(""), 0);
  EXPECT_EQ(BatchAxis("C"), -1);
}

TEST(DataDescTest, EqualityIncludesDTypeAndLayout) {
  const DataDesc desc{.name = "data", .shape = {32, 10}};
  DataDesc other = desc;
  EXPECT_EQ(desc, other);
  other.dtype = DType::kInt32;
  EXPECT_FALSE(desc == other);
  other = desc;
  other.layout = "TN";
  EXPECT_FALSE(desc == other);
}

TEST(DataDescTest, PrintsLists) {
  EXPECT_EQ(DescsToString({{.name = "a", .shape = {2}, .layout = "N"}, {.name = "b", .shape = {}}}),
            "a (2,) float32 N, b () float32 NCHW");
}

}  // namespace
}  // namespace cooper
