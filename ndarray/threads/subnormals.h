#ifndef COOPER_NDARRAY_THREADS_SUBNORMALS_H_
#define COOPER_NDARRAY_THREADS_SUBNORMALS_H_

// Subnormal numbers: floats whose magnitude is below the smallest normal one (1.2e-38 for float32,
// 2.2e-308 for float64). A product of subnormals can cost a processor a hundred times what another
// product costs, and gradients that vanish over long sequences become subnormal. So operators on
// the CPU compute with flush-to-zero (a result that would be subnormal is 0) and
// denormals-are-zero (a subnormal operand counts as 0). Outside operators, and on GPUs, subnormals
// are kept. Moving elements, and conversions between float16 and float32, keep them too.

#include <cstdint>

namespace cooper {

// Set and return whether operators that begin later, on any thread, flush subnormals: true by
// default, unless the environment variable COOPER_KEEP_SUBNORMALS is set to something other than 0.
// Thread-safe.
void SetFlushSubnormals(bool flush);
bool FlushSubnormals();

namespace internal_subnormals {

// Return and set the flush bits of this thread: all, some or none of kFlushBits. On processors
// other than x86-64 there are none: this file then does nothing.
uint32_t ThreadFlushBits();
void SetThreadFlushBits(uint32_t bits);

// The bits flush-to-zero and denormals-are-zero of the MXCSR register.
inline constexpr uint32_t kFlushBits = 0x8040;

}  // namespace internal_subnormals

// Sets how this thread treats subnormals, and restores what was set before at its end. Loops that
// begin within the scope (parallel.h) have the same setting on all of their threads. Costs some
// ten cycles, and a few if nothing changes.
class ScopedSubnormals {
 public:
  // Returns a scope that flushes if `flush` and FlushSubnormals() are true, and changes nothing
  // otherwise.
  static ScopedSubnormals Flush(bool flush = true);
  // Sets the bits that ThreadFlushBits() has returned on another thread.
  explicit ScopedSubnormals(uint32_t bits);
  ~ScopedSubnormals();
  ScopedSubnormals(const ScopedSubnormals&) = delete;
  ScopedSubnormals& operator=(const ScopedSubnormals&) = delete;

 private:
  const uint32_t bits_;
  const uint32_t before_;
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_THREADS_SUBNORMALS_H_
