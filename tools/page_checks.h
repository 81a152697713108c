#ifndef COOPER_TOOLS_PAGE_CHECKS_H_
#define COOPER_TOOLS_PAGE_CHECKS_H_

// Checks of HTML pages (html_page.h) that need no browser.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cooper {

// Returns the problems of a page, one per line; empty if none is found:
//
// - an element that is not closed, or closes another;
// - an address (http:, https:, url(), @import) or an attribute or element that would load one;
// - a script, or a handler of events;
// - a colour that is no variable, or a variable that the light or the dark scheme lacks;
// - text or marks of too little contrast in a scheme (below 4.5 and 3 to 1, as WCAG 2 requires);
// - two labels of a picture that overlap, or one outside of it, by the widths of DejaVu Sans, the
//   widest of the fonts that browsers have without asking.
std::vector<std::string> PageProblems(absl::string_view page);

}  // namespace cooper

#endif  // COOPER_TOOLS_PAGE_CHECKS_H_
