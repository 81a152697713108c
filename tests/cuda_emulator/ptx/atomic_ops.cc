// Implements atom and red.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/bit_functions.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/float_ops.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/memory_modifiers.h"
#include "tests/cuda_emulator/ptx/ops.h"
#include "tests/cuda_emulator/ptx/rounding.h"

namespace cooper::ptx {
namespace {

// Functions that compute the new value from the old one and the operands. T is the type in memory.
struct Exchange {
  template <typename T>
  T operator()(T, T a, T) const {
    return a;
  }
};
struct CompareAndSwap {
  template <typename T>
  T operator()(T old, T a, T b) const {
    return old == a ? b : old;
  }
};
struct Add {
  template <typename T>
  T operator()(T old, T a, T) const {
    if constexpr (std::is_same_v<T, float>) return Canonical(old + a);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                            static_cast<std::make_unsigned_t<T>>(a));
    } else {
      return old + a;
    }
  }
};
struct Min {
  template <typename T>
  T operator()(T old, T a, T) const {
    if constexpr (std::is_floating_point_v<T>) return FloatMin()(old, a);
    return std::min(old, a);
  }
};
struct Max {
  template <typename T>
  T operator()(T old, T a, T) const {
    if constexpr (std::is_floating_point_v<T>) return FloatMax()(old, a);
    return std::max(old, a);
  }
};
// Counts up to a, then restarts at 0.
struct Increment {
  template <typename T>
  T operator()(T old, T a, T) const {
    return old >= a ? T{0} : static_cast<T>(old + 1);
  }
};
struct Decrement {
  template <typename T>
  T operator()(T old, T a, T) const {
    return old == 0 || old > a ? a : static_cast<T>(old - 1);
  }
};
template <typename F>
struct Two {
  template <typename T>
  T operator()(T old, T a, T) const {
    return static_cast<T>(F()(old, a));
  }
};
// Applies F to one or two half-precision numbers in a value.
template <typename F, typename H>
struct Halves {
  template <typename T>
  T operator()(T old, T a, T) const {
    constexpr Format kFormat = std::is_same_v<H, Half> ? kHalfFormat : kBfloatFormat;
    uint32_t result = 0;
    for (size_t shift = 0; shift < 8 * sizeof(T); shift += 16) {
      const auto value = [&](T bits) {
        return static_cast<double>(ToFloat(H{static_cast<uint16_t>(bits >> shift)}));
      };
      result |= RoundTo(kFormat, F()(value(old), value(a)), Rounding::kNearest) << shift;
    }
    return static_cast<T>(result);
  }
};

// Processes lanes one after another. The elements of vectors are in Code::lists: results, then
// operands.
template <typename F, typename T>
void Atomic(Warp& warp, const Instr& in, uint32_t mask) {
  uint8_t* pointers[kLanes];
  if (!warp.Resolve(in, mask, pointers)) return;
  const uint32_t* slots = warp.code().lists.data() + in.list;
  const int count = in.count;
  for (int l : warp.lane_order()) {
    if ((mask >> l & 1) == 0) continue;
    for (int i = 0; i < count; ++i) {
      uint8_t* const place = pointers[l] + static_cast<size_t>(i) * sizeof(T);
      T old;
      std::memcpy(&old, place, sizeof(old));
      const T a = Unpack<T>(warp.Lanes<T>(slots[count + i])[l]);
      const T b = Unpack<T>(warp.Lanes<T>(in.c)[l]);
      const T now = F()(old, a, b);
      std::memcpy(place, &now, sizeof(now));
      warp.Lanes<T>(slots[i])[l] = Pack<T>(old);
    }
  }
}

