#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_MODIFIERS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_MODIFIERS_H_

// The parts of an opcode: "ld.global.nc.v2.f32" is ld with global, nc, v2 and f32. A decoder takes
// the parts that it implements; if any are left, the instruction is rejected.

#include <initializer_list>
#include <string_view>
#include <vector>

#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {

// The modifiers of one opcode. Holds views of it.
class Modifiers {
 public:
  explicit Modifiers(std::string_view opcode);

  std::string_view base() const { return base_; }
  // Removes `name`; returns false if it is absent.
  bool Take(std::string_view name);
  // Removes and returns the first of the names that is present; empty if none is.
  std::string_view TakeAny(std::initializer_list<std::string_view> names);
  // Removes and returns the first type; kNone if there is none.
  Type TakeType();
  // Removes modifiers that change only speed: caches, prefetching, eviction.
  void TakeHints();
  const std::vector<std::string_view>& left() const { return parts_; }

 private:
  std::string_view base_;
  std::vector<std::string_view> parts_;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_MODIFIERS_H_
