#include "tests/cuda_emulator/ptx/carry_ops.h"

#include <cstdint>
#include <type_traits>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/ops.h"

namespace cooper::ptx {
namespace {

// Bits of Instr::mode.
constexpr uint8_t kTake = 1;
constexpr uint8_t kGive = 2;
constexpr uint8_t kSubtract = 4;
constexpr uint8_t kHigh = 8;

// Returns x +- y with the flag, which is a borrow after subtractions. T is unsigned.
template <typename T>
T Combine(const Instr& in, uint32_t flags, int lane, T x, T y, uint32_t& given) {
  const T carry = (in.mode & kTake) != 0 ? static_cast<T>(flags >> lane & 1) : 0;
  const bool subtract = (in.mode & kSubtract) != 0;
  const T first = static_cast<T>(subtract ? x - y : x + y);
  const T second = static_cast<T>(subtract ? first - carry : first + carry);
  const bool out = subtract ? (x < y || first < carry) : (first < x || second < first);
  if (out) given |= 1u << lane;
  return second;
}

void SetFlags(Warp& warp, const Instr& in, uint32_t mask, uint32_t given) {
  if ((in.mode & kGive) == 0) return;
  uint32_t& flags = warp.Bits(in.e);
  flags = (flags & ~mask) | given;
}

template <typename T>
void AddSub(Warp& warp, const Instr& in, uint32_t mask) {
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  const auto* b = warp.Lanes<T>(in.b);
  const uint32_t flags = warp.Bits(in.e);
  uint32_t given = 0;
  ForLanes(mask, [&](int l) { d[l] = Combine<T>(in, flags, l, a[l], b[l], given); });
  SetFlags(warp, in, mask, given);
}

template <typename T>  // signed or unsigned: the upper half of the product differs
void Mad(Warp& warp, const Instr& in, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  using Wide =
      std::conditional_t<sizeof(T) == 8,
                         std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                         std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  auto* d = warp.Lanes<T>(in.d);
  const auto* a = warp.Lanes<T>(in.a);
  const auto* b = warp.Lanes<T>(in.b);
  const auto* c = warp.Lanes<T>(in.c);
  const uint32_t flags = warp.Bits(in.e);
  const int shift = (in.mode & kHigh) != 0 ? static_cast<int>(8 * sizeof(T)) : 0;
  uint32_t given = 0;
  ForLanes(mask, [&](int l) {
    const Wide product =
        static_cast<Wide>(static_cast<T>(a[l])) * static_cast<Wide>(static_cast<T>(b[l]));
    const U half = static_cast<U>(product >> shift);
    d[l] = Combine<U>(in, flags, l, half, static_cast<U>(c[l]), given);
  });
  SetFlags(warp, in, mask, given);
}

uint8_t ModeOf(bool take, bool give) {
  return static_cast<uint8_t>((take ? kTake : 0) | (give ? kGive : 0));
}

void DecodeAddc(Decoder& decoder, Instr& in) {
  const bool give = decoder.mods().Take("cc");
  DecodeCarryAddSub(decoder, in, true, give);
}

void DecodeMadc(Decoder& decoder, Instr& in) {
  const bool give = decoder.mods().Take("cc");
  DecodeCarryMad(decoder, in, true, give);
}

constexpr Op kOps[] = {{"addc", &DecodeAddc}, {"subc", &DecodeAddc}, {"madc", &DecodeMadc}};

}  // namespace

void DecodeCarryAddSub(Decoder& decoder, Instr& in, bool take, bool give) {
  const Type type = decoder.mods().TakeType();
  if (IsFloat(type) || SizeOf(type) < 4 || SizeOf(type) > 8) {
    decoder.Invalid("carry flags are for 32 and 64 bits");
  }
  in.mode = ModeOf(take, give);
  if (decoder.mods().base().substr(0, 3) == "sub") in.mode |= kSubtract;
  in.run = SizeOf(type) == 8 ? &AddSub<uint64_t> : &AddSub<uint32_t>;
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
  in.e = decoder.Carry();
}

void DecodeCarryMad(Decoder& decoder, Instr& in, bool take, bool give) {
  const Type type = decoder.mods().TakeType();
  in.mode = ModeOf(take, give);
  if (decoder.mods().Take("hi")) {
    in.mode |= kHigh;
  } else if (!decoder.mods().Take("lo")) {
    decoder.Invalid("mad with a carry flag without lo or hi");
  }
  if (SizeOf(type) >= 4) {
    in.run = ForInteger(type, []<typename T>() -> Handler {
      if constexpr (sizeof(T) == 2)
        return nullptr;
      else
        return &Mad<T>;
    });
  }
  if (in.run == nullptr) decoder.Invalid("carry flags are for 32 and 64 bits");
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.b = decoder.In(2, type);
  in.c = decoder.In(3, type);
  in.e = decoder.Carry();
}

absl::Span<const Op> CarryOps() { return kOps; }

}  // namespace cooper::ptx
