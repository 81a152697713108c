#ifndef COOPER_NDARRAY_BASE_CONTEXT_H_
#define COOPER_NDARRAY_BASE_CONTEXT_H_

// Where an array lives and an operator runs: a kind of device and its number. A plain value,
// ordered and hashable. MXNet: include/mxnet/base.h.

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"

namespace cooper {

// The values are MXNet's codes (include/mxnet/base.h), which .params files contain.
enum class DeviceType : int8_t { kCpu = 1, kGpu = 2 };

// The device need not exist: FindDevice (ndarray/array/device.h) checks that. CPU contexts are
// logical: each may have threads of its own, and all share one memory.
struct Context {
  DeviceType device_type = DeviceType::kCpu;
  int device_id = 0;

  static Context Cpu(int id = 0) { return {DeviceType::kCpu, id}; }
  static Context Gpu(int id = 0) { return {DeviceType::kGpu, id}; }

  bool is_cpu() const { return device_type == DeviceType::kCpu; }

  // Returns "cpu(0)" or "gpu(1)"; ParseContext (parse_context.h) reads this form.
  std::string ToString() const { return absl::StrCat(is_cpu() ? "cpu(" : "gpu(", device_id, ")"); }

  friend bool operator==(const Context&, const Context&) = default;
  friend auto operator<=>(const Context&, const Context&) = default;

  template <typename H>
  friend H AbslHashValue(H h, const Context& c) {
    return H::combine(std::move(h), static_cast<int>(c.device_type), c.device_id);
  }
};

// Returns whether work on one context can use arrays of the other in place: all CPU contexts share
// one memory.
inline bool SharesMemory(Context a, Context b) { return a == b || (a.is_cpu() && b.is_cpu()); }

inline std::ostream& operator<<(std::ostream& os, const Context& context) {
  return os << context.ToString();
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_CONTEXT_H_
