#ifndef COOPER_NDARRAY_ONEDNN_THREAD_H_
#define COOPER_NDARRAY_ONEDNN_THREAD_H_

namespace cooper {

// While one lives, oneDNN computes on the calling thread alone: within a loop's pieces, and for
// small products. Debian's oneDNN has threads of OpenMP's, which would wait for each other.
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

#endif  // COOPER_NDARRAY_ONEDNN_THREAD_H_
