#ifndef COOPER_BENCHMARKS_GPU_ROOFLINE_H_
#define COOPER_BENCHMARKS_GPU_ROOFLINE_H_

// How long a GPU takes at least, by what it moves and what it computes.

#include <algorithm>

#include "executor/program/program.h"

namespace cooper {

struct GpuWork {
  double bytes = 0;  // between the GPU and its memory
  double flops = 0;

  GpuWork& operator+=(const GpuWork& other) {
    bytes += other.bytes;
    flops += other.flops;
    return *this;
  }
};

// NVIDIA's data sheet of the H100 SXM5: HBM3, and float32 outside of tensor cores, which is what
// products of float32 proper run on.
inline constexpr double kH100BytesPerSecond = 3.35e12;
inline constexpr double kH100FlopsPerSecond = 66.9e12;

inline double RooflineSeconds(const GpuWork& work) {
  return std::max(work.bytes / kH100BytesPerSecond, work.flops / kH100FlopsPerSecond);
}

// The bytes, without flops, of a training run in which every operator reads each of its inputs and
// writes each of its outputs once, and nothing is kept in a cache from one operator to the next. Of
// an array that is looked up by indices, those rows alone are read. Its own scratch memory, and
// what it might read again, are not among them.
GpuWork LeastWork(const Program& program);

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_GPU_ROOFLINE_H_
