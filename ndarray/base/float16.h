#ifndef COOPER_NDARRAY_BASE_FLOAT16_H_
#define COOPER_NDARRAY_BASE_FLOAT16_H_

// The two 16-bit floating point types, as storage: arithmetic is done in float. Conversion from
// float rounds to nearest, ties to even; NaN stays NaN. Conversions are explicit, so that no
// arithmetic happens in 16 bits by accident.

#include <cstdint>
#include <cstring>

#include "ndarray/base/host_device.h"

namespace cooper {

// IEEE 754 binary16: 11 significant bits, normal from 2^-14 to 65504, subnormal down to 2^-24.
// Floats from 65520 on become infinity. A conversion to float is exact. A default-constructed
// number is 0. There is no arithmetic and no comparison: convert to float. A plain value of 2
// bytes, with the same code on CPUs and GPUs.
class Float16 {
 public:
  Float16() = default;
  COOPER_HOST_DEVICE explicit Float16(float value) : bits_(FromFloat(value)) {}
  COOPER_HOST_DEVICE explicit operator float() const { return ToFloat(bits_); }

  // Return the bits of the representation, and the number that a representation stands for.
  COOPER_HOST_DEVICE uint16_t bits() const { return bits_; }
  COOPER_HOST_DEVICE static Float16 FromBits(uint16_t bits) {
    Float16 h;
    h.bits_ = bits;
    return h;
  }

 private:
  COOPER_HOST_DEVICE static uint16_t FromFloat(float value);
  COOPER_HOST_DEVICE static float ToFloat(uint16_t bits);

  uint16_t bits_ = 0;
};

// The upper half of a binary32: 8 significant bits and the range of float. A conversion to float is
// exact. A default-constructed number is 0, and a plain value of 2 bytes, as Float16.
class BFloat16 {
 public:
  BFloat16() = default;
  COOPER_HOST_DEVICE explicit BFloat16(float value) : bits_(FromFloat(value)) {}
  COOPER_HOST_DEVICE explicit operator float() const {
    const uint32_t wide = static_cast<uint32_t>(bits_) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }

  COOPER_HOST_DEVICE uint16_t bits() const { return bits_; }
  COOPER_HOST_DEVICE static BFloat16 FromBits(uint16_t bits) {
    BFloat16 b;
    b.bits_ = bits;
    return b;
  }

 private:
  COOPER_HOST_DEVICE static uint16_t FromFloat(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof(wide));
    // Both are computed, so that compilers can vectorise loops over it.
    const uint32_t rounded = (wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16;
    const uint32_t quiet_nan = (wide >> 16) | 0x40u;
    return static_cast<uint16_t>((wide & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded);
  }

  uint16_t bits_ = 0;
};

COOPER_HOST_DEVICE inline uint16_t Float16::FromFloat(float value) {
  uint32_t f;
  std::memcpy(&f, &value, sizeof(f));
  const uint16_t sign = static_cast<uint16_t>((f >> 16) & 0x8000u);
  f &= 0x7fffffffu;
  if (f > 0x7f800000u) return sign | 0x7e00u;   // NaN
  if (f >= 0x477ff000u) return sign | 0x7c00u;  // at least 65520: rounds to infinity
  if (f < 0x38800000u) {                        // below 2^-14: subnormal or zero
    // Adding 0.5 puts the result's 2^-24 units into the lowest mantissa bits, rounded by the FPU.
    float magnitude;
    std::memcpy(&magnitude, &f, sizeof(f));
    const float shifted = magnitude + 0.5f;
    uint32_t s;
    std::memcpy(&s, &shifted, sizeof(s));
    return sign | static_cast<uint16_t>(s - 0x3f000000u);
  }
  const uint32_t rounded = f + 0xfffu + ((f >> 13) & 1u);
  return sign | static_cast<uint16_t>((rounded - 0x38000000u) >> 13);
}

COOPER_HOST_DEVICE inline float Float16::ToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  uint32_t f;
  if (exponent == 0x1fu) {
    f = sign | 0x7f800000u | (mantissa << 13);
  } else if (exponent != 0) {
    f = sign | ((exponent + 112u) << 23) | (mantissa << 13);
  } else {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  float value;
  std::memcpy(&value, &f, sizeof(value));
  return value;
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_FLOAT16_H_
