#include "module/predict/program_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Whether no extent is larger, so that the plan may fit.
bool Within(const KnownShapes& small, const KnownShapes& large) {
  return std::equal(small.begin(), small.end(), large.begin(), large.end(),
                    [](const auto& a, const auto& b) {
                      if (a.first != b.first || a.second.rank() != b.second.rank()) return false;
                      for (int i = 0; i < a.second.rank(); ++i) {
                        if (a.second[i] > b.second[i]) return false;
                      }
                      return true;
                    });
}

// Whether both are the same network, even if it was destroyed.
bool SameNetwork(const std::weak_ptr<const CachedNetwork>& a,
                 const std::weak_ptr<const CachedNetwork>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

}  // namespace

bool ProgramCache::IsCheap(const std::string& name, const Kept& kept) const {
  return absl::c_any_of(programs_.entries(), [&](const auto& entry) {
    const Kept& other = entry.second;
    return entry.first != name && SameNetwork(other.network, kept.network) &&
           (kept.larger_refused ? other.planned == kept.planned
                                : Within(kept.planned, other.planned));
  });
}

void ProgramCache::EvictOne() {
  const auto& entries = programs_.entries();
  const auto newest = std::prev(entries.rend());
  auto oldest = std::find_if(entries.rbegin(), newest,
                             [](const auto& entry) { return entry.second.network.expired(); });
  if (oldest == newest) {
    oldest = std::find_if(entries.rbegin(), newest,
                          [&](const auto& entry) { return IsCheap(entry.first, entry.second); });
  }
  if (oldest == newest) oldest = entries.rbegin();
  programs_.Erase(std::string(oldest->first));
}

absl::StatusOr<ProgramCache::CompiledPtr> ProgramCache::Get(
    const std::string& name, const NetworkPtr& network, const KnownShapes& shapes,
    absl::FunctionRef<absl::StatusOr<CompiledPtr>()> compile) {
  std::vector<std::pair<std::string, Kept>> larger;  // one program for each plan
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const Kept* kept = programs_.Find(name)) return kept->compiled;
    for (const auto& entry : programs_.entries()) {
      const Kept& kept = entry.second;
      if (!SameNetwork(kept.network, network) || !Within(shapes, kept.planned)) continue;
      if (absl::c_none_of(larger,
                          [&](const auto& tried) { return tried.second.plan == kept.plan; })) {
        larger.push_back(entry);
      }
    }
  }
  // Compiles without the lock. Two threads that compile the same program are harmless.
  Kept made{.network = network, .planned = shapes};
  std::string base;
  for (const auto& [other, kept] : larger) {
    auto resized = kept.plan->Resize(shapes);
    if (!resized.ok()) continue;
    base = other;
    made.plan = kept.plan;
    made.planned = kept.planned;
    made.larger_refused = kept.larger_refused;
    made.compiled = *std::move(resized);
    break;
  }
  if (made.compiled == nullptr) {
    made.larger_refused = !larger.empty();
    COOPER_ASSIGN_OR_RETURN(made.plan, compile());
    made.compiled = made.plan;
  }
  const CompiledPtr compiled = made.compiled;
  const std::lock_guard<std::mutex> lock(mutex_);
  programs_.Find(base);  // marks the program whose plan was used as recent
  programs_.Insert(name, std::move(made));
  if (programs_.entries().size() > capacity_) EvictOne();
  return compiled;
}

}  // namespace cooper
