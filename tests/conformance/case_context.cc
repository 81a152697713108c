#include "tests/conformance/case_context.h"

#include "ndarray/array/device.h"

namespace cooper::conformance {

Context ContextOfCase(Context context) {
  if (CaseContext().is_cpu() || !context.is_cpu()) return context;
  if (context.device_id == 0) return CaseContext();
  const Context gpu = Context::Gpu(context.device_id);
  return FindDevice(gpu).ok() ? gpu : context;
}

}  // namespace cooper::conformance
