// Registers the CPU kernel of lion_update.

#include "examples/lion/lion_function.h"
#include "executor/kernels/optimizer/element_update.h"

namespace cooper {
namespace {

COOPER_REGISTER_UPDATE(lion_update, mp_lion_update, LionUpdate);

}  // namespace
}  // namespace cooper
