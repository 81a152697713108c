#include "tools/html_page.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cooper {
namespace {

// Every colour is one of these variables, so that the dark scheme defines them all.
constexpr absl::string_view kColours = R"(
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1c2127; --quiet: #59636e; --line: #d5dae0; --band: #eef2f6;
  --bar: #4a7fb5; --second: #3b8755; --third: #8a5fb0; --mark: #b23a0a;
  --code: #f3f5f7; --shade: #dfe3e8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181d; --text: #e6e9ec; --quiet: #9aa5b1; --line: #39424c; --band: #1e252d;
    --bar: #6ea3d8; --second: #6fc48d; --third: #b797dc; --mark: #fb923c;
    --code: #1f262d; --shade: #323a43;
  }
}
)";

// Boxes that scroll have a shade at their right edge. Text stays readable on it, and content
// scrolls over it at the end.
constexpr absl::string_view kPageStyle = R"(* { box-sizing: border-box; }
body {
  font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem 4rem;
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }
p { margin: .4rem 0; max-width: 44rem; }
.quiet { color: var(--quiet); }
.facts { display: flex; flex-wrap: wrap; gap: .6rem 1.4rem; margin: 1rem 0; padding: 0; }
.facts div { min-width: 5rem; }
.facts dt { color: var(--quiet); font-size: .85rem; }
.facts dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
pre {
  background: var(--code); padding: .6rem .8rem; margin: .5rem 0; border-radius: 4px;
  font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
}
pre .flag { white-space: nowrap; }
.scroll {
  overflow-x: auto; background-repeat: no-repeat; background-position: right;
  background-size: 2rem 100%, .6rem 100%; background-attachment: local, scroll;
  background-image: linear-gradient(var(--page), var(--page)),
    linear-gradient(to left, var(--shade), transparent);
}
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .6rem 0; }
th, td { text-align: right; padding: .2rem 0 .2rem 1rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td { white-space: nowrap; }
td:first-child { white-space: normal; }
th { font-weight: normal; color: var(--quiet); font-size: .85rem; vertical-align: bottom; }
figure { margin: .8rem 0 1.6rem; }
figcaption { margin-bottom: .4rem; max-width: 44rem; }
svg { display: block; width: 100%; min-width: 46rem; height: auto; }
)";

// Styles of pictures, in a page or as separate files.
constexpr absl::string_view kSvgStyle = R"(svg text { fill: var(--quiet); }
svg .strong { fill: var(--mark); font-weight: bold; }
svg .halo { paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
svg .inside { fill: var(--page); font-weight: bold; }
svg .bar { fill: var(--bar); }
svg .second { fill: var(--second); }
svg .third { fill: var(--third); }
svg .marked { fill: var(--mark); }
svg .band { fill: var(--band); }
svg .grid { stroke: var(--line); }
svg .axis { stroke: var(--quiet); }
svg .boundary { stroke: var(--mark); stroke-width: 1.2; }
svg .curve { stroke: var(--bar); stroke-width: 2; stroke-linecap: round; }
svg .curve2 { stroke: var(--mark); stroke-width: 2; stroke-linecap: round; }
svg .outline { fill: none; stroke: var(--mark); stroke-width: 1.2; }
)";

}  // namespace

std::string EscapeHtml(absl::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      case '\n':
        escaped += "\\n";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
          absl::StrAppendFormat(&escaped, "\\x%02x", byte);
        } else {
          escaped += c;
        }
      }
    }
  }
  return escaped;
}

std::string HtmlTable(const std::vector<std::string>& header,
                      const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::string& cell : header) absl::StrAppend(&html, "<th>", EscapeHtml(cell), "</th>");
  absl::StrAppend(&html, "</tr></thead>\n<tbody>\n");
  for (const std::vector<std::string>& row : rows) {
    absl::StrAppend(&html, "<tr>");
    for (size_t i = 0; i < header.size(); ++i) {
      absl::StrAppend(&html, "<td>", i < row.size() ? EscapeHtml(row[i]) : "", "</td>");
    }
    absl::StrAppend(&html, "</tr>\n");
  }
  absl::StrAppend(&html, "</tbody>\n</table></div>\n");
  return html;
}

std::string HtmlCode(absl::string_view text) {
  std::string html = "<pre>";
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (html.back() != '>') html += '\n';
    bool first = true;
    for (const absl::string_view word : absl::StrSplit(line, ' ')) {
      if (!first) html += ' ';
      first = false;
      // The name of a flag is not broken at its hyphens; long lists may be broken after each comma.
      // The copied text is unchanged.
      const size_t name = absl::StartsWith(word, "--") ? std::min(word.find('='), word.size()) : 0;
      if (name > 0) {
        absl::StrAppend(&html, "<span class=\"flag\">", EscapeHtml(word.substr(0, name)),
                        "</span>");
      }
      const std::string rest =
          absl::StrReplaceAll(EscapeHtml(word.substr(name)), {{",", ",<wbr>"}});
      absl::StrAppend(&html, absl::StripSuffix(rest, "<wbr>"));  // the space already allows a break
    }
  }
  return html + "</pre>\n";
}

std::string HtmlFigure(absl::string_view caption, absl::string_view svg) {
  return absl::StrCat("<figure><figcaption>", EscapeHtml(caption),
                      "</figcaption>\n<div class=\"scroll\">", svg, "</div></figure>\n");
}

std::string HtmlPage(absl::string_view title, absl::string_view body) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      // A browser loads and runs nothing, whatever the body contains.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>",
      EscapeHtml(title), "</title>\n<style>", kColours, kPageStyle, kSvgStyle,
      "</style>\n</head>\n<body>\n", body, "</body>\n</html>\n");
}

std::string SvgFile(absl::string_view svg) {
  const size_t end = svg.find('>');
  const absl::string_view open = svg.substr(0, end);
  // A separate file cannot inherit a font, a size and a background.
  return absl::StrCat(
      absl::StrReplaceAll(
          open,
          {{"<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" "}}),
      ">\n<style>", kColours, kSvgStyle,
      "svg { min-width: 0; }\n.page { fill: var(--page); }\n</style>\n"
      "<rect width=\"100%\" height=\"100%\" class=\"page\"/>",
      svg.substr(end + 1));
}

}  // namespace cooper
