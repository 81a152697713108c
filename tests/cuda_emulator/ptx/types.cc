#include "tests/cuda_emulator/ptx/types.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cooper::ptx {
namespace {

struct TypeInfo {
  Type type;
  std::string_view name;
  int size;
};

// Types in the order of the enumeration.
constexpr TypeInfo kTypes[] = {
    {Type::kNone, "none", 0},     {Type::kB8, "b8", 1},       {Type::kB16, "b16", 2},
    {Type::kB32, "b32", 4},       {Type::kB64, "b64", 8},     {Type::kB128, "b128", 16},
    {Type::kU8, "u8", 1},         {Type::kU16, "u16", 2},     {Type::kU32, "u32", 4},
    {Type::kU64, "u64", 8},       {Type::kS8, "s8", 1},       {Type::kS16, "s16", 2},
    {Type::kS32, "s32", 4},       {Type::kS64, "s64", 8},     {Type::kF16, "f16", 2},
    {Type::kBf16, "bf16", 2},     {Type::kF32, "f32", 4},     {Type::kF64, "f64", 8},
    {Type::kU16x2, "u16x2", 4},   {Type::kS16x2, "s16x2", 4}, {Type::kF16x2, "f16x2", 4},
    {Type::kBf16x2, "bf16x2", 4}, {Type::kTf32, "tf32", 4},   {Type::kPred, "pred", 1},
};

const TypeInfo& InfoOf(Type type) { return kTypes[static_cast<int>(type)]; }

}  // namespace

std::optional<Type> TypeOfName(std::string_view name) {
  for (const TypeInfo& info : kTypes) {
    if (info.type != Type::kNone && info.name == name) return info.type;
  }
  return std::nullopt;
}

std::string_view NameOf(Type type) { return InfoOf(type).name; }

std::string_view NameOf(Space space) {
  switch (space) {
    case Space::kGeneric:
      return "generic";
    case Space::kGlobal:
      return "global";
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kParam:
      return "param";
    case Space::kConst:
      return "const";
  }
  return "unknown";
}

int SizeOf(Type type) { return InfoOf(type).size; }

bool IsSigned(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}

bool IsFloat(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kF32 || type == Type::kF64;
}

}  // namespace cooper::ptx
