#include "executor/program/blocked_layout.h"

namespace cooper {
namespace {

const BlockedLayout* (*registered)() = nullptr;

}  // namespace

const BlockedLayout* GetBlockedLayout() { return registered == nullptr ? nullptr : registered(); }

void RegisterBlockedLayout(const BlockedLayout* (*layout)()) { registered = layout; }

}  // namespace cooper
