#ifndef COOPER_MODULE_BUCKETING_BACKGROUND_TASKS_H_
#define COOPER_MODULE_BUCKETING_BACKGROUND_TASKS_H_

// A task queue whose worker threads start tasks while the caller still adds more. The caller helps
// to drain the queue at the end.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cooper {

// Not thread-safe: Add and Finish belong to the thread that owns the object.
class BackgroundTasks {
 public:
  // Runs tasks on at most `threads` threads, the caller's included. With one thread, Finish runs
  // all tasks. A worker thread starts with each Add until the limit is reached.
  explicit BackgroundTasks(int threads) : threads_(threads) {}
  // Calls Finish.
  ~BackgroundTasks();
  BackgroundTasks(const BackgroundTasks&) = delete;
  BackgroundTasks& operator=(const BackgroundTasks&) = delete;

  // Adds a task; must not be called after Finish. Tasks start in the order in which they were
  // added. In every task NumThreads() is the caller's.
  void Add(std::function<void()> task);
  // Runs the tasks that no other thread has started, and returns when all tasks are done.
  void Finish();

 private:
  void Work(int num_threads);

  const int threads_;
  std::vector<std::thread> others_;
  // std's types instead of Abseil's, because the race detector understands them.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool finishing_ = false;  // no further tasks come
};

}  // namespace cooper

#endif  // COOPER_MODULE_BUCKETING_BACKGROUND_TASKS_H_
