#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_HANDLERS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_HANDLERS_H_

// Builds handlers from functions of single values, and selects one by type.

#include <cstdint>

#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/types.h"
#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {

// Computes d = F()(a), and so on: F is a stateless function object, R the result's type, and A, B
// and C the types of the operands.
template <typename F, typename R, typename A>
void Unary(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<R>(in.d);
  const auto* a = warp.Lanes<A>(in.a);
  ForLanes(mask, [&](int l) { d[l] = Pack<R>(F()(Unpack<A>(a[l]))); });
}

template <typename F, typename R, typename A, typename B = A>
void Binary(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<R>(in.d);
  const auto* a = warp.Lanes<A>(in.a);
  const auto* b = warp.Lanes<B>(in.b);
  ForLanes(mask, [&](int l) { d[l] = Pack<R>(F()(Unpack<A>(a[l]), Unpack<B>(b[l]))); });
}

template <typename F, typename R, typename A, typename B = A, typename C = A>
void Ternary(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<R>(in.d);
  const auto* a = warp.Lanes<A>(in.a);
  const auto* b = warp.Lanes<B>(in.b);
  const auto* c = warp.Lanes<C>(in.c);
  ForLanes(mask,
           [&](int l) { d[l] = Pack<R>(F()(Unpack<A>(a[l]), Unpack<B>(b[l]), Unpack<C>(c[l]))); });
}

// Computes like Ternary, with in.value, an immediate of the instruction, as a fourth argument of F.
template <typename F, typename R, typename A>
void TernaryWithValue(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<R>(in.d);
  const auto* a = warp.Lanes<A>(in.a);
  const auto* b = warp.Lanes<A>(in.b);
  const auto* c = warp.Lanes<A>(in.c);
  const uint32_t value = static_cast<uint32_t>(in.value);
  ForLanes(mask, [&](int l) {
    d[l] = Pack<R>(F()(Unpack<A>(a[l]), Unpack<A>(b[l]), Unpack<A>(c[l]), value));
  });
}

// Returns make.operator()<T>() for the C++ type T of an integer type with 16 to 64 bits (bits are
// unsigned); null for other types.
template <typename Make>
Handler ForInteger(Type type, const Make& make) {
  switch (type) {
    case Type::kU16:
    case Type::kB16:
      return make.template operator()<uint16_t>();
    case Type::kU32:
    case Type::kB32:
      return make.template operator()<uint32_t>();
    case Type::kU64:
    case Type::kB64:
      return make.template operator()<uint64_t>();
    case Type::kS16:
      return make.template operator()<int16_t>();
    case Type::kS32:
      return make.template operator()<int32_t>();
    case Type::kS64:
      return make.template operator()<int64_t>();
    default:
      return nullptr;
  }
}

// Returns make.operator()<T>() for the unsigned type T of the size of a type whose sign does not
// matter; null for other types.
template <typename Make>
Handler ForBits(Type type, const Make& make) {
  if (IsFloat(type) || type == Type::kPred || type == Type::kNone) return nullptr;
  switch (SizeOf(type)) {
    case 2:
      return make.template operator()<uint16_t>();
    case 4:
      return make.template operator()<uint32_t>();
    case 8:
      return make.template operator()<uint64_t>();
    default:
      return nullptr;
  }
}

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_HANDLERS_H_
