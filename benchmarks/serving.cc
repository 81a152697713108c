// Serves the language model to requests of single sentences and measures throughput and latency
// (benchmarks/peers/README.md, "Serving"). Answers commands on standard input with a line of JSON
// each:
//
//   callers N S   N threads each ask the Predictor for one sentence after the other, for S seconds
//   clients N S   N sentences are always under way at the RequestBatcher, for S seconds
//   load R S      sentences come at random times, R a second (a Poisson process), for S seconds
//
// --threads is the number of threads per call, --servers the number of batches that are computed
// concurrently.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "benchmarks/json_line.h"
#include "module/bucketing/bucketing_module.h"
#include "module/predict/predictor.h"
#include "module/predict/requests/request_batcher.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"
#include "tools/lm_train/language_model.h"
#include "tools/lm_train/model_flags.h"

ABSL_DECLARE_FLAG(int, threads);
ABSL_FLAG(int64_t, vocab, 10000, "ids, the padding among them");
ABSL_FLAG(int, servers, 2, "batches that are computed at a time");
ABSL_FLAG(int64_t, max_batch_size, 32, "sentences that are computed together");
ABSL_FLAG(int64_t, max_delay_us, 0, "how long a sentence waits for others while a server is free");

namespace cooper {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Draws the random numbers of benchmarks/peers/protocol.md, "Batches". Peers draw the same ones.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return state_ >> 33;
  }
  // Returns the time until the next event of a Poisson process with `rate` events per second.
  Seconds NextPause(double rate) {
    return Seconds(-std::log(static_cast<double>(Next() + 1) / 2147483648.0) / rate);
  }

 private:
  uint64_t state_;
};

// Returns statistics of the times from when a request was due until it was answered.
Json Latencies(std::vector<double> seconds, double elapsed) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    if (seconds.empty()) return 0.0;
    const auto index = static_cast<size_t>(share * static_cast<double>(seconds.size()));
    return 1e3 * seconds[std::min(index, seconds.size() - 1)];
  };
  return {{"elapsed_s", elapsed},
          {"requests", seconds.size()},
          {"requests_per_s", static_cast<double>(seconds.size()) / elapsed},
          {"p50_ms", at(0.5)},
          {"p99_ms", at(0.99)},
          {"max_ms", at(1)}};
}

class Serving {
 public:
  static absl::StatusOr<std::unique_ptr<Serving>> Create() {
    COOPER_RETURN_IF_ERROR(CheckModelFlags());
    auto serving = std::make_unique<Serving>();
    COOPER_RETURN_IF_ERROR(serving->Init());
    return serving;
  }

  // Measures the throughput of threads that call the Predictor directly.
  absl::StatusOr<Json> RunCallers(int callers, double seconds) {
    std::atomic<int64_t> requests = 0;
    std::mutex mutex;
    absl::Status status;
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(callers));
    const Clock::time_point start = Clock::now();
    for (int t = 0; t < callers; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t * sentences_.size() / callers;
             Seconds(Clock::now() - start).count() < seconds; ++i) {
          const Sentence& sentence = sentences_[i % sentences_.size()];
          const auto outputs = predictor_->Predict(sentence.bucket, {{"data", sentence.padded}});
          if (!outputs.ok()) {
            const std::lock_guard<std::mutex> lock(mutex);
            status = outputs.status();
            return;
          }
          ++requests;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    COOPER_RETURN_IF_ERROR(status);
    const double elapsed = Seconds(Clock::now() - start).count();
    return Json{{"elapsed_s", elapsed},
                {"requests_per_s", static_cast<double>(requests) / elapsed}};
  }

