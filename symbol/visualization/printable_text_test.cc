#include "symbol/visualization/printable_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

TEST(PrintableTextTest, KeepsCharactersAndReplacesTheRest) {
  const struct {
    const char* name;
    std::string text;
    std::string expected;
  } kCases[] = {
      {"Ascii", " a<&>\"'~", " a<&>\"'~"},
      {"TwoToFourBytes", "\u00E9\u20AC\U0001F600", "\u00E9\u20AC\U0001F600"},
      {"Last", "\xF4\x8F\xBF\xBD", "\xF4\x8F\xBF\xBD"},
      {"Control", std::string("a\0\n\x7F", 4), "a\uFFFD\uFFFD\uFFFD"},
      {"LineSeparator", "\u2028", "\uFFFD\uFFFD\uFFFD"},
      {"StrayContinuation", "\xA9\xA9", "\uFFFD\uFFFD"},
      {"CutOff", "\xE2\x82", "\uFFFD\uFFFD"},
      {"CutOffBeforeAscii", "\xC3x", "\uFFFDx"},
      {"Overlong", "\xC0\xBC\xE0\x80\xBC", "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},
      {"Surrogate", "\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
      {"NotInXml", "\xEF\xBF\xBF", "\uFFFD\uFFFD\uFFFD"},
      {"TooLarge", "\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
  };
  for (const auto& c : kCases) EXPECT_EQ(PrintableText(c.text), c.expected) << c.name;
}

TEST(PrintableTextTest, CountsAndCutsCharacters) {
  const std::string text = "a\u00E9\u20ACb";
  EXPECT_EQ(NumCharacters(text), 4);
  EXPECT_EQ(std::string(FirstCharacters(text, 0)), "");
  EXPECT_EQ(std::string(FirstCharacters(text, 2)), "a\u00E9");
  EXPECT_EQ(std::string(FirstCharacters(text, 4)), text);
  EXPECT_EQ(std::string(FirstCharacters(text, 9)), text);
}

}  // namespace
}  // namespace cooper
