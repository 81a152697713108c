#ifndef COOPER_EXECUTOR_RUN_PROGRAM_MONITOR_H_
#define COOPER_EXECUTOR_RUN_PROGRAM_MONITOR_H_

// Passes the inputs and outputs of a running program's instructions to a monitor.

#include <functional>
#include <string>

#include "executor/run/program_steps.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Returns an observer that calls `callback` after each instruction with each of its outputs, and
// with `monitor_all` also before it with its inputs. The names are those of
// Executor::SetMonitorCallback. Views are passed like other outputs. On a GPU the callback sees an
// array whose work may still be queued; reading it waits.
ProgramObserver MonitorOf(
    std::function<void(const std::string& name, const NDArray& array)> callback, bool monitor_all);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_PROGRAM_MONITOR_H_
