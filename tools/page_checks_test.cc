#include "tools/page_checks.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/html_page.h"

namespace cooper {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Picture(const std::string& labels) {
  return HtmlPage("t",
                  absl::StrCat("<svg viewBox=\"0 0 100 50\" font-size=\"12\">", labels, "</svg>"));
}

TEST(PageChecksTest, FindsNothingInAGoodPage) {
  EXPECT_THAT(PageProblems(HtmlPage("t", "<p class=\"quiet\">a<wbr>b</p>\n")), IsEmpty());
  EXPECT_THAT(PageProblems(Picture("<text x=\"10\" y=\"20\">12</text>"
                                   "<text x=\"40\" y=\"20\" text-anchor=\"middle\">12</text>"
                                   "<text x=\"10\" y=\"40\" class=\"strong\">12</text>")),
              IsEmpty());
}

TEST(PageChecksTest, FindsWhatIsWrong) {
  struct Case {
    std::string page;
    std::string problem;
  };
  const auto page = [](const std::string& body) { return HtmlPage("t", body); };
  const auto style = [](const std::string& from, const std::string& to) {
    return absl::StrReplaceAll(HtmlPage("t", ""), {{from, to}});
  };
  for (const auto& [html, problem] : std::vector<Case>{
           {page("<p>"), "</body> closes <p>"},
           {page("<p></div>"), "</div> closes <p>"},
           {page("<p>http://a</p>"), "has http:"},
           {page("<p>HTTPS://a</p>"), "has https:"},
           {page("<script></script>"), "has <script>"},
           {page("<img src=\"a.png\"/>"), "<img> has src="},
           {page("<p onclick=\"x\"></p>"), "<p> has on"},
           {page("<p style=\"x\"></p>"), "<p> has style="},
           {page("<rect fill=\"red\"/>"), "has fill= outside"},
           {style("color: var(--quiet)", "color: #000000"), "color: #000000 is the same"},
           {style("color: var(--quiet)", "color: gray"), "color: gray is the same"},
           {style("color: var(--quiet)", "color: var(--q)"), "--q is not defined"},
           {style("--code: #1f262d;", ""), "--code is not for dark"},
           {style("--code: #f3f5f7;", ""), "--code is not for light"},
           {style("--quiet: #9aa5b1", "--quiet: #333333"), "dark scheme: --quiet on --page"},
           {style("--bar: #4a7fb5", "--bar: #eeeeee"), "light scheme: --bar on --page"},
           {Picture("<text x=\"10\" y=\"20\">12</text><text x=\"20\" y=\"25\">34</text>"),
            "'34' overlaps '12'"},
           {Picture("<text x=\"95\" y=\"20\">12</text>"), "'12' leaves its picture"},
           {Picture("<text x=\"95\" y=\"20\" text-anchor=\"end\">1234567890123456</text>"),
            "leaves its picture"},
           {Picture("<text x=\"10\" y=\"4\">12</text>"), "'12' leaves its picture"},
       }) {
    EXPECT_THAT(PageProblems(html), Contains(HasSubstr(problem)));
  }
}

}  // namespace
}  // namespace cooper
