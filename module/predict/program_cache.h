#ifndef COOPER_MODULE_PREDICT_PROGRAM_CACHE_H_
#define COOPER_MODULE_PREDICT_PROGRAM_CACHE_H_

// The programs that a predictor has compiled, by network and shapes of inputs. Smaller shapes use
// the plan of larger ones where the graph allows it, so that only what grows is compiled again.
// What takes long to make is a plan, not a resized copy of one: copies are the first to go.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/compile/compiled_program.h"
#include "module/predict/lru_map.h"
#include "module/predict/network_cache.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// Thread-safe.
class ProgramCache {
 public:
  using NetworkPtr = NetworkCache::NetworkPtr;
  using CompiledPtr = std::shared_ptr<const CompiledProgram>;

  // Keeps at most so many programs, at least 1. Of more, those of networks that are gone go first,
  // then those that others could be resized to again, each time the one that was asked for longest
  // ago.
  explicit ProgramCache(size_t capacity) : capacity_(capacity), programs_(capacity + 1) {}

  // The program of that `name`, which stands for network and shapes: the one that is kept, else one
  // of the same `network` that was planned for larger shapes, resized, else what `compile` makes. A
  // plan is kept as long as a program that uses it. Errors are those of `compile`, which other
  // threads need not wait for; several may compile the same.
  absl::StatusOr<CompiledPtr> Get(const std::string& name, const NetworkPtr& network,
                                  const KnownShapes& shapes,
                                  absl::FunctionRef<absl::StatusOr<CompiledPtr>()> compile);

 private:
  struct Kept {
    std::weak_ptr<const CachedNetwork> network;
    CompiledPtr plan;     // what was compiled, whatever it was resized to
    KnownShapes planned;  // the shapes of that
    // Whether it was compiled though there were plans for larger shapes: they had refused these.
    bool larger_refused = false;
    CompiledPtr compiled;
  };

  // Whether the program of that name would come again without compiling: another one has its plan,
  // or one for larger shapes.
  bool IsCheap(const std::string& name, const Kept& kept) const;
  // Takes out one, but for the newest.
  void ForgetOne();

  const size_t capacity_;
  std::mutex mutex_;
  LruMap<Kept> programs_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_PROGRAM_CACHE_H_
