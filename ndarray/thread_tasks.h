#ifndef COOPER_NDARRAY_THREAD_TASKS_H_
#define COOPER_NDARRAY_THREAD_TASKS_H_

// The tasks of oneTBB that a thread's loops and teams put their helpers in.

#include "oneapi/tbb/task_group.h"

namespace cooper::internal_parallel {

// Kept, since making a group takes as long as a small loop. Loops and teams of a thread do not
// overlap. The context is isolated: bound to that of a caller who is a task of oneTBB's itself, it
// would be cancelled with it, and the helpers that a loop waits for would never run.
inline tbb::task_group& TasksOfThisThread() {
  thread_local tbb::task_group_context context(tbb::task_group_context::isolated);
  thread_local tbb::task_group group(context);
  return group;
}

}  // namespace cooper::internal_parallel

#endif  // COOPER_NDARRAY_THREAD_TASKS_H_
