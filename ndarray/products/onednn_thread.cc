#include "ndarray/products/onednn_thread.h"

#include <dlfcn.h>

#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_config.h"

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_THREADPOOL
#include "oneapi/dnnl/dnnl_threadpool.h"
#endif

namespace cooper {

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_THREADPOOL

// A oneDNN with this runtime, as the Bazel registry's, computes on the threads of the caller's
// pool. cooper passes no pool, so it computes on the calling thread; but without a pool it plans
// for as many threads as there are cores: it would choose kernels and blocks for them, need scratch
// memory for all of them, and run their shares one after the other. The maximum concurrency, a
// setting of the calling thread, limits that plan to one. Either function fails only for a null
// pointer; the plan then stays as it is.

OneDnnOnThisThread::OneDnnOnThisThread() {
  if (dnnl_threadpool_interop_get_max_concurrency(&before_) != dnnl_success) return;
  dnnl_threadpool_interop_set_max_concurrency(1);
}

OneDnnOnThisThread::~OneDnnOnThisThread() {
  if (before_ > 0) dnnl_threadpool_interop_set_max_concurrency(before_);
}

#else

namespace {

// The functions of the OpenMP library that oneDNN is linked with, which may differ from this
// program's; null if oneDNN does not use OpenMP.
struct OpenMp {
  int (*max_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;

  static OpenMp Find() {
    Dl_info onednn = {};
    if (dnnl_version()->cpu_runtime != DNNL_RUNTIME_OMP ||
        dladdr(reinterpret_cast<void*>(&dnnl_sgemm), &onednn) == 0) {
      return {};
    }
    // Searches oneDNN and the libraries that it has loaded, in that order. The handle is never
    // closed.
    void* library = dlopen(onednn.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) library = dlopen(nullptr, RTLD_LAZY);
    return {reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads")),
            reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"))};
  }
};

const OpenMp& OneDnnOpenMp() {
  static const OpenMp openmp = OpenMp::Find();
  return openmp;
}

}  // namespace

OneDnnOnThisThread::OneDnnOnThisThread() {
  const OpenMp& openmp = OneDnnOpenMp();
  if (openmp.max_threads == nullptr || openmp.set_threads == nullptr) return;
  before_ = openmp.max_threads();
  openmp.set_threads(1);
}

OneDnnOnThisThread::~OneDnnOnThisThread() {
  if (before_ > 0) OneDnnOpenMp().set_threads(before_);
}

#endif

}  // namespace cooper
