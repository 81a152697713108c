#ifndef COOPER_BENCHMARKS_GPU_ROOFLINE_H_
#define COOPER_BENCHMARKS_GPU_ROOFLINE_H_

// Computes the minimum time of GPU work from its memory traffic and its arithmetic (roofline).

#include <algorithm>

#include "executor/program/program.h"

namespace cooper {

struct GpuWork {
  double bytes = 0;  // transferred between the GPU and its memory
  double flops = 0;

  GpuWork& operator+=(const GpuWork& other) {
    bytes += other.bytes;
    flops += other.flops;
    return *this;
  }
};

// NVIDIA's data sheet of the H100 SXM5: HBM3, and float32 without tensor cores, which float32
// products use unless TF32 is allowed.
inline constexpr double kH100BytesPerSecond = 3.35e12;
inline constexpr double kH100FlopsPerSecond = 66.9e12;

inline double RooflineSeconds(const GpuWork& work) {
  return std::max(work.bytes / kH100BytesPerSecond, work.flops / kH100FlopsPerSecond);
}

// Returns the bytes, without flops, of a training run in which every operator reads each input and
// writes each output once, and no cache keeps data between operators. For an array that is looked
// up by indices only those rows are read. An operator's scratch memory and repeated reads are not
// included.
GpuWork MinWork(const Program& program);

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_GPU_ROOFLINE_H_
