// Tests that results depend neither on the number of threads nor on delays of threads: while
// networks are trained, a signal stops random threads for a moment.

#include <dirent.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX has sigaction there
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/initializer/initializers.h"
#include "module/network/module.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/helper_balance.h"
#include "ndarray/threads/parallel.h"
#include "oneapi/tbb/task_scheduler_observer.h"
#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/unroll.h"

namespace cooper {
namespace {

std::atomic<int64_t> stops{0};

// Sleeps some microseconds, or as long as a scheduler slice.
void StopForAMoment(int) {
  const int64_t n = stops.fetch_add(1, std::memory_order_relaxed);
  const timespec moment = {0, n % 16 == 0 ? 3'000'000 : 20'000 + n * 7919 % 100'000};
  const int error = errno;
  nanosleep(&moment, nullptr);
  errno = error;
}

std::vector<int> ThreadsOfThisProcess() {
  std::vector<int> threads;
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr) return threads;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') threads.push_back(std::atoi(entry->d_name));
  }
  closedir(folder);
  return threads;
}

// Gives each thread an alternate signal stack for the life of the process: oneDNN's sgemm for
// AVX-512 moves its stack into a heap buffer, in front of which a handler's frame would be written.
// A sanitizer has set and releases such stacks itself.
void UseAlternateStack() {
  stack_t present = {};
  if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
  constexpr size_t kBytes = 1 << 16;
  const stack_t stack = {.ss_sp = new char[kBytes], .ss_flags = 0, .ss_size = kBytes};
  sigaltstack(&stack, nullptr);
}

// Sets the alternate stacks of all worker threads. Lives as long as the process: sleeping threads
// keep tbb's data of a removed observer, which looks like a leak.
class AlternateStacks : public tbb::task_scheduler_observer {
 public:
  static void Use() { [[maybe_unused]] static const auto* const stacks = new AlternateStacks; }

 private:
  AlternateStacks() {
    UseAlternateStack();
    observe(true);
  }
  void on_scheduler_entry(bool) override { UseAlternateStack(); }
};

// Stops random threads of the process during its lifetime.
class Delays {
 public:
  Delays() {
    AlternateStacks::Use();
    struct sigaction action = {};
    action.sa_handler = StopForAMoment;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    thread_ = std::thread([this] { Stop(); });
  }
  ~Delays() {
    ends_ = true;
    thread_.join();
  }

 private:
  void Stop() {
    const auto self = static_cast<int>(syscall(SYS_gettid));
    RandomGenerator random(7);
    while (!ends_) {
      const std::vector<int> threads = ThreadsOfThisProcess();
      const int chosen = threads[random.NextBelow(threads.size())];
      if (chosen != self) syscall(SYS_tgkill, getpid(), chosen, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

struct Work {
  Symbol symbol;
  DataDesc data;
  int classes;
};

Work Images() {
  Symbol x = op::Convolution(Symbol::Variable("data"),
                             {.kernel = {3, 3}, .pad = {1, 1}, .num_filter = 32, .name = "conv1"});
  x = op::BatchNorm(x, {.fix_gamma = false, .name = "bn"});
  x = op::Activation(x, {.act_type = "relu"});
  x = op::Pooling(x, {.kernel = {2, 2}, .stride = {2, 2}, .pool_type = "max"});
  x = op::Convolution(x, {.kernel = {3, 3}, .num_filter = 24, .name = "conv2"});
  x = op::LeakyReLU(x);
  x = op::FullyConnected(x, {.num_hidden = 7, .name = "fc"});
  return {op::SoftmaxOutput(x, {.name = "softmax"}),
          {.name = "data", .shape = {6, 16, 20, 18}, .layout = "NCHW"},
          7};
}

Work Sentences() {
  const Symbol embed =
      op::Embedding(Symbol::Variable("data"), {.input_dim = 50, .output_dim = 40, .name = "embed"});
  LSTMCell cell(48, {.prefix = "lstm_"});
  const Unrolled unrolled = Unroll(cell, 12, embed);
  const Symbol x = op::FullyConnected(unrolled.states[0], {.num_hidden = 50, .name = "fc"});
  return {op::SoftmaxOutput(op::Dropout(x, {.p = 0.3}), {.name = "softmax"}),
          {.name = "data", .shape = {30, 12}, .layout = "NT"},
          50};
}

// Returns the parameters after some steps of Adam.
std::map<std::string, std::vector<float>> Train(const Work& work, int threads) {
  SetNumThreads(threads);
  auto module = Module::Create(work.symbol).value();
  const int64_t rows = work.data.shape[0];
  COOPER_EXPECT_OK(
      module->Bind({.data_shapes = {work.data},
                    .label_shapes = {{.name = "softmax_label", .shape = {rows}, .layout = "N"}},
                    .seed = 3}));
  COOPER_EXPECT_OK(module->InitParams({.initializer = init::Xavier(), .seed = 1}));
  COOPER_EXPECT_OK(module->InitOptimizer({.optimizer = "adam"}));
  RandomGenerator random(5);
  std::vector<float> data(static_cast<size_t>(work.data.shape.num_elements())), labels(rows);
  for (int step = 0; step < 12; ++step) {
    for (float& value : data) value = static_cast<float>(random.NextBelow(work.classes));
    for (float& value : labels) value = static_cast<float>(random.NextBelow(work.classes));
    COOPER_EXPECT_OK(module->ForwardBackward({.data = {*NDArray::FromVector(work.data.shape, data)},
                                              .label = {*NDArray::FromVector({rows}, labels)}}));
    COOPER_EXPECT_OK(module->Update());
  }
  std::map<std::string, std::vector<float>> values;
  const ModuleParams params = module->GetParams().value();
  for (const auto* arrays : {&params.args, &params.auxs}) {
    for (const auto& [name, array] : *arrays) values[name] = *array.ToVector<float>();
  }
  SetNumThreads(0);
  return values;
}

// With AVX2 the rounding of oneDNN's products depends on their blocks, and so on the number of
// threads (docs/mxnet_differences.md); elsewhere all numbers of threads give the bits of one
// thread.
void ExpectSameBits(const Work& work) {
  const bool any_number = HighestCpuLevel() != CpuLevel::kAvx2;
  std::map<int, std::map<std::string, std::vector<float>>> undisturbed;
  const internal_parallel::ShareAll all;
  for (const int threads : {1, 2, 3, 5}) {
    undisturbed[threads] = any_number && threads > 1 ? undisturbed[1] : Train(work, threads);
  }
  const Delays delays;
  const int64_t before = stops;
  for (const auto& [threads, alone] : undisturbed) {
    const auto delayed = Train(work, threads);
    ASSERT_EQ(delayed.size(), alone.size());
    for (const auto& [name, values] : alone) {
      const std::vector<float>& others = delayed.at(name);
      ASSERT_EQ(others.size(), values.size());
      EXPECT_EQ(std::memcmp(others.data(), values.data(), values.size() * sizeof(float)), 0)
          << name << ", " << threads << " threads";
    }
  }
  EXPECT_GT(stops, before);
}

TEST(RandomDelaysTest, ImagesAreLearntToTheSameBits) { ExpectSameBits(Images()); }

TEST(RandomDelaysTest, SentencesAreLearntToTheSameBits) { ExpectSameBits(Sentences()); }

}  // namespace
}  // namespace cooper
