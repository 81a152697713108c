#include "module/devices/device_contexts.h"

#include "ndarray/base/default_seed.h"

namespace cooper {
namespace {

// Runs of evaluation count from here: no training has so many.
constexpr uint64_t kFirstEvaluation = kMaxRuns / 2;

}  // namespace

DeviceContexts::DeviceContexts(const std::vector<Context>& contexts)
    : threads_(static_cast<int>(contexts.size())) {
  for (const Context& context : contexts) {
    devices_.push_back({.arena = std::make_shared<Arena>(context),
                        .group_arenas = {},
                        .random = std::make_shared<RandomState>(),
                        .evaluation_random = std::make_shared<RandomState>()});
  }
  SetSeed(DefaultSeed());
  SetRank(0);
}

void DeviceContexts::MakeGroupArenas(int i, const std::map<std::string, Context>& group2ctx) {
  for (const auto& [group, context] : group2ctx) {
    std::shared_ptr<Arena>& arena = devices_[i].group_arenas[context];
    if (arena == nullptr) arena = std::make_shared<Arena>(context);
  }
}

int64_t DeviceContexts::arena_bytes() const {
  int64_t bytes = 0;
  for (const Device& device : devices_) {
    bytes += device.arena->bytes();
    for (const auto& [context, arena] : device.group_arenas) bytes += arena->bytes();
  }
  return bytes;
}

void DeviceContexts::SetRandomPosition(const RandomState& position) {
  const uint64_t seed = position.seed;  // `position` may be one of those below
  const uint64_t runs = position.runs;
  for (const Device& device : devices_) {
    device.random->seed = seed;
    device.random->runs = runs;
    device.evaluation_random->seed = seed;
    device.evaluation_random->runs = kFirstEvaluation;
  }
}

void DeviceContexts::AlignRandom() {
  for (const Device& device : devices_) {
    device.random->runs = devices_[0].random->runs;
    device.evaluation_random->runs = devices_[0].evaluation_random->runs;
  }
}

void DeviceContexts::SetRank(int rank) {
  const uint64_t first = static_cast<uint64_t>(rank) * devices_.size();
  for (size_t i = 0; i < devices_.size(); ++i) {
    devices_[i].random->replica = first + i;
    devices_[i].evaluation_random->replica = first + i;
  }
}

}  // namespace cooper
