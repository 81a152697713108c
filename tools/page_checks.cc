#include "tools/page_checks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cooper {
namespace {

using Problems = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;  // of a scheme: "page" -> "#ffffff"

struct Tag {
  std::string name;  // "/p" of an end
  std::string attributes;
  bool closed = false;       // "/>"
  absl::string_view behind;  // the text up to the next tag
};

std::vector<Tag> TagsOf(absl::string_view html) {
  std::vector<Tag> tags;
  for (size_t at = html.find('<'); at != absl::string_view::npos;) {
    const size_t end = html.find('>', at), next = html.find('<', at + 1);
    if (end == absl::string_view::npos) break;
    absl::string_view inside = html.substr(at + 1, end - at - 1);
    Tag tag{.closed = absl::ConsumeSuffix(&inside, "/")};
    const size_t space = inside.find(' ');
    tag.name = absl::StrCat(inside.substr(0, space));
    if (space != absl::string_view::npos) tag.attributes = absl::StrCat(inside.substr(space));
    tag.behind = html.substr(end + 1, next == absl::string_view::npos ? next : next - end - 1);
    tags.push_back(std::move(tag));
    at = next;
  }
  return tags;
}

std::string AttributeOf(const Tag& tag, absl::string_view name) {
  const std::string before = absl::StrCat(" ", name, "=\"");
  const size_t at = tag.attributes.find(before);
  if (at == std::string::npos) return "";
  const size_t from = at + before.size();
  return tag.attributes.substr(from, tag.attributes.find('"', from) - from);
}

double NumberOf(const Tag& tag, absl::string_view name) {
  double value = 0;
  return absl::SimpleAtod(AttributeOf(tag, name), &value) ? value : std::nan("");
}

// Returns the names of attributes, without their values: " class= id=".
std::string AttributeNamesOf(const Tag& tag) {
  std::string names;
  bool quoted = false;
  for (const char c : tag.attributes) {
    if (c == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      names += c;
    }
  }
  return names;
}

void CheckNesting(const std::vector<Tag>& tags, Problems& problems) {
  const std::set<std::string> alone = {"!DOCTYPE", "meta", "wbr"};
  std::vector<std::string> open;
  for (const Tag& tag : tags) {
    if (tag.closed || alone.count(tag.name) > 0) continue;
    if (tag.name.empty() || tag.name[0] != '/') {
      open.push_back(tag.name);
    } else if (open.empty() || "/" + open.back() != tag.name) {
      problems.push_back(
          absl::StrCat("<", tag.name, "> closes <", open.empty() ? "" : open.back(), ">"));
      return;
    } else {
      open.pop_back();
    }
  }
  if (!open.empty()) problems.push_back(absl::StrCat("<", open.back(), "> is not closed"));
}

void CheckLoadsNothing(absl::string_view page, const std::vector<Tag>& tags, Problems& problems) {
  const std::string text = absl::AsciiStrToLower(page);
  for (const char* address : {"http:", "https:", "url(", "@import", "javascript:"}) {
    if (absl::StrContains(text, address)) problems.push_back(absl::StrCat("has ", address));
  }
  const std::set<std::string> elements = {
      "!DOCTYPE", "bdi",  "body", "dd",    "div",   "dl",  "dt",    "figcaption",
      "figure",   "h1",   "h2",   "head",  "html",  "li",  "line",  "meta",
      "p",        "pre",  "rect", "span",  "style", "svg", "table", "tbody",
      "td",       "text", "th",   "thead", "title", "tr",  "ul",    "wbr"};
  for (const Tag& tag : tags) {
    const std::string name(absl::StripPrefix(tag.name, "/"));
    if (elements.count(name) == 0) problems.push_back(absl::StrCat("has <", name, ">"));
    for (const char* attribute : {" src=", " href=", " srcset=", " data=", " on", " style="}) {
      if (absl::StrContains(AttributeNamesOf(tag), attribute)) {
        problems.push_back(absl::StrCat("<", name, "> has", attribute));
      }
    }
  }
}

// Returns the variables declared in the first block after `selector`.
Variables VariablesOf(absl::string_view style, absl::string_view selector) {
  Variables variables;
  const size_t at = style.find(selector);
  if (at == absl::string_view::npos) return variables;
  const size_t begin = style.find(":root {", at);
  if (begin == absl::string_view::npos) return variables;
  const absl::string_view block = style.substr(begin + 7, style.find('}', begin) - begin - 7);
  for (const absl::string_view declaration : absl::StrSplit(block, ';')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(declaration, absl::MaxSplits(':', 1));
    absl::string_view name = absl::StripAsciiWhitespace(parts.first);
    if (!absl::ConsumePrefix(&name, "--")) continue;
    variables[absl::StrCat(name)] = absl::StrCat(absl::StripAsciiWhitespace(parts.second));
  }
  return variables;
}

// Returns the relative luminance of "#rrggbb" (WCAG 2), or -1.
double Luminance(const std::string& colour) {
  uint32_t rgb = 0;
  if (colour.size() != 7 || colour[0] != '#' || !absl::SimpleHexAtoi(colour.substr(1), &rgb)) {
    return -1;
  }
  const auto channel = [rgb](int shift) {
    const double c = static_cast<double>(rgb >> shift & 0xff) / 255;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0);
}

void CheckContrast(const Variables& colours, absl::string_view scheme, Problems& problems) {
  struct Pair {
    const char* front;
    const char* back;
    double least;
  };
  for (const auto& [front, back, least] :
       {Pair{"text", "page", 4.5}, Pair{"quiet", "page", 4.5}, Pair{"text", "code", 4.5},
        Pair{"quiet", "band", 4.5}, Pair{"mark", "page", 4.5}, Pair{"bar", "page", 3},
        Pair{"second", "page", 3}, Pair{"third", "page", 3}, Pair{"bar", "band", 3}}) {
    const auto a = colours.find(front), b = colours.find(back);
    if (a == colours.end() || b == colours.end()) {
      problems.push_back(absl::StrCat(scheme, " scheme: no --", front, " or --", back));
      continue;
    }
    const double first = Luminance(a->second), second = Luminance(b->second);
    const double contrast = (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
    if (first >= 0 && second >= 0 && contrast >= least) continue;
    problems.push_back(absl::StrCat(scheme, " scheme: --", front, " on --", back,
                                    " has a contrast of ", contrast, ", expected ", least));
  }
}

void CheckColours(absl::string_view page, Problems& problems) {
  const size_t begin = page.find("<style>"), end = page.find("</style>");
  if (begin == absl::string_view::npos || end == absl::string_view::npos) {
    problems.push_back("there is no style");
    return;
  }
  const absl::string_view style = page.substr(begin, end - begin);
  const absl::string_view dark_query = "@media (prefers-color-scheme: dark)";
  const Variables light = VariablesOf(style, ":root {"), dark = VariablesOf(style, dark_query);
  for (const auto& [name, colour] : light) {
    if (dark.count(name) == 0) problems.push_back(absl::StrCat("--", name, " is not for dark"));
  }
  for (const auto& [name, colour] : dark) {
    if (light.count(name) == 0) problems.push_back(absl::StrCat("--", name, " is not for light"));
  }
  CheckContrast(light, "light", problems);
  CheckContrast(dark, "dark", problems);
  for (const absl::string_view declaration : absl::StrSplit(style, absl::ByAnyChar(";{}"))) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(declaration, absl::MaxSplits(':', 1));
    const absl::string_view name = absl::StripAsciiWhitespace(parts.first);
    absl::string_view value = absl::StripAsciiWhitespace(parts.second);
    if (absl::StartsWith(name, "--")) continue;
    const bool has_literal = absl::StrContains(value, "#") || absl::StrContains(value, "rgb") ||
                             absl::StrContains(value, "hsl");
    const bool is_colour =
        name == "color" || name == "background" || name == "fill" || name == "stroke";
    if (has_literal || (is_colour && value != "none" && !absl::StartsWith(value, "var(--"))) {
      problems.push_back(absl::StrCat(name, ": ", value, " is the same in both schemes"));
    }
    const size_t at = value.find("var(--");
    if (at == absl::string_view::npos) continue;
    const absl::string_view used = value.substr(at + 6, value.find(')', at) - at - 6);
    if (light.count(absl::StrCat(used)) == 0) {
      problems.push_back(absl::StrCat("--", used, " is not defined"));
    }
  }
  const absl::string_view rest = page.substr(end);
  for (const char* attribute : {" fill=", " stroke=", " color=", " bgcolor="}) {
    if (absl::StrContains(rest, attribute)) {
      problems.push_back(absl::StrCat("has", attribute, " outside of the style"));
    }
  }
}

struct Box {
  std::string text;
  double left, right, top, bottom;
};

// Returns the width in DejaVu Sans, as a multiple of the font size.
double WidthOf(absl::string_view text, bool bold) {
  double width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) == 0x80) continue;  // goes on with a character
    width += absl::ascii_isdigit(byte)                         ? 0.636
             : c == ',' || c == '.' || c == ' '                ? 0.318
             : c == '%'                                        ? 0.950
             : c == 'M' || c == 'm' || c == 'w' || byte > 0x7f ? 0.97
                                                               : 0.64;
  }
  return bold ? 1.1 * width : width;
}

