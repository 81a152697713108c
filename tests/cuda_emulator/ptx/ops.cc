#include "tests/cuda_emulator/ptx/ops.h"

#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace cooper::ptx {

const Op* FindOp(std::string_view name) {
  static const auto* const ops = [] {
    auto* map = new absl::flat_hash_map<std::string_view, const Op*>;
    for (const auto& list :
         {ArithmeticOps(), BitOps(), CarryOps(), MathOps(), CompareOps(), MoveOps(), ConvertOps(),
          MemoryOps(), AtomicOps(), ControlOps(), SyncOps()}) {
      for (const Op& op : list) map->emplace(op.name, &op);
    }
    return map;
  }();
  const auto found = ops->find(name);
  return found == ops->end() ? nullptr : found->second;
}

}  // namespace cooper::ptx
