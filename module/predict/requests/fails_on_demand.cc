#include "module/predict/requests/fails_on_demand.h"

#include "executor/program/kernel.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

COOPER_REGISTER_OP(FailsOnDemand)
    .Inputs({"data"})
    .Outputs({"output"})
    .Shape(SameShape)
    .Type(SameType);
COOPER_REGISTER_KERNEL(FailsOnDemand, DeviceType::kCpu, kAnyDType, [](const KernelContext&) {
  ++FailsOnDemand::runs;
  return absl::Status(FailsOnDemand::code, "requested failure");
});

}  // namespace
}  // namespace cooper