  // Measures throughput and latency with `clients` requests in flight.
  absl::StatusOr<Json> RunClients(int clients, double seconds) {
    const Clock::time_point start = Clock::now();
    size_t next = 0;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      while (Seconds(Clock::now() - start).count() < seconds) {
        changed_.wait(lock, [&] { return in_progress_ < clients; });
        lock.unlock();
        Submit(next++, Clock::now());
        lock.lock();
      }
    }
    return Finish(start);
  }

  absl::StatusOr<Json> RunLoad(double rate, double seconds) {
    Draws draws(absl::GetFlag(FLAGS_seed));
    const Clock::time_point start = Clock::now();
    Clock::time_point due = start;
    for (size_t next = 0;; ++next) {
      due += std::chrono::duration_cast<Clock::duration>(draws.NextPause(rate));
      if (Seconds(due - start).count() > seconds) break;
      std::this_thread::sleep_until(due);
      Submit(next, due);
    }
    return Finish(start);
  }

 private:
  struct Sentence {
    int64_t bucket;
    NDArray words;   // (length,)
    NDArray padded;  // (1, bucket)
  };

  absl::Status Init() {
    COOPER_ASSIGN_OR_RETURN(const BucketFlags flags, BucketsFromFlags());
    if (flags.lengths.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("--buckets=", absl::GetFlag(FLAGS_buckets),
                                                     ": expected lengths such as 10,20,30"));
    }
    LanguageModelOptions model = ModelOptionsFromFlags();
    model.vocab = absl::GetFlag(FLAGS_vocab);
    COOPER_ASSIGN_OR_RETURN(const SymGen sym_gen, MakeLanguageModel(model));
    COOPER_RETURN_IF_ERROR(MakePredictor(sym_gen, flags.lengths.back()));
    COOPER_ASSIGN_OR_RETURN(
        batcher_,
        RequestBatcher::Create(
            predictor_, {.inputs = {{.name = "data", .shape = {kUnknownDim}}},
                         .lengths = flags.lengths,
                         .max_batch_size = absl::GetFlag(FLAGS_max_batch_size),
                         .max_delay = std::chrono::microseconds(absl::GetFlag(FLAGS_max_delay_us)),
                         .num_threads = absl::GetFlag(FLAGS_servers)}));
    return MakeSentences(flags.lengths);
  }

  absl::Status MakePredictor(const SymGen& sym_gen, int64_t longest) {
    COOPER_ASSIGN_OR_RETURN(
        const auto module,
        BucketingModule::Create({.sym_gen = sym_gen, .default_bucket_key = longest}));
    const Shape shape({1, longest});
    COOPER_RETURN_IF_ERROR(
        module->Bind({.data_shapes = {{.name = "data", .shape = shape}},
                      .label_shapes = {{.name = "softmax_label", .shape = shape}},
                      .for_training = false}));
    COOPER_RETURN_IF_ERROR(module->InitParams(
        {.initializer = LanguageModelInitializer(), .seed = absl::GetFlag(FLAGS_seed)}));
    COOPER_ASSIGN_OR_RETURN(const ModuleParams params, module->GetParams());
    const auto network = [sym_gen](const BucketKey& key) -> absl::StatusOr<Symbol> {
      COOPER_ASSIGN_OR_RETURN(const BucketSymbol result, sym_gen(key));
      return result.symbol;
    };
    COOPER_ASSIGN_OR_RETURN(predictor_, Predictor::Create(network, params.args, params.auxs));
    return absl::OkStatus();
  }

  // Creates sentences with lengths uniform from 1 to that of the longest bucket.
  absl::Status MakeSentences(const std::vector<int64_t>& buckets) {
    constexpr int kSentences = 997;
    Draws draws(absl::GetFlag(FLAGS_seed));
    const auto vocab = static_cast<uint64_t>(absl::GetFlag(FLAGS_vocab));
    for (int i = 0; i < kSentences; ++i) {
      const auto length = static_cast<int64_t>(1 + draws.Next() % buckets.back());
      std::vector<float> words;
      for (int64_t k = 0; k < length; ++k) {
        words.push_back(static_cast<float>(1 + draws.Next() % (vocab - 1)));
      }
      Sentence sentence;
      sentence.bucket = *std::lower_bound(buckets.begin(), buckets.end(), length);
      COOPER_ASSIGN_OR_RETURN(sentence.words, NDArray::FromVector<float>(Shape({length}), words));
      words.resize(sentence.bucket);
      COOPER_ASSIGN_OR_RETURN(sentence.padded,
                              NDArray::FromVector<float>(Shape({1, sentence.bucket}), words));
      sentences_.push_back(std::move(sentence));
    }
    return absl::OkStatus();
  }

  void Submit(size_t index, Clock::time_point due) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++in_progress_;
    }
    batcher_->Submit({{"data", sentences_[index % sentences_.size()].words}},
                     [this, due](const RequestBatcher::Outputs& outputs) {
                       const double seconds = Seconds(Clock::now() - due).count();
                       const std::lock_guard<std::mutex> lock(mutex_);
                       latencies_.push_back(seconds);
                       if (!outputs.ok()) status_ = outputs.status();
                       --in_progress_;
                       changed_.notify_one();
                     });
  }

  // Waits until all requests are answered.
  absl::StatusOr<Json> Finish(Clock::time_point start) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return in_progress_ == 0; });
    const double elapsed = Seconds(Clock::now() - start).count();
    const std::vector<double> latencies = std::exchange(latencies_, {});
    const absl::Status status = std::exchange(status_, absl::OkStatus());
    COOPER_RETURN_IF_ERROR(status);
    return Latencies(latencies, elapsed);
  }

  std::shared_ptr<const Predictor> predictor_;
  std::vector<Sentence> sentences_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  int64_t in_progress_ = 0;
  std::vector<double> latencies_;
  absl::Status status_;

  std::unique_ptr<RequestBatcher> batcher_;  // ends first: it calls back
};

// Parses a finite, positive time or rate.
bool ParsePositive(const std::string& word, double* value) {
  return absl::SimpleAtod(word, value) && std::isfinite(*value) && *value > 0;
}

absl::StatusOr<Json> Answer(Serving& serving, const std::string& line) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  double rate = 0, seconds = 0;
  int count = 0;
  if (words.size() == 3 && ParsePositive(words[2], &seconds)) {
    const bool counted = absl::SimpleAtoi(words[1], &count) && count >= 1;
    if (words[0] == "callers" && counted) return serving.RunCallers(count, seconds);
    if (words[0] == "clients" && counted) return serving.RunClients(count, seconds);
    if (words[0] == "load" && ParsePositive(words[1], &rate)) return serving.RunLoad(rate, seconds);
  }
  return Json{
      {"error", absl::StrCat("expected 'callers N S', 'clients N S', 'load R S' or 'quit', ",
                             "got '", line, "'")}};
}

absl::Status Main() {
  COOPER_ASSIGN_OR_RETURN(const auto serving, Serving::Create());
  PrintLine({{"ready", true}, {"peer", "cooper"}});
  std::string line;
  while (std::getline(std::cin, line) && line != "quit") {
    COOPER_ASSIGN_OR_RETURN(const Json answer, Answer(*serving, line));
    PrintLine(answer);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("serves the language model and measures what clients see");
  absl::SetFlag(&FLAGS_buckets, "10,20,30,40,50,60");  // the default of this program
  absl::ParseCommandLine(argc, argv);
  // Limits all threads, including the batcher's.
  setenv("OMP_NUM_THREADS", absl::StrCat(absl::GetFlag(FLAGS_threads)).c_str(), 1);
  const absl::Status status = cooper::Main();
  if (status.ok()) return 0;
  std::cerr << "serving: " << status.message() << std::endl;
  return 1;
}
