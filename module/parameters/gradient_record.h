#ifndef COOPER_MODULE_PARAMETERS_GRADIENT_RECORD_H_
#define COOPER_MODULE_PARAMETERS_GRADIENT_RECORD_H_

// Records what the gradients of Parameters hold: which of them are sums over batches, and how
// many samples or tokens an update divides them by.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace cooper {

// Counts are of samples or of tokens, as the learner's normalization says. Not thread-safe.
class GradientRecord {
 public:
  // Records that a gradient was accumulated into (WriteReq::kAdd). With `shared`, the next update
  // of any network applies it.
  void Accumulate(const std::string& name, bool shared = true) {
    sums_.insert(name);
    if (shared) shared_.insert(name);
  }
  // The names passed to Accumulate since Clear.
  const std::set<std::string>& sums() const { return sums_; }
  // The names passed to Accumulate with `shared` since the last update that had them, except `own`.
  std::vector<std::string> SharedExcept(absl::Span<const std::string> own) const {
    std::set<std::string> others = shared_;
    for (const std::string& name : own) others.erase(name);
    return {others.begin(), others.end()};
  }

  // Adds to the count since the last update, or replaces it.
  void Count(int64_t count, bool add) {
    count_ = add && !applied_ ? count_ + count : count;
    applied_ = false;
  }
  // The count for the present gradients; an update does not change it.
  int64_t count() const { return count_; }

  // Called after an update with the gradients of `names`: the next count starts anew.
  void MarkApplied(absl::Span<const std::string> names) {
    applied_ = true;
    for (const std::string& name : names) shared_.erase(name);
  }
  // Called when all gradients are zero.
  void Clear() { *this = GradientRecord(); }

 private:
  std::set<std::string> shared_;  // not applied yet
  std::set<std::string> sums_;
  int64_t count_ = 0;
  bool applied_ = false;  // whether an update has used the count
};

}  // namespace cooper

#endif  // COOPER_MODULE_PARAMETERS_GRADIENT_RECORD_H_
