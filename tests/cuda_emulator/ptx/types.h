#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_TYPES_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_TYPES_H_

// State spaces and fundamental types of PTX.

#include <cstdint>
#include <optional>
#include <string_view>

namespace cooper::ptx {

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kParam, kConst };

// kNone: the instruction has no such type.
enum class Type : uint8_t {
  kNone,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kBf16,
  kF32,
  kF64,
  kU16x2,
  kS16x2,
  kF16x2,
  kBf16x2,
  kTf32,
  kPred,
};

// Returns the type of that name, without its dot ("u32"); nothing if it names no type.
std::optional<Type> TypeOfName(std::string_view name);
std::string_view NameOf(Type type);
std::string_view NameOf(Space space);

// Returns the size in bytes; 1 for a predicate.
int SizeOf(Type type);
bool IsSigned(Type type);  // an integer type with a sign
bool IsFloat(Type type);   // a single number, not a packed type

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_TYPES_H_