template <typename F>
Handler OfBits(Type type) {
  return ForBits(type, []<typename T>() -> Handler { return &Atomic<F, T>; });
}
template <typename F>
Handler OfInteger(Type type) {
  return SizeOf(type) < 4 ? nullptr
                          : ForInteger(type, []<typename T>() -> Handler { return &Atomic<F, T>; });
}
template <typename F, typename OnHalves>
Handler OfNumber(Type type) {
  switch (type) {
    case Type::kF32:
      return &Atomic<F, float>;
    case Type::kF64:
      return &Atomic<F, double>;
    case Type::kF16:
      return &Atomic<Halves<OnHalves, Half>, uint16_t>;
    case Type::kBf16:
      return &Atomic<Halves<OnHalves, Bfloat>, uint16_t>;
    case Type::kF16x2:
      return &Atomic<Halves<OnHalves, Half>, uint32_t>;
    case Type::kBf16x2:
      return &Atomic<Halves<OnHalves, Bfloat>, uint32_t>;
    default:
      return OfInteger<F>(type);
  }
}

Handler HandlerOf(std::string_view op, Type type) {
  if (op == "add") return OfNumber<Add, FloatAdd>(type);
  if (op == "min") return OfNumber<Min, FloatMin>(type);
  if (op == "max") return OfNumber<Max, FloatMax>(type);
  if (op == "exch") return OfBits<Exchange>(type);
  if (op == "cas") return OfBits<CompareAndSwap>(type);
  if (op == "and") return OfBits<Two<And>>(type);
  if (op == "or") return OfBits<Two<Or>>(type);
  if (op == "xor") return OfBits<Two<Xor>>(type);
  if (type != Type::kU32) return nullptr;
  if (op == "inc") return &Atomic<Increment, uint32_t>;
  if (op == "dec") return &Atomic<Decrement, uint32_t>;
  return nullptr;
}

std::vector<const Operand*> Parts(const Operand& operand) {
  std::vector<const Operand*> parts;
  if (operand.kind != Operand::Kind::kVector) return {&operand};
  for (const Operand& part : operand.parts) parts.push_back(&part);
  return parts;
}

void DecodeAtomic(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  const bool red = mods.base() == "red";
  const size_t address = red ? 0 : 1;
  if (mods.Take("async")) decoder.Unimplemented("red.async");
  TakeMemoryModifiers(decoder, address, in.memory);
  in.memory.access = Access::kAtomic;
  in.memory.strong = true;
  mods.Take("noftz");
  const int count = mods.Take("v2") ? 2 : mods.Take("v4") ? 4 : mods.Take("v8") ? 8 : 1;
  const std::string_view op =
      mods.TakeAny({"add", "min", "max", "exch", "cas", "and", "or", "xor", "inc", "dec"});
  const Type type = mods.TakeType();
  in.run = HandlerOf(op, type);
  if (in.run == nullptr) {
    decoder.Unimplemented("this atomic operation");
    return;
  }
  in.memory.element_bytes = static_cast<uint8_t>(SizeOf(type));
  in.memory.bytes = static_cast<uint8_t>(count * SizeOf(type));
  in.count = static_cast<uint8_t>(count);
  in.a = decoder.Address(address, in.value);
  std::vector<uint32_t> slots;
  if (red) {
    for (int i = 0; i < count; ++i) slots.push_back(decoder.Scratch(type));
  } else {
    for (const Operand* part : Parts(decoder.operand(0))) {
      slots.push_back(decoder.OutOf(*part, type));
    }
  }
  for (const Operand* part : Parts(decoder.operand(address + 1))) {
    slots.push_back(decoder.InOf(*part, type));
  }
  if (static_cast<int>(slots.size()) != 2 * count) {
    decoder.Invalid("a vector of another length");
    return;
  }
  in.list = decoder.List(slots);
  in.c = op == "cas" ? decoder.In(address + 2, type) : slots[static_cast<size_t>(count)];
}

constexpr Op kOps[] = {{"atom", &DecodeAtomic}, {"red", &DecodeAtomic}};

}  // namespace

absl::Span<const Op> AtomicOps() { return kOps; }

}  // namespace cooper::ptx
