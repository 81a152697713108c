#include "module/network/bound_shapes.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"

namespace cooper {
namespace {

constexpr size_t kMaxGroups = 8;

// Whether two lists of inputs give the same executor. Layouts do not matter.
bool SameShapes(const std::vector<DataDesc>& a, const std::vector<DataDesc>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const DataDesc& x, const DataDesc& y) {
                      return x.name == y.name && x.shape == y.shape && x.dtype == y.dtype;
                    });
}

// Whether no input is larger than the bound one of the same name.
bool FitsIn(const std::vector<DataDesc>& descs, const std::vector<DataDesc>& bound) {
  return absl::c_all_of(descs, [&](const DataDesc& desc) {
    return absl::c_none_of(bound, [&](const DataDesc& other) {
      return other.name == desc.name && desc.shape.num_elements() > other.shape.num_elements();
    });
  });
}

}  // namespace

bool BoundShapes::Use(const std::vector<DataDesc>& data_shapes,
                      const std::vector<DataDesc>& label_shapes) {
  const auto found = absl::c_find_if(groups_, [&](const auto& group) {
    return SameShapes(group->data_shapes(), data_shapes) &&
           SameShapes(group->label_shapes(), label_shapes);
  });
  if (found == groups_.end()) return false;
  std::rotate(groups_.begin(), found, found + 1);
  return true;
}

void BoundShapes::Add(std::unique_ptr<DataParallelExecutorGroup> group) {
  groups_.insert(groups_.begin(), std::move(group));
  if (groups_.size() > kMaxGroups) groups_.pop_back();
}

std::shared_ptr<const CompiledProgram> BoundShapes::Resize(
    const std::vector<DataDesc>& data_shapes, const std::vector<DataDesc>& label_shapes,
    const KnownShapes& inputs) const {
  for (const auto& group : groups_) {
    // A larger batch needs a larger plan; skipping it here saves inferring its shapes.
    if (!FitsIn(data_shapes, group->data_shapes()) ||
        !FitsIn(label_shapes, group->label_shapes())) {
      continue;
    }
    auto resized = group->compiled()->Resize(inputs);
    if (resized.ok()) return *std::move(resized);
  }
  return nullptr;
}

void BoundShapes::SetMonitorCallback(const Executor::MonitorCallback& callback,
                                     bool monitor_all) const {
  for (const auto& group : groups_) group->SetMonitorCallback(callback, monitor_all);
}

int64_t BoundShapes::footprint_bytes() const {
  int64_t bytes = 0;
  for (const auto& group : groups_) bytes += group->footprint_bytes();
  return bytes;
}

}  // namespace cooper
