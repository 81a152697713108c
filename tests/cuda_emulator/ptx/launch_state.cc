#include "tests/cuda_emulator/ptx/launch_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/memory.h"

namespace cooper::ptx {
namespace {

void Broadcast(uint64_t value, int bytes, uint8_t* slot) {
  if (bytes == 0) {
    const uint32_t bits = value != 0 ? kAllLanes : 0;
    std::memcpy(slot, &bits, sizeof(bits));
    return;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    std::memcpy(slot + lane * bytes, &value, static_cast<size_t>(bytes));
  }
}

}  // namespace

std::vector<const Code*> Reachable(const Code& kernel) {
  std::vector<const Code*> result = {&kernel};
  absl::flat_hash_set<const Code*> seen = {&kernel};
  for (size_t i = 0; i < result.size(); ++i) {
    const Code* code = result[i];
    for (const auto* list : {&code->callee_code, &code->address_taken}) {
      for (const Code* callee : *list) {
        if (callee != nullptr && seen.insert(callee).second) result.push_back(callee);
      }
    }
  }
  return result;
}

SharedLayout LayOutShared(const std::vector<const Code*>& functions) {
  SharedLayout layout;
  absl::flat_hash_map<int, uint64_t> of_module;
  uint64_t align = 16;
  for (const Code* code : functions) {
    for (const SharedVariable& variable : code->shared) {
      if (variable.size == 0) {
        align = std::max(align, variable.align);
        continue;
      }
      const auto known = of_module.find(variable.module_index);
      if (variable.module_index >= 0 && known != of_module.end()) {
        layout.offsets[&variable] = known->second;
        continue;
      }
      uint64_t& end = layout.static_bytes;
      end = (end + variable.align - 1) / variable.align * variable.align;
      layout.offsets[&variable] = end;
      if (variable.module_index >= 0) of_module[variable.module_index] = end;
      end += variable.size;
    }
  }
  layout.dynamic_begin = (layout.static_bytes + align - 1) / align * align;
  for (const Code* code : functions) {
    for (const SharedVariable& variable : code->shared) {
      if (variable.size == 0) layout.offsets[&variable] = layout.dynamic_begin;
    }
  }
  return layout;
}

absl::Status LaunchState::Link() {
  const std::vector<const Code*> functions = Reachable(kernel);
  const SharedLayout layout = LayOutShared(functions);
  shared_static = launch.dynamic_shared > 0 ? layout.dynamic_begin : layout.static_bytes;
  shared_total = shared_static + launch.dynamic_shared;
  const absl::Span<const Variable> variables = module.variables();
  for (size_t i = 0; i < variables.size() && i < launch.variables.size(); ++i) {
    extents.push_back({launch.variables[i], launch.variables[i] + variables[i].size});
  }
  for (const Code* code : functions) {
    LinkedCode& link = linked[code];
    link.constants.reserve(code->constants.size());
    for (const Constant& constant : code->constants) {
      uint64_t value = constant.value;
      const size_t index = static_cast<size_t>(constant.index);
      switch (constant.kind) {
        case Constant::Kind::kValue:
          break;
        case Constant::Kind::kVariable:
          if (index >= launch.variables.size()) {
            return absl::InvalidArgumentError("a launch without the addresses of variables");
          }
          value += launch.variables[index];
          break;
        case Constant::Kind::kShared:
          value += layout.offsets.at(&code->shared[index]);
          break;
        case Constant::Kind::kFunction:
          value += kFunctionWindow + 16 * (index + 1);
          break;
        case Constant::Kind::kLocal:
          break;
      }
      link.constants.push_back(value);
    }
  }
  return absl::OkStatus();
}

std::unique_ptr<Frame> LaunchState::NewFrame(const Code* code) {
  LinkedCode& link = linked.at(code);
  if (!link.free.empty()) {
    std::unique_ptr<Frame> frame = std::move(link.free.back());
    link.free.pop_back();
    return frame;
  }
  auto frame = std::make_unique<Frame>();
  frame->code = code;
  frame->data = std::make_unique<uint8_t[]>(code->frame_bytes);
  for (size_t i = 0; i < code->constants.size(); ++i) {
    const Constant& constant = code->constants[i];
    Broadcast(link.constants[i], constant.bytes, frame->data.get() + constant.slot);
  }
  return frame;
}

void LaunchState::FreeFrame(std::unique_ptr<Frame> frame) {
  linked.at(frame->code).free.push_back(std::move(frame));
}

const Extent& LaunchState::ExtentOf(uint64_t address) {
  static constexpr Extent kNone;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (address >= extents[i].begin && address < extents[i].end) {
      // Moves frequently used entries to the front: a module may have hundreds of variables.
      std::swap(extents[i], extents[i / 2]);
      recent_extent = i / 2;
      return extents[recent_extent];
    }
  }
  const Extent found = find_extent ? find_extent(address) : Extent();
  if (address < found.begin || address >= found.end) return kNone;
  extents.push_back(found);
  recent_extent = extents.size() - 1;
  return extents.back();
}

}  // namespace cooper::ptx
