#ifndef COOPER_NDARRAY_PRODUCTS_ONEDNN_THREAD_H_
#define COOPER_NDARRAY_PRODUCTS_ONEDNN_THREAD_H_

namespace cooper {

// While one lives, oneDNN plans and computes for the calling thread alone: within a loop's pieces,
// and for small products. Debian's oneDNN has threads of OpenMP's, which would wait for each other;
// the registry's has none, but plans for all cores. One that uses oneTBB is left as it is.
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
