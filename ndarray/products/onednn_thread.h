#ifndef COOPER_NDARRAY_PRODUCTS_ONEDNN_THREAD_H_
#define COOPER_NDARRAY_PRODUCTS_ONEDNN_THREAD_H_

// Controls the threads of oneDNN. cooper divides work among its own threads
// (ndarray/threads/parallel.h).

namespace cooper {

// While an instance lives, oneDNN plans and computes for the calling thread alone: within parallel
// loops, and for small products. Debian's oneDNN uses OpenMP threads, which would wait for each
// other; the Bazel registry's has no threads, but plans for all cores. A oneDNN that uses oneTBB is
// left as it is.
class OneDnnOnThisThread {
 public:
  OneDnnOnThisThread();
  ~OneDnnOnThisThread();
  OneDnnOnThisThread(const OneDnnOnThisThread&) = delete;
  OneDnnOnThisThread& operator=(const OneDnnOnThisThread&) = delete;

 private:
  int before_ = 0;
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_PRODUCTS_ONEDNN_THREAD_H_
