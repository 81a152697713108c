// Provides the seeds of params_fuzz besides the golden files: sparse arrays whose parts do not fit
// together or whose indices are out of range, and truncated headers.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/fuzz_seeds.h"

namespace cooper {
namespace {

// The magic numbers of a list and of arrays of each version (MXNet's src/ndarray/ndarray.cc).
constexpr uint64_t kList = 0x112;
constexpr uint32_t kV1 = 0xF993fac8, kV2 = 0xF993fac9, kV3 = 0xF993faca;

enum Storage : int32_t { kDense, kRowSparse, kCsr };
enum TypeCode : int32_t { kFloat32 = 0, kInt32 = 4, kInt64 = 6, kBool = 7, kNoType = 99 };
using Numbers = std::vector<int64_t>;

template <typename T>
std::string Raw(T number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(T));
}

// Encodes a shape, or the elements of an index array.
std::string Extents(const Numbers& numbers, bool with_rank) {
  std::string bytes = with_rank ? Raw(static_cast<uint32_t>(numbers.size())) : "";
  for (const int64_t number : numbers) bytes += Raw(number);
  return bytes;
}

struct Indices {
  int32_t type = kInt64;
  Numbers shape;
  Numbers values;

  std::string Head() const { return Raw(type) + Extents(shape, true); }
  std::string Elements() const { return Extents(values, false); }
};

// Encodes an array of float32 zeros.
std::string Array(uint32_t magic, Storage storage, const Numbers& stored, const Numbers& shape,
                  const std::vector<Indices>& indices, int32_t type = kFloat32) {
  std::string bytes = Raw(magic) + Raw(static_cast<int32_t>(storage));
  if (storage != kDense) bytes += Extents(stored, true);
  bytes += Extents(shape, true) + Raw(int32_t{1}) + Raw(int32_t{0}) + Raw(type);
  for (const Indices& part : indices) bytes += part.Head();
  int64_t elements = 1;
  for (const int64_t extent : storage == kDense ? shape : stored) elements *= extent;
  bytes.append(static_cast<size_t>(elements * 4), '\0');
  for (const Indices& part : indices) bytes += part.Elements();
  return bytes;
}

std::string List(const std::vector<std::string>& arrays, const std::vector<std::string>& names) {
  std::string bytes = Raw(kList) + Raw(uint64_t{0}) + Raw(uint64_t{arrays.size()});
  for (const std::string& array : arrays) bytes += array;
  bytes += Raw(uint64_t{names.size()});
  for (const std::string& name : names) bytes += Raw(uint64_t{name.size()}) + name;
  return bytes;
}

std::vector<FuzzSeed> Seeds() {
  const auto sparse = [](Storage storage, const Numbers& stored, const Numbers& shape,
                         const std::vector<Indices>& indices) {
    return List({Array(kV2, storage, stored, shape, indices)}, {"x"});
  };
  const auto rows = [&](const Numbers& stored, const Numbers& shape, const Indices& at) {
    return sparse(kRowSparse, stored, shape, {at});
  };
  const auto csr = [&](const Numbers& stored, const Numbers& shape, const Indices& indptr,
                       const Indices& at) {
    return sparse(kCsr, stored, shape, {indptr, at});
  };
  const Indices two = {.shape = {2}, .values = {0, 1}};
  const Indices ends = {.shape = {3}, .values = {0, 1, 2}};
  const std::string dense = Array(kV2, kDense, {}, {2, 2}, {});
  std::vector<FuzzSeed> seeds = {
      {"rows", rows({2, 3}, {4, 3}, two)},
      {"rows_of_none", rows({0, 3}, {4, 3}, {.shape = {0}, .values = {}})},
      {"rows_outside", rows({2, 3}, {4, 3}, {.shape = {2}, .values = {0, 4}})},
      {"rows_below", rows({2, 3}, {4, 3}, {.shape = {2}, .values = {-1, 1}})},
      {"rows_as_matrix", rows({2, 3}, {4, 3}, {.shape = {1, 2}, .values = {0, 1}})},
      {"rows_of_scalar_v3", List({Array(kV3, kRowSparse, {2}, {}, {two})}, {"x"})},
      {"rows_too_few", rows({3, 3}, {4, 3}, two)},
      {"rows_by_floats", rows({2, 3}, {4, 3}, {.type = kFloat32, .shape = {1}, .values = {0}})},
      {"rows_by_int32", rows({2, 3}, {4, 3}, {.type = kInt32, .shape = {2}, .values = {1}})},
      {"rows_by_nothing", rows({2, 3}, {4, 3}, {.type = kNoType, .shape = {2}, .values = {}})},
      {"rows_huge", rows({1, 1}, {int64_t{1} << 50, 1}, {.shape = {1}, .values = {1 << 20}})},
      {"rows_none_at_all", rows({}, {}, two)},
      {"csr", csr({2}, {2, 3}, ends, two)},
      {"csr_of_three_axes", csr({2}, {2, 3, 1}, ends, two)},
      {"csr_too_few", csr({3}, {2, 3}, ends, two)},
      {"csr_short_indptr", csr({2}, {2, 3}, two, two)},
      {"csr_falling", csr({2}, {2, 3}, {.shape = {3}, .values = {0, 2, 1}}, two)},
      {"csr_below", csr({2}, {2, 3}, {.shape = {3}, .values = {-1, 1, 2}}, two)},
      {"csr_beyond", csr({2}, {2, 3}, {.shape = {3}, .values = {0, 1, 9}}, two)},
      {"csr_column", csr({2}, {2, 3}, ends, {.shape = {2}, .values = {0, 3}})},
      {"csr_column_below", csr({2}, {2, 3}, ends, {.shape = {2}, .values = {0, -1}})},
      {"csr_by_floats", csr({2}, {2, 3}, {.type = kFloat32, .shape = {2}, .values = {0}}, two)},
      {"csr_no_rows",
       csr({0}, {0, 3}, {.shape = {1}, .values = {0}}, {.shape = {0}, .values = {}})},
      {"dense_no_type", List({Array(kV2, kDense, {}, {1}, {}, kNoType)}, {"x"})},
      {"dense_no_storage", List({Array(kV2, Storage{3}, {1}, {1}, {})}, {"x"})},
      {"dense_negative", List({Array(kV2, kDense, {}, {-1, -1}, {})}, {"x"})},
      {"bools", List({Array(kV3, kDense, {}, {1}, {}, kBool)}, {"x"})},
      {"none_v2", List({Raw(kV2) + Raw(int32_t{0}) + Raw(uint32_t{0})}, {"x"})},
      {"none_sparse",
       List({Raw(kV2) + Raw(int32_t{1}) + Extents({2}, true) + Raw(uint32_t{0})}, {"x"})},
      {"none_v3", List({Raw(kV3) + Raw(int32_t{0}) + Raw(~uint32_t{0})}, {"x"})},
      {"none_v1", List({Raw(kV1) + Raw(uint32_t{0})}, {"x"})},
      {"none_v0", List({Raw(uint32_t{0})}, {"x"})},
      {"scalar_v3", List({Array(kV3, kDense, {}, {}, {})}, {"x"})},
      {"no_names", List({dense, dense}, {})},
      {"no_arrays", List({}, {})},
      {"equal_names", List({dense, dense}, {"x", "x"})},
      {"other_names", List({dense, dense}, {"x"})},
  };
  // Truncates a file at each of its fields.
  const std::string whole = csr({2}, {2, 3}, ends, two);
  for (size_t end = 0; end < whole.size(); end += 4) {
    seeds.push_back({absl::StrCat("cut_", end), whole.substr(0, end)});
  }
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }
