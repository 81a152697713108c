#ifndef COOPER_NDARRAY_FILES_PARAMS_FORMAT_H_
#define COOPER_NDARRAY_FILES_PARAMS_FORMAT_H_

// Constants of .params files, all little-endian. The layout of a file:
//
//   uint64 kListMagic, uint64 0
//   uint64 number of arrays, the arrays
//   uint64 number of names (that of the arrays, or 0), and for each: uint64 length, bytes
//
// The layout of an array, where a shape is uint32 rank, int64 extents:
//
//   V2, V3: uint32 magic, int32 storage type, [sparse: shape of the stored elements], shape,
//           context (int32 device type, int32 device number), int32 dtype,
//           [sparse: for each index array int32 dtype, shape], elements, [sparse: index arrays]
//   V1:     uint32 magic, shape, context, int32 dtype, elements
//   V0:     uint32 rank, uint32 extents, context, int32 dtype, elements
//
// In V0 to V2 a rank of 0 means that there is no array, and nothing follows; in V3 it is a scalar,
// and a rank of -1 means that there is no array.

#include <bit>
#include <cstdint>

namespace cooper {

inline constexpr uint64_t kParamsListMagic = 0x112;
inline constexpr uint32_t kArrayV1Magic = 0xF993fac8;
inline constexpr uint32_t kArrayV2Magic = 0xF993fac9;
inline constexpr uint32_t kArrayV3Magic = 0xF993faca;

static_assert(std::endian::native == std::endian::little, "numbers are copied as they stand");

// The largest rank that a file may have; NumPy allows 32. Shapes appear in messages.
inline constexpr uint32_t kMaxRank = 64;

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_PARAMS_FORMAT_H_
