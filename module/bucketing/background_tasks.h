#ifndef COOPER_MODULE_BUCKETING_BACKGROUND_TASKS_H_
#define COOPER_MODULE_BUCKETING_BACKGROUND_TASKS_H_

// Tasks that other threads begin while the caller is still making further ones, and that the caller
// helps to finish.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cooper {

class BackgroundTasks {
 public:
  // On at most so many threads at a time, the caller among them; with one, Finish does them all.
  // Threads start as tasks come.
  explicit BackgroundTasks(int threads) : threads_(threads) {}
  // Finishes.
  ~BackgroundTasks();
  BackgroundTasks(const BackgroundTasks&) = delete;
  BackgroundTasks& operator=(const BackgroundTasks&) = delete;

  // Not after Finish. Tasks are begun in the order in which they were added; NumThreads() is the
  // caller's in all of them.
  void Add(std::function<void()> task);
  // Does on this thread what no other has begun, and returns when all tasks are done.
  void Finish();

 private:
  void Work(int num_threads);

  const int threads_;
  std::vector<std::thread> others_;
  // std's, not Abseil's: the race detector sees through them.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool finishing_ = false;  // no further tasks come
};

}  // namespace cooper

#endif  // COOPER_MODULE_BUCKETING_BACKGROUND_TASKS_H_
