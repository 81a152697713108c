#include "ndarray/base/near_names.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cooper {
namespace {

constexpr size_t kMaxNames = 3;
constexpr size_t kMaxListed = 10;
// Longer names come from damaged files and are not compared.
constexpr size_t kMaxLength = 200;

std::string Folded(absl::string_view name) {
  std::string folded;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    folded.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
  }
  return folded;
}

// Returns the number of letters to omit, add, change or swap with the next one that turn `a` into
// `b` (optimal string alignment).
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<absl::string_view> SimilarNames(absl::string_view name,
                                            absl::Span<const absl::string_view> known) {
  if (name.empty() || name.size() > kMaxLength) return {};
  const std::string wanted = Folded(name);
  const size_t allowed = std::max<size_t>(1, wanted.size() / 3);
  std::vector<std::pair<size_t, absl::string_view>> near;
  for (const absl::string_view candidate : known) {
    const std::string folded = Folded(candidate);
    if (folded.empty()) continue;
    const size_t longer = std::max(folded.size(), wanted.size());
    if (longer - std::min(folded.size(), wanted.size()) > allowed) continue;
    const size_t distance = EditDistance(wanted, folded);
    // A name that would have to be replaced entirely is not similar.
    if (distance <= allowed && distance < longer) near.emplace_back(distance, candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<absl::string_view> names;
  for (const auto& [distance, candidate] : near) {
    // If a name differs only in its spelling, the others are noise.
    if (names.size() == kMaxNames || (near[0].first == 0 && distance > 0)) break;
    names.push_back(candidate);
  }
  return names;
}

std::string DidYouMean(absl::string_view name, absl::Span<const absl::string_view> known) {
  const std::vector<absl::string_view> near = SimilarNames(name, known);
  std::string text;
  for (size_t i = 0; i < near.size(); ++i) {
    const char* before = i == 0 ? "; did you mean " : i + 1 == near.size() ? " or " : ", ";
    absl::StrAppend(&text, before, "'", near[i], "'");
  }
  return text.empty() ? text : text + "?";
}

std::string DidYouMean(absl::string_view name, absl::Span<const std::string> known) {
  return DidYouMean(name, std::vector<absl::string_view>(known.begin(), known.end()));
}

std::string JoinNames(absl::Span<const absl::string_view> names) {
  if (names.size() <= kMaxListed) return absl::StrJoin(names, ", ");
  return absl::StrCat(absl::StrJoin(names.first(kMaxListed), ", "), ", ... and ",
                      names.size() - kMaxListed, " more");
}

std::string JoinNames(absl::Span<const std::string> names) {
  return JoinNames(std::vector<absl::string_view>(names.begin(), names.end()));
}

}  // namespace cooper
