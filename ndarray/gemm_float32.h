#ifndef COOPER_NDARRAY_GEMM_FLOAT32_H_
#define COOPER_NDARRAY_GEMM_FLOAT32_H_

// oneDNN's sgemm, and how its products are shared out among threads.

#include "ndarray/gemm_product.h"
#include "ndarray/parallel.h"

namespace cooper {

// While one lives, oneDNN uses no thread but this one, outside of ParallelFor's loops too.
class OneThread {
 public:
  OneThread() : before_(NumThreads()) { SetNumThreads(1); }
  ~OneThread() { SetNumThreads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_;
};

// The product, on this thread alone.
void Float32Block(const GemmProduct<float>& p);

// The product, on several threads if there is enough to do.
void Float32Gemm(const GemmProduct<float>& p);

}  // namespace cooper

#endif  // COOPER_NDARRAY_GEMM_FLOAT32_H_
