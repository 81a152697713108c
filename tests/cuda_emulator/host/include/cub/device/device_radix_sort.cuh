#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_INCLUDE_CUB_DEVICE_DEVICE_RADIX_SORT_CUH_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_INCLUDE_CUB_DEVICE_DEVICE_RADIX_SORT_CUH_

// A stand-in for the part of CUB that cooper calls: a stable sort of pairs, on the host. Only nvcc
// compiles CUB itself.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "cuda_runtime.h"
#include "tests/cuda_emulator/host/device_launch.h"

namespace cub {

// The two buffers of a sort. The current one holds the input, and afterwards the result.
template <typename T>
struct DoubleBuffer {
  T* d_buffers[2] = {};
  int selector = 0;

  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
  // Sorts pairs by the bits [begin_bit, end_bit) of unsigned keys. With null `scratch` it only sets
  // `bytes`. The result is always in the buffer that was the alternate one.
  template <typename K, typename V>
  static cudaError_t SortPairs(void* scratch, size_t& bytes, DoubleBuffer<K>& keys,
                               DoubleBuffer<V>& values, int count, int begin_bit, int end_bit,
                               cudaStream_t stream) {
    if (scratch == nullptr) {
      bytes = 1;
      return cudaSuccess;
    }
    const K* keys_in = keys.Current();
    const V* values_in = values.Current();
    K* keys_out = keys.Alternate();
    V* values_out = values.Alternate();
    keys.selector ^= 1;
    values.selector ^= 1;
    const int width = end_bit - begin_bit;
    const K mask = width == 8 * sizeof(K) ? ~K{0} : (K{1} << width) - 1;
    return cooper::cuda_emulator::QueueOnHost(
        "DeviceRadixSort::SortPairs", stream,
        [keys_in, values_in, keys_out, values_out, count, begin_bit, mask] {
          std::vector<int> order(count);
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return (keys_in[a] >> begin_bit & mask) < (keys_in[b] >> begin_bit & mask);
          });
          for (int i = 0; i < count; ++i) {
            keys_out[i] = keys_in[order[i]];
            values_out[i] = values_in[order[i]];
          }
        });
  }
};

}  // namespace cub

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_INCLUDE_CUB_DEVICE_DEVICE_RADIX_SORT_CUH_
