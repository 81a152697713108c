#include "tools/number_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cooper {

std::string CountText(int64_t number) {
  std::string text = absl::StrCat(number);
  const int first = number < 0 ? 1 : 0;
  for (int i = static_cast<int>(text.size()) - 3; i > first; i -= 3) text.insert(i, ",");
  return text;
}

std::string NumberText(int64_t number, absl::string_view noun) {
  return absl::StrCat(CountText(number), " ", noun, number == 1 ? "" : "s");
}

std::string CostText(double cost) {
  return cost < 100 ? absl::StrCat(cost) : CountText(std::llround(cost));
}

std::string PercentText(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

std::string BytesText(int64_t bytes) {
  if (bytes < 10'000) return absl::StrCat(CountText(bytes), " B");
  if (bytes < 1'000'000) return absl::StrFormat("%.1f KB", static_cast<double>(bytes) / 1e3);
  return absl::StrFormat("%.2f MB", static_cast<double>(bytes) / 1e6);
}

double RoundStep(double range, int max_steps) {
  if (!(range > 0)) return 1;
  const double least = range / max_steps;
  const double power = std::pow(10, std::floor(std::log10(least)));
  // The quotient may be rounded up: 3 * 0.1 is more than 0.3.
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string MarkText(double value, double step) {
  std::string suffix;
  for (const auto& [scale, letter] : {std::pair{1e9, "G"}, std::pair{1e6, "M"}}) {
    if (std::abs(value) < scale) continue;
    value /= scale;
    step /= scale;
    suffix = letter;
    break;
  }
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
  if (digits == 0) return CountText(std::llround(value)) + suffix;
  std::string text = absl::StrFormat("%.*f", digits, value);
  if (!suffix.empty()) {  // "2M" and "2.5M"
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text + suffix;
}

}  // namespace cooper
