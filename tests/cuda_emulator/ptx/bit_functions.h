#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_BIT_FUNCTIONS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_BIT_FUNCTIONS_H_

// Bit instructions as functions of values. Types are those of the instruction.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace cooper::ptx {

struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};
// The complement of a. The second operand is ignored.
struct NotFirst {
  template <typename T>
  T operator()(T a, T) const {
    return static_cast<T>(~a);
  }
};
// Logical negation: 1 for 0, else 0.
struct Cnot {
  template <typename T>
  T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};
// Reverses the bits.
struct Brev {
  template <typename T>
  T operator()(T a) const {
    T result = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i) {
      result = static_cast<T>(result << 1 | (a >> i & 1));
    }
    return result;
  }
};
// Counts the bits that are set.
struct Popc {
  template <typename T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
// Counts the leading zeros.
struct Clz {
  template <typename T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
// Returns the highest bit that differs from the sign; all ones if there is none.
struct Bfind {
  template <typename T>
  uint32_t operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    const U bits = static_cast<U>(a < 0 ? ~a : a);
    if (bits == 0) return 0xffffffff;
    return static_cast<uint32_t>(std::bit_width(bits)) - 1;
  }
};
// bfind.shiftamt: the left shift that moves the bit of Bfind to the top.
struct BfindShift {
  template <typename T>
  uint32_t operator()(T a) const {
    const uint32_t bit = Bfind()(a);
    return bit == 0xffffffff ? bit : static_cast<uint32_t>(8 * sizeof(T)) - 1 - bit;
  }
};
// Counts of at least the width shift out all bits.
struct Shl {
  template <typename T>
  T operator()(T a, uint32_t count) const {
    if (count >= 8 * sizeof(T)) return 0;
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << count);
  }
};
// Shifts right; signed types are filled with the sign.
struct Shr {
  template <typename T>
  T operator()(T a, uint32_t count) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> std::min(count, kBits - 1));
    return count >= kBits ? T{0} : static_cast<T>(a >> count);
  }
};
// Extracts `count` bits from bit `start` on; signed types are sign-extended.
struct Bfe {
  template <typename T>
  T operator()(T a, uint32_t start, uint32_t count) const {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t kBits = 8 * sizeof(T);
    const uint32_t position = start & 0xff;
    const uint32_t length = count & 0xff;
    const U bits = static_cast<U>(a);
    const U low = position >= kBits ? U{0} : static_cast<U>(bits >> position);
    if (length == 0) return 0;
    const U mask = length >= kBits ? static_cast<U>(~U{0}) : (U{1} << length) - 1;
    bool negative = false;
    if constexpr (std::is_signed_v<T>) {
      negative = (bits >> std::min(position + length - 1, kBits - 1) & 1) != 0;
    }
    return static_cast<T>((low & mask) | (negative ? static_cast<U>(~mask) : U{0}) |
                          (negative && position + length > kBits ? FromBit<U>(position) : U{0}));
  }

 private:
  // A field that extends beyond the end is filled with the sign.
  template <typename U>
  static U FromBit(uint32_t position) {
    constexpr uint32_t kBits = 8 * sizeof(U);
    return position >= kBits ? static_cast<U>(~U{0}) : static_cast<U>(~(~U{0} >> position));
  }
};
// Inserts `a` into `b`.
struct Bfi {
  template <typename U>
  U operator()(U a, U b, uint32_t start, uint32_t count) const {
    constexpr uint32_t kBits = 8 * sizeof(U);
    const uint32_t position = start & 0xff;
    const uint32_t length = count & 0xff;
    if (position >= kBits || length == 0) return b;
    const U mask = (length >= kBits ? ~U{0} : (U{1} << length) - 1) << position;
    return (b & ~mask) | ((a << position) & mask);
  }
};