void CheckLabels(const std::vector<Tag>& tags, Problems& problems) {
  double width = 0, height = 0, font = 0;
  std::vector<Box> boxes;
  for (const Tag& tag : tags) {
    if (tag.name == "svg") {
      boxes.clear();
      const std::vector<std::string> view = absl::StrSplit(AttributeOf(tag, "viewBox"), ' ');
      font = NumberOf(tag, "font-size");
      if (view.size() != 4 || !absl::SimpleAtod(view[2], &width) ||
          !absl::SimpleAtod(view[3], &height) || !(font > 0)) {
        problems.push_back("an svg has no viewBox or font-size");
        return;
      }
    }
    if (tag.name != "text") continue;
    const std::string style = AttributeOf(tag, "class");
    const bool bold = absl::StrContains(style, "strong") || style == "inside";
    const double x = NumberOf(tag, "x"), y = NumberOf(tag, "y");
    const double extent = font * WidthOf(tag.behind, bold);
    const std::string anchor = AttributeOf(tag, "text-anchor");
    const double left = anchor == "middle" ? x - extent / 2 : anchor == "end" ? x - extent : x;
    const Box box{.text = absl::StrCat(tag.behind),
                  .left = left,
                  .right = left + extent,
                  .top = y - 0.76 * font,
                  .bottom = y + 0.24 * font};
    // A browser clips at the edge; one unit of overlap is invisible.
    if (!(box.left >= -1 && box.right <= width + 1 && box.top >= -1 && box.bottom <= height + 1)) {
      problems.push_back(absl::StrCat("'", box.text, "' leaves its picture"));
    }
    for (const Box& other : boxes) {
      if (box.left < other.right && other.left < box.right && box.top < other.bottom &&
          other.top < box.bottom) {
        problems.push_back(absl::StrCat("'", box.text, "' overlaps '", other.text, "'"));
      }
    }
    boxes.push_back(box);
  }
}

}  // namespace

std::vector<std::string> PageProblems(absl::string_view page) {
  Problems problems;
  const std::vector<Tag> tags = TagsOf(page);
  CheckNesting(tags, problems);
  CheckLoadsNothing(page, tags, problems);
  CheckColours(page, problems);
  CheckLabels(tags, problems);
  return problems;
}

}  // namespace cooper
