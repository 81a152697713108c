#ifndef COOPER_TOOLS_HTML_PAGE_H_
#define COOPER_TOOLS_HTML_PAGE_H_

// Writes reports as single HTML files. They load and run nothing, and support light and dark
// schemes. Colours are the named ones of the page's style; pictures (svg_canvas.h) use its classes.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cooper {

// Escapes any text for HTML, including attributes. Control characters are written as C escapes
// ("\n").
std::string EscapeHtml(absl::string_view text);

// Returns a table; cells are text. The first column is aligned left, the others are numbers and
// aligned right. A row with fewer cells than the header ends with empty ones.
std::string HtmlTable(const std::vector<std::string>& header,
                      const std::vector<std::vector<std::string>>& rows);

// Returns a block of text to be copied verbatim.
std::string HtmlCode(absl::string_view text);

// Returns a picture with a caption above it; `svg` is HTML.
std::string HtmlFigure(absl::string_view caption, absl::string_view svg);

// Returns the whole file; `title` is text, `body` is HTML.
std::string HtmlPage(absl::string_view title, absl::string_view body);

// Returns a picture (an svg element with the page's classes) as a separate file, for use in other
// pages: with the colours of both schemes and its own background.
std::string SvgFile(absl::string_view svg);

}  // namespace cooper

#endif  // COOPER_TOOLS_HTML_PAGE_H_
