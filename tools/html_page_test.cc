#include "tools/html_page.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/page_checks.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(HtmlPageTest, EscapesWhatHtmlReads) {
  EXPECT_EQ(EscapeHtml("a < b && \"c\" > 'd'"),
            "a &lt; b &amp;&amp; &quot;c&quot; &gt; &#39;d&#39;");
  EXPECT_EQ(EscapeHtml(std::string("a\nb\tc\x1b\x7f\0", 8)), "a\\nb\\x09c\\x1b\\x7f\\x00");
  EXPECT_EQ(EscapeHtml("h\xc3\xa9"), "h\xc3\xa9");
  EXPECT_EQ(EscapeHtml(""), "");
}

TEST(HtmlPageTest, NothingOfATextIsRead) {
  const std::string hostile = "</title></pre><script>alert(1)</script><b onclick='x'>\"";
  const std::string page = HtmlPage(
      hostile, HtmlCode(hostile) + HtmlTable({hostile}, {{hostile}}) + HtmlFigure(hostile, ""));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<b ")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(HtmlPageTest, TablesHaveACellForEachColumn) {
  EXPECT_THAT(HtmlTable({"a", "b"}, {{"1", "2"}, {"3"}}),
              HasSubstr("<tr><th>a</th><th>b</th></tr></thead>\n<tbody>\n"
                        "<tr><td>1</td><td>2</td></tr>\n<tr><td>3</td><td></td></tr>\n"));
}

TEST(HtmlPageTest, CodeBreaksBehindCommas) {
  EXPECT_EQ(HtmlCode("{1,2}\n<b>, c"), "<pre>{1,<wbr>2}\n&lt;b&gt;, c</pre>\n");
  EXPECT_EQ(HtmlCode(""), "<pre></pre>\n");
}

TEST(HtmlPageTest, NamesOfFlagsStayTogether) {
  EXPECT_EQ(HtmlCode("a --b_c=1,-2  --d<"),
            "<pre>a <span class=\"flag\">--b_c</span>=1,<wbr>-2  "
            "<span class=\"flag\">--d&lt;</span></pre>\n");
}

}  // namespace
}  // namespace cooper
