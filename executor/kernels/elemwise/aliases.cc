// Operators that the kernels of others compute; they differ in their gradients.

#include "executor/program/kernel_alias.h"

namespace cooper {
namespace {

const KernelAlias kAliases[] = {
    {"_contrib_round_ste", "round"},
    {"_contrib_sign_ste", "sign"},
    {"_contrib_gradientmultiplier", "_copy"},
    {"_guard", "_copy"},
    {"cast_storage", "_copy"},
};

}  // namespace
}  // namespace cooper
