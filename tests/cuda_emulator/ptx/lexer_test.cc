#include "tests/cuda_emulator/ptx/lexer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper::ptx {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (Lexer lexer(text); lexer.Peek().kind != Token::Kind::kEnd;) {
    words.emplace_back(lexer.Next().text);
  }
  return words;
}

TEST(LexerTest, Splits) {
  EXPECT_THAT(Words("@!%p1 ld.shared::cta.v2.u32 {%r1, _}, [$L__a+-4];"),
              ElementsAre("@", "!", "%p1", "ld.shared::cta.v2.u32", "{", "%r1", ",", "_", "}", ",",
                          "[", "$L__a", "+", "-", "4", "]", ";"));
  EXPECT_THAT(Words("a|b \"x // y\" <3>"), ElementsAre("a", "|", "b", "\"x // y\"", "<", "3", ">"));
}

TEST(LexerTest, LeavesOutWhatServesDebuggers) {
  EXPECT_THAT(Words("a // b\n/* c\n */ d\n.loc 1 2 3, f $x, inlined_at 1\n.file 1 \"q\"\ne\n"
                    ".section .debug_str\n{\n.b8 1\n}\nf"),
              ElementsAre("a", "d", "e", "f"));
}

TEST(LexerTest, CountsLines) {
  Lexer lexer("a\n/*\n*/ b \"\n\" c", 5);
  EXPECT_EQ(lexer.Next().line, 5);
  EXPECT_EQ(lexer.Next().line, 7);
  EXPECT_EQ(lexer.Next().line, 7);
  EXPECT_EQ(lexer.Next().line, 8);
}

TEST(LexerTest, SkipsBraces) {
  Lexer lexer("x { a { \"}\" } // }\n } y");
  lexer.Next();
  EXPECT_EQ(lexer.SkipBraces(), "{ a { \"}\" } // }\n }");
  EXPECT_EQ(lexer.Peek().text, "y");
  EXPECT_EQ(lexer.Peek().line, 2);
  EXPECT_EQ(Lexer("{ {}").SkipBraces(), std::nullopt);
}

TEST(LexerTest, Integers) {
  EXPECT_EQ(IntegerOf("42"), 42u);
  EXPECT_EQ(IntegerOf("42U"), 42u);
  EXPECT_EQ(IntegerOf("0x1fU"), 31u);
  EXPECT_EQ(IntegerOf("017"), 15u);
  EXPECT_EQ(IntegerOf("0b101"), 5u);
  EXPECT_EQ(IntegerOf("0"), 0u);
  EXPECT_EQ(IntegerOf("18446744073709551615"), 18446744073709551615u);
  for (const char* word : {"", "x", "0x", "1a", "08", "0f3F800000", "%r1", "-"}) {
    EXPECT_EQ(IntegerOf(word), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace cooper::ptx
