#ifndef COOPER_TOOLS_NUMBER_TEXT_H_
#define COOPER_TOOLS_NUMBER_TEXT_H_

// Formats numbers for reports.

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cooper {

// Returns "1,234,567".
std::string CountText(int64_t number);

// Returns "1 bucket", "1,200 buckets".
std::string NumberText(int64_t number, absl::string_view noun);

// Returns a cost in tokens, which need not be whole: "0.5", "2,126".
std::string CostText(double cost);

// Returns a fraction as a percentage: "18.0 %" for 0.1804.
std::string PercentText(double share);

// Returns a size in decimal units: "9,999 B", "20.5 KB", "1.14 MB".
std::string BytesText(int64_t bytes);

// Returns the smallest of 1, 2, 5, 10, 20, ... (and of 0.5, 0.2, ...) that divides `range` into at
// most `max_steps` steps, for the marks of an axis. Returns 1 if range is not positive.
double RoundStep(double range, int max_steps);

// Returns the text of an axis mark: "0.25", "5", "1,500", "2.5M" (millions), with as many digits as
// `step`, the distance of the marks, needs.
std::string MarkText(double value, double step);

}  // namespace cooper

#endif  // COOPER_TOOLS_NUMBER_TEXT_H_
