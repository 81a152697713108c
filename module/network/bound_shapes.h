#ifndef COOPER_MODULE_NETWORK_BOUND_SHAPES_H_
#define COOPER_MODULE_NETWORK_BOUND_SHAPES_H_

// The shapes of inputs for which a network is bound, so that a smaller last batch or a validation
// batch does not cost a bind each time. All bound programs share parameters and arena.

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/executor.h"
#include "io/batch/data_desc.h"
#include "module/devices/data_parallel_executor_group.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// Keeps the executor groups of up to 8 sets of shapes. Not thread-safe.
class BoundShapes {
 public:
  bool empty() const { return groups_.empty(); }
  // The group in use: the last of Use or Add. Null if there is none.
  DataParallelExecutorGroup* current() const {
    return groups_.empty() ? nullptr : groups_.front().get();
  }

  // Makes the group of these shapes the current one; returns false if there is none. Layouts do not
  // matter.
  bool Use(const std::vector<DataDesc>& data_shapes, const std::vector<DataDesc>& label_shapes);
  // Adds the group of other shapes and makes it the current one. Destroys the least recently used
  // group if there are too many.
  void Add(std::unique_ptr<DataParallelExecutorGroup> group);
  void Clear() { groups_.clear(); }

  // Returns the program of one of the groups, resized to these shapes: a smaller batch runs in the
  // plan of a larger one. `inputs` are the shapes that are arguments of the symbol. Null if no
  // program can be resized.
  std::shared_ptr<const CompiledProgram> Resize(const std::vector<DataDesc>& data_shapes,
                                                const std::vector<DataDesc>& label_shapes,
                                                const KnownShapes& inputs) const;

  // DataParallelExecutorGroup::SetMonitorCallback of all groups.
  void SetMonitorCallback(const Executor::MonitorCallback& callback, bool monitor_all) const;
  // The sum over all groups (DataParallelExecutorGroup::footprint_bytes).
  int64_t footprint_bytes() const;

 private:
  std::vector<std::unique_ptr<DataParallelExecutorGroup>> groups_;  // by last use, current first
};

}  // namespace cooper

#endif  // COOPER_MODULE_NETWORK_BOUND_SHAPES_H_
