#ifndef COOPER_TOOLS_HTML_PAGE_H_
#define COOPER_TOOLS_HTML_PAGE_H_

// Reports as single HTML files: nothing is loaded from elsewhere and nothing is run, and they read
// in light and dark surroundings. Colours are those of the page's style alone, by name; pictures
// (svg_canvas.h) use its classes.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cooper {

// Text of any origin as HTML shows it, in attributes too. Control characters are written as C
// writes them ("\n").
std::string EscapeHtml(absl::string_view text);

// The cells are text. The first column is to the left, the others are numbers to the right. A row
// with fewer cells than the header has empty ones at its end.
std::string HtmlTable(const std::vector<std::string>& header,
                      const std::vector<std::vector<std::string>>& rows);

// Text that is to be copied as it is.
std::string HtmlCode(absl::string_view text);

// A picture with a line above it that tells what it shows; `svg` is HTML.
std::string HtmlFigure(absl::string_view caption, absl::string_view svg);

// The whole file; `title` is text, `body` is HTML.
std::string HtmlPage(absl::string_view title, absl::string_view body);

// A picture (an svg element with the page's classes) as a file of its own, for pages of other
// kinds: with the colours of both schemes, and a background of its own.
std::string SvgFile(absl::string_view svg);

}  // namespace cooper

#endif  // COOPER_TOOLS_HTML_PAGE_H_
