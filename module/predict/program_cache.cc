#include "module/predict/program_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ndarray/status_macros.h"

namespace cooper {
namespace {

// Whether no extent is larger, and so the plan might do.
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

}  // namespace

absl::StatusOr<ProgramCache::CompiledPtr> ProgramCache::Get(
    const std::string& name, const InferenceNetwork& network, const KnownShapes& shapes,
    absl::FunctionRef<absl::StatusOr<CompiledPtr>()> compile) {
  std::vector<CompiledPtr> larger;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const Kept* kept = programs_.Find(name)) return kept->compiled;
    for (const auto& [other, kept] : programs_.entries()) {
      if (kept.network == &network && Within(shapes, kept.shapes)) {
        larger.push_back(kept.compiled);
      }
    }
  }
  // Others are not kept waiting. Two threads that compile the same at a time do no harm.
  CompiledPtr compiled;
  for (const CompiledPtr& base : larger) {
    auto resized = base->Resize(shapes);
    if (!resized.ok()) continue;
    compiled = *std::move(resized);
    break;
  }
  if (compiled == nullptr) {
    COOPER_ASSIGN_OR_RETURN(compiled, compile());
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  programs_.Insert(name, {.network = &network, .shapes = shapes, .compiled = compiled});
  return compiled;
}

}  // namespace cooper
