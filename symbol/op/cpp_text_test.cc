#include "symbol/op/cpp_text.h"

#include <string>

#include "gtest/gtest.h"

namespace cooper {
namespace {

TEST(CppTextTest, NamesAndLiterals) {
  EXPECT_EQ(CamelCase("softmax_cross_entropy"), "SoftmaxCrossEntropy");
  EXPECT_EQ(CamelCase("SoftmaxOutput"), "SoftmaxOutput");
  EXPECT_EQ(Quoted(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(DTypeLiteral("float32"), "DType::kFloat32");
  EXPECT_EQ(FloatLiteral("1"), "1.0");
  EXPECT_EQ(FloatLiteral("1e-5"), "1e-5");
  EXPECT_EQ(FloatLiteral("inf"), "std::numeric_limits<double>::infinity()");
  EXPECT_EQ(FloatLiteral("nan"), "std::numeric_limits<double>::quiet_NaN()");
}

TEST(CppTextTest, LinesEndBeforeColumn100) {
  const std::string word(45, 'w');
  EXPECT_EQ(CommentLines(word + " " + word + "\n " + word, "  "),
            "  // " + word + " " + word + "\n  // " + word + "\n");
  EXPECT_EQ(Wrapped("F(", {word, word, "int"}, ")"), "F(" + word + ", " + word + ",\n  int)");
  EXPECT_EQ(Wrapped("F(", {}, ")"), "F(");
}

TEST(CppTextTest, ACommentStandsBehindItsMemberWhereThereIsRoom) {
  EXPECT_EQ(CommentedLine("  int a = 0;", "short"), "  int a = 0;  // short\n");
  const std::string wide(90, 'w');
  EXPECT_EQ(CommentedLine("  int a = 0;", wide), "  // " + wide + "\n  int a = 0;\n");
}

TEST(CppTextTest, NamespacesCloseWhereAnotherOpens) {
  ScopedText text;
  text.Append("", "A;\n");
  text.Append("", "B;\n");
  text.Append("random", "C;\n");
  EXPECT_EQ(text.Finish(), R"(namespace cooper::op {

A;
B;

}  // namespace cooper::op

namespace cooper::op::random {

C;

}  // namespace cooper::op::random

)");
  EXPECT_EQ(text.Finish(), "");
}

}  // namespace
}  // namespace cooper