enum class PrmtMode : uint8_t { kIndex, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
inline PrmtMode PrmtModeOf(std::string_view name) {
  if (name == "f4e") return PrmtMode::kF4e;
  if (name == "b4e") return PrmtMode::kB4e;
  if (name == "rc8") return PrmtMode::kRc8;
  if (name == "ecl") return PrmtMode::kEcl;
  if (name == "ecr") return PrmtMode::kEcr;
  return name == "rc16" ? PrmtMode::kRc16 : PrmtMode::kIndex;
}
// Selects four bytes of (b, a) by the selectors in c, or by a mode.
struct Prmt {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t mode) const {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t select = Select(static_cast<PrmtMode>(mode), c, i);
      uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (select & 7)) & 0xff);
      if ((select & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      result |= byte << (8 * i);
    }
    return result;
  }

 private:
  static uint32_t Select(PrmtMode mode, uint32_t c, uint32_t i) {
    const uint32_t n = c & 3;
    switch (mode) {
      case PrmtMode::kIndex:
        return c >> (4 * i) & 15;
      case PrmtMode::kF4e:
        return n + i;
      case PrmtMode::kB4e:
        return (n - i) & 7;
      case PrmtMode::kRc8:
        return n;
      case PrmtMode::kEcl:
        return std::max(i, n);
      case PrmtMode::kEcr:
        return std::min(i, n);
      case PrmtMode::kRc16:
        return (n & 1) * 2 + (i & 1);
    }
    return 0;
  }
};

// Combines three inputs by a truth table of 8 bits.
struct Lop3 {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t table) const {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      if ((table >> i & 1) == 0) continue;
      result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
    }
    return result;
  }
};

// value: 1 left, 2 clamp. The pair is (b, a), with a in the lower half.
struct Shf {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t value) const {
    const uint32_t count = (value & 2) != 0 ? std::min(c, 32u) : c & 31;
    const uint64_t pair = uint64_t{b} << 32 | a;
    if ((value & 1) != 0) return static_cast<uint32_t>(pair << count >> 32);
    return static_cast<uint32_t>(pair >> count);
  }
};

// Returns b ones from bit a on.
template <bool kClamp>
struct Bmsk {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    if (!kClamp) {
      a &= 31;
      b &= 31;
    }
    if (a >= 32) return 0;
    const uint32_t ones = b >= 32 ? 0xffffffffu : (1u << b) - 1;
    return ones << a;
  }
};

// Returns the lower b bits of a, extended.
template <bool kClamp>
struct Szext {
  template <typename T>
  T operator()(T a, uint32_t b) const {
    const uint32_t bits = kClamp ? std::min(b, 32u) : b & 31;
    if (bits >= 32) return a;
    if (bits == 0) return 0;
    const uint32_t up = static_cast<uint32_t>(a) << (32 - bits);
    return static_cast<T>(static_cast<T>(up) >> (32 - bits));
  }
};

// c + |a - b|.
struct Sad {
  template <typename T>
  T operator()(T a, T b, T c) const {
    using U = std::make_unsigned_t<T>;
    const U difference = a < b ? static_cast<U>(static_cast<U>(b) - static_cast<U>(a))
                               : static_cast<U>(static_cast<U>(a) - static_cast<U>(b));
    return static_cast<T>(static_cast<U>(c) + difference);
  }
};

// value: 1 for the upper 32 of 48 bits, 2 for signed.
struct Mad24 {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t value) const {
    const auto operand = [&](uint32_t x) -> int64_t {
      if ((value & 2) != 0) return static_cast<int32_t>(x << 8) >> 8;
      return x & 0xffffff;
    };
    const int64_t product = operand(a) * operand(b);
    return static_cast<uint32_t>(product >> ((value & 1) != 0 ? 16 : 0)) + c;
  }
};

// value: 1 if a is signed, 2 if b is signed, 4 for four bytes by four (else two words by two
// bytes), 8 for the upper two bytes.
struct Dot {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t value) const {
    const auto byte = [](uint32_t x, int i, bool has_sign) -> int32_t {
      const uint32_t bits = x >> (8 * i) & 0xff;
      return has_sign ? static_cast<int8_t>(bits) : static_cast<int32_t>(bits);
    };
    const auto word = [](uint32_t x, int i, bool has_sign) -> int32_t {
      const uint32_t bits = x >> (16 * i) & 0xffff;
      return has_sign ? static_cast<int16_t>(bits) : static_cast<int32_t>(bits);
    };
    const bool a_sign = (value & 1) != 0;
    const bool b_sign = (value & 2) != 0;
    uint32_t sum = c;
    if ((value & 4) != 0) {
      for (int i = 0; i < 4; ++i) {
        sum += static_cast<uint32_t>(byte(a, i, a_sign) * byte(b, i, b_sign));
      }
    } else {
      const int first = (value & 8) != 0 ? 2 : 0;
      for (int i = 0; i < 2; ++i) {
        sum += static_cast<uint32_t>(word(a, i, a_sign) * byte(b, first + i, b_sign));
      }
    }
    return sum;
  }
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_BIT_FUNCTIONS_H_
