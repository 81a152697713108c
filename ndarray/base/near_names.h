#ifndef COOPER_NDARRAY_BASE_NEAR_NAMES_H_
#define COOPER_NDARRAY_BASE_NEAR_NAMES_H_

// Finds known names that resemble an unknown one, for the error messages of lookups by name.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cooper {

// Returns at most three of `known`, the nearest first: names that differ from `name` only in case,
// underscores, dashes or spaces, or by a few letters omitted, added, changed or swapped with their
// neighbours (a third of the letters of `name`, at least one). Names that are equally near keep the
// order of `known`. The result points into `known`. O(known * length^2) time.
std::vector<absl::string_view> SimilarNames(absl::string_view name,
                                            absl::Span<const absl::string_view> known);

// Returns "; did you mean 'a', 'b' or 'c'?", to append to an error about `name`; empty if no name
// is near.
std::string DidYouMean(absl::string_view name, absl::Span<const absl::string_view> known);
std::string DidYouMean(absl::string_view name, absl::Span<const std::string> known);

// Joins at most ten of `names` and the number of the others: "a, b, ... and 37 more". For error
// messages whose lists grow with a graph.
std::string JoinNames(absl::Span<const absl::string_view> names);
std::string JoinNames(absl::Span<const std::string> names);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_NEAR_NAMES_H_
