#ifndef COOPER_TOOLS_NUMBER_TEXT_H_
#define COOPER_TOOLS_NUMBER_TEXT_H_

// Numbers as people read them, for reports.

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cooper {

// "1,234,567".
std::string CountText(int64_t number);

// "1 bucket", "1,200 buckets".
std::string NumberText(int64_t number, absl::string_view noun);

// A cost in tokens, which need not be whole: "0.5", "2,126".
std::string CostText(double cost);

// A share as a percentage: "18.0 %" of 0.1804.
std::string PercentText(double share);

// Memory, in units of a thousand: "9,999 B", "20.5 KB", "1.14 MB".
std::string BytesText(int64_t bytes);

// The least of 1, 2, 5, 10, 20, ... (and of 0.5, 0.2, ...) that divides `range` into at most
// `max_steps` steps, for the marks of an axis. 1 if range is not positive.
double RoundStep(double range, int max_steps);

// A mark of an axis with such a step between its marks: "0.25", "5", "1,500", "2.5M" (millions),
// with as many digits as tell the marks apart.
std::string MarkText(double value, double step);

}  // namespace cooper

#endif  // COOPER_TOOLS_NUMBER_TEXT_H_
