#include "ndarray/threads/subnormals.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace cooper {
namespace {

bool FlushByDefault() {
  const char* const keep = std::getenv("COOPER_KEEP_SUBNORMALS");
  return keep == nullptr || absl::string_view(keep).empty() || absl::string_view(keep) == "0";
}

std::atomic<bool>& Setting() {
  static std::atomic<bool> flush(FlushByDefault());
  return flush;
}

}  // namespace

void SetFlushSubnormals(bool flush) { Setting().store(flush, std::memory_order_relaxed); }
bool FlushSubnormals() { return Setting().load(std::memory_order_relaxed); }

namespace internal_subnormals {

#ifdef __x86_64__
uint32_t ThreadFlushBits() { return _mm_getcsr() & kFlushBits; }
void SetThreadFlushBits(uint32_t bits) { _mm_setcsr((_mm_getcsr() & ~kFlushBits) | bits); }
#else
uint32_t ThreadFlushBits() { return 0; }
void SetThreadFlushBits(uint32_t) {}
#endif

}  // namespace internal_subnormals

ScopedSubnormals ScopedSubnormals::Flush(bool flush) {
  return ScopedSubnormals(flush && FlushSubnormals() ? internal_subnormals::kFlushBits
                                                     : internal_subnormals::ThreadFlushBits());
}

ScopedSubnormals::ScopedSubnormals(uint32_t bits)
    : bits_(bits), before_(internal_subnormals::ThreadFlushBits()) {
  if (bits_ != before_) internal_subnormals::SetThreadFlushBits(bits_);
}

ScopedSubnormals::~ScopedSubnormals() {
  if (bits_ != before_) internal_subnormals::SetThreadFlushBits(before_);
}

}  // namespace cooper
