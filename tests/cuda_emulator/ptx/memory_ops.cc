// Implements ld, st, prefetches, and cp.async, which completes immediately.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/memory_modifiers.h"
#include "tests/cuda_emulator/ptx/ops.h"

namespace cooper::ptx {
namespace {

template <typename T>
T ReadHost(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <typename T>
void Load(Warp& warp, const Instr& in, uint32_t mask) {
  uint8_t* pointers[kLanes];
  if (!warp.Resolve(in, mask, pointers)) return;
  auto* d = warp.Lanes<T>(in.d);
  ForLanes(mask, [&](int l) { d[l] = Pack<T>(ReadHost<T>(pointers[l])); });
}

template <typename T>
void LoadVector(Warp& warp, const Instr& in, uint32_t mask) {
  uint8_t* pointers[kLanes];
  if (!warp.Resolve(in, mask, pointers)) return;
  const uint32_t* slots = warp.code().lists.data() + in.list;
  for (int i = 0; i < in.count; ++i) {
    auto* d = warp.Lanes<T>(slots[i]);
    const size_t offset = static_cast<size_t>(i) * sizeof(T);
    ForLanes(mask, [&](int l) { d[l] = Pack<T>(ReadHost<T>(pointers[l] + offset)); });
  }
}

// Loads a parameter of the kernel: the same for all lanes, at an offset known when it is decoded.
template <typename T>
void LoadParam(Warp& warp, const Instr& in, uint32_t mask) {
  const uint8_t* from = warp.launch().params.data() + in.value;
  for (int i = 0; i < in.count; ++i) {
    auto* d =
        warp.Lanes<T>(warp.code().lists[static_cast<size_t>(in.list) + static_cast<size_t>(i)]);
    const auto value = Pack<T>(ReadHost<T>(from + static_cast<size_t>(i) * sizeof(T)));
    ForLanes(mask, [&](int l) { d[l] = value; });
  }
}

template <typename T>
void Store(Warp& warp, const Instr& in, uint32_t mask) {
  uint8_t* pointers[kLanes];
  if (!warp.Resolve(in, mask, pointers)) return;
  const auto* b = warp.Lanes<T>(in.b);
  const auto& order = warp.lane_order();
  const auto store = [&](int l) {
    const T value = Unpack<T>(b[l]);
    std::memcpy(pointers[l], &value, sizeof(value));
  };
  if (warp.launch().options.seed == 0) {
    ForLanes(mask, store);
    return;
  }
  for (int l : order) {
    if ((mask >> l & 1) != 0) store(l);
  }
}

template <typename T>
void StoreVector(Warp& warp, const Instr& in, uint32_t mask) {
  uint8_t* pointers[kLanes];
  if (!warp.Resolve(in, mask, pointers)) return;
  const uint32_t* slots = warp.code().lists.data() + in.list;
  for (int i = 0; i < in.count; ++i) {
    const auto* b = warp.Lanes<T>(slots[i]);
    const size_t offset = static_cast<size_t>(i) * sizeof(T);
    ForLanes(mask, [&](int l) {
      const T value = Unpack<T>(b[l]);
      std::memcpy(pointers[l] + offset, &value, sizeof(value));
    });
  }
}

// Returns make.operator()<T>() for a type's representation in memory.
template <typename Make>
Handler ForMemoryType(Type type, const Make& make) {
  switch (type) {
    case Type::kS8:
      return make.template operator()<int8_t>();
    case Type::kS16:
      return make.template operator()<int16_t>();
    case Type::kS32:
      return make.template operator()<int32_t>();
    default:
      break;
  }
  switch (SizeOf(type)) {
    case 1:
      return type == Type::kPred ? nullptr : make.template operator()<uint8_t>();
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

int TakeVector(Modifiers& mods) {
  return mods.Take("v2") ? 2 : mods.Take("v4") ? 4 : mods.Take("v8") ? 8 : 1;
}

// Returns the operands of a vector, or the operand itself.
std::vector<const Operand*> Parts(const Operand& operand) {
  std::vector<const Operand*> parts;
  if (operand.kind != Operand::Kind::kVector) return {&operand};
  for (const Operand& part : operand.parts) parts.push_back(&part);
  return parts;
}

// Takes type, vector and memory modifiers; returns false on an error.
bool TakeAccess(Decoder& decoder, Instr& in, size_t address, Type& type, int& count) {
  TakeMemoryModifiers(decoder, address, in.memory);
  count = TakeVector(decoder.mods());
  type = decoder.mods().TakeType();
  if (type == Type::kNone || type == Type::kPred) {
    decoder.Invalid("a type for memory is expected");
    return false;
  }
  if (SizeOf(type) > 8) {
    decoder.Unimplemented("elements of 128 bits");
    return false;
  }
  if (count * SizeOf(type) > 32) {
    decoder.Invalid("too large a vector");
    return false;
  }
  in.memory.element_bytes = static_cast<uint8_t>(SizeOf(type));
  in.memory.bytes = static_cast<uint8_t>(count * SizeOf(type));
  return true;
}

void DecodeLoad(Decoder& decoder, Instr& in) {
  Type type;
  int count = 1;
  if (!TakeAccess(decoder, in, 1, type, count)) return;
  in.memory.access = Access::kRead;
  std::vector<uint32_t> slots;
  for (const Operand* part : Parts(decoder.operand(0))) {
    slots.push_back(decoder.OutAny(*part, type));
  }
  if (static_cast<int>(slots.size()) != count) {
    decoder.Invalid("a vector of another length");
    return;
  }
  const Operand& address = decoder.operand(1);
  if (in.memory.space == Space::kParam && address.kind == Operand::Kind::kSymbol &&
      address.symbol.kind == Symbol::Kind::kParam) {
    in.value = address.symbol.offset + address.value;
    if (in.value + in.memory.bytes > decoder.function().param_bytes ||
        address.value + in.memory.bytes > address.symbol.size) {
      decoder.Invalid("a read outside of the parameter");
    }
    in.list = decoder.List(slots);
    in.count = static_cast<uint8_t>(count);
    in.run = ForMemoryType(type, []<typename T>() -> Handler { return &LoadParam<T>; });
    return;
  }
  in.a = decoder.Address(1, in.value);
  if (count == 1) {
    in.d = slots[0];
    in.run = ForMemoryType(type, []<typename T>() -> Handler { return &Load<T>; });
  } else {
    in.list = decoder.List(slots);
    in.count = static_cast<uint8_t>(count);
    in.run = ForMemoryType(type, []<typename T>() -> Handler { return &LoadVector<T>; });
  }
}

void DecodeStore(Decoder& decoder, Instr& in) {
  Type type;
  int count = 1;
  if (!TakeAccess(decoder, in, 0, type, count)) return;
  in.memory.access = Access::kWrite;
  in.a = decoder.Address(0, in.value);
  std::vector<uint32_t> slots;
  for (const Operand* part : Parts(decoder.operand(1))) {
    slots.push_back(decoder.InAny(*part, type));
  }
  if (static_cast<int>(slots.size()) != count) {
    decoder.Invalid("a vector of another length");
    return;
  }
  if (count == 1) {
    in.b = slots[0];
    in.run = ForMemoryType(type, []<typename T>() -> Handler { return &Store<T>; });
  } else {
    in.list = decoder.List(slots);
    in.count = static_cast<uint8_t>(count);
    in.run = ForMemoryType(type, []<typename T>() -> Handler { return &StoreVector<T>; });
  }
}

// Hints have no effect.
void Nothing(Warp&, const Instr&, uint32_t) {}

void DecodeHint(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  while (!mods.left().empty()) mods.Take(mods.left()[0]);
  in.run = &Nothing;
}

// createpolicy writes 0, because only hints use its result.
void ZeroPolicy(Warp& warp, const Instr& in, uint32_t mask) {
  uint64_t* d = warp.Lanes<uint64_t>(in.d);
  ForLanes(mask, [&](int l) { d[l] = 0; });
}

void DecodeCreatePolicy(Decoder& decoder, Instr& in) {
  DecodeHint(decoder, in);
  in.run = &ZeroPolicy;
  in.d = decoder.Out(0, Type::kB64);
}

// cp.async.ca.shared.global [d], [a], bytes{, read}: bytes that are not read become zeros.
void CopyAsync(Warp& warp, const Instr& in, uint32_t mask) {
  uint8_t* to[kLanes];
  uint8_t* from[kLanes];
  if (!warp.Resolve(in, mask, to)) return;
  const uint32_t* lengths = warp.Lanes<uint32_t>(in.c);
  const uint32_t bytes = in.memory.bytes;
  uint32_t reading = 0;
  ForLanes(mask, [&](int l) {
    if (lengths[l] != 0) reading |= 1u << l;
  });
  MemoryUse read = in.memory;
  read.space = Space::kGlobal;
  read.access = Access::kRead;
  const uint64_t offset = warp.code().lists[static_cast<size_t>(in.list)];
  if (reading != 0 &&
      !warp.ResolveAt(read, in.b, static_cast<uint64_t>(static_cast<int32_t>(offset)), reading,
                      from)) {
    return;
  }
  ForLanes(mask, [&](int l) {
    const uint32_t length = lengths[l] < bytes ? lengths[l] : bytes;
    std::memset(to[l], 0, bytes);
    if (length != 0) std::memcpy(to[l], from[l], length);
  });
}

void DecodeCpAsync(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  if (!mods.Take("async")) {
    decoder.Unimplemented("cp without async");
    return;
  }
  if (mods.Take("commit_group") || mods.Take("wait_group") || mods.Take("wait_all")) {
    in.run = &Nothing;
    return;
  }
  mods.TakeHints();
  const bool shared = mods.Take("shared") || mods.Take("shared::cta");
  if (!shared || !mods.Take("global")) {
    decoder.Unimplemented("this form of cp.async");
    return;
  }
  const Operand& bytes = decoder.operand(2);
  if (bytes.kind != Operand::Kind::kInteger ||
      (bytes.value != 4 && bytes.value != 8 && bytes.value != 16)) {
    decoder.Invalid("cp.async copies 4, 8 or 16 bytes");
    return;
  }
  in.run = &CopyAsync;
  in.memory.space = Space::kShared;
  in.memory.access = Access::kWrite;
  in.memory.element_bytes = in.memory.bytes = static_cast<uint8_t>(bytes.value);
  in.a = decoder.Address(0, in.value);
  uint64_t offset = 0;
  in.b = decoder.Address(1, offset);
  in.list = decoder.List({static_cast<uint32_t>(offset)});
  // The operand after the size is the number of bytes to read, unless it is a cache hint (64 bits).
  const bool partial =
      decoder.operands() > 3 &&
      (decoder.operand(3).kind == Operand::Kind::kInteger || decoder.IsNarrow(decoder.operand(3)));
  in.c = partial ? decoder.In(3, Type::kU32) : decoder.Value(bytes.value, Type::kU32);
}

constexpr Op kOps[] = {
    {"ld", &DecodeLoad},        {"ldu", &DecodeLoad},
    {"st", &DecodeStore},       {"prefetch", &DecodeHint},
    {"prefetchu", &DecodeHint}, {"applypriority", &DecodeHint},
    {"discard", &DecodeHint},   {"createpolicy", &DecodeCreatePolicy},
    {"cp", &DecodeCpAsync},
};

}  // namespace

absl::Span<const Op> MemoryOps() { return kOps; }

}  // namespace cooper::ptx
