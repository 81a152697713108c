#ifndef COOPER_NDARRAY_BASE_NEAR_NAMES_H_
#define COOPER_NDARRAY_BASE_NEAR_NAMES_H_

// Finds the names that somebody may have meant by one that is not known: for error messages of
// everything that is looked up by name.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cooper {

// At most three of `known`, the nearest first: those that differ from `name` in case, underscores
// or spaces alone, or by a few letters left out, added, changed or swapped with their neighbours (a
// third of the name's, at least one). Names of one distance stay in the order of `known`.
// O(known * length^2) time: for errors.
std::vector<absl::string_view> NearNames(absl::string_view name,
                                         absl::Span<const absl::string_view> known);

// "; did you mean 'a', 'b' or 'c'?", to put behind what was said of `name`. Empty if nothing is
// near.
std::string DidYouMean(absl::string_view name, absl::Span<const absl::string_view> known);
std::string DidYouMean(absl::string_view name, absl::Span<const std::string> known);

// "a, b, c": at most ten of `names`, and how many more there are: "a, b, ... and 37 more". For
// lists in error messages, which a graph makes as long as it likes.
std::string JoinNames(absl::Span<const absl::string_view> names);
std::string JoinNames(absl::Span<const std::string> names);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_NEAR_NAMES_H_
