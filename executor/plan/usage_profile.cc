#include "executor/plan/usage_profile.h"

#include <algorithm>
#include <cstddef>

namespace cooper {

UsageProfile::UsageProfile(absl::Span<const int64_t> usage)
    : steps_(static_cast<int>(usage.size())), nodes_(4 * std::max<size_t>(1, usage.size())) {
  if (steps_ > 0) Build(usage, 1, 0, steps_);
}

void UsageProfile::Update(int node) {
  const Peak& a = nodes_[2 * node].peak;
  const Peak& b = nodes_[2 * node + 1].peak;
  Peak peak = std::max(a, b);
  if (a.bytes == b.bytes) peak.steps = a.steps + b.steps;
  peak.bytes += nodes_[node].added;
  nodes_[node].peak = peak;
}

void UsageProfile::Build(absl::Span<const int64_t> usage, int node, int begin, int end) {
  if (end - begin == 1) {
    nodes_[node].peak = {.bytes = usage[begin], .steps = 1};
    return;
  }
  const int middle = begin + (end - begin) / 2;
  Build(usage, 2 * node, begin, middle);
  Build(usage, 2 * node + 1, middle, end);
  Update(node);
}

void UsageProfile::Add(int begin, int end, int64_t bytes) {
  if (begin < end) Add(1, 0, steps_, begin, end, bytes);
}

void UsageProfile::Add(int node, int node_begin, int node_end, int begin, int end, int64_t bytes) {
  if (end <= node_begin || node_end <= begin) return;
  if (begin <= node_begin && node_end <= end) {
    nodes_[node].added += bytes;
    nodes_[node].peak.bytes += bytes;
    return;
  }
  const int middle = node_begin + (node_end - node_begin) / 2;
  Add(2 * node, node_begin, middle, begin, end, bytes);
  Add(2 * node + 1, middle, node_end, begin, end, bytes);
  Update(node);
}

}  // namespace cooper
