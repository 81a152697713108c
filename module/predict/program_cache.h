#ifndef COOPER_MODULE_PREDICT_PROGRAM_CACHE_H_
#define COOPER_MODULE_PREDICT_PROGRAM_CACHE_H_

// A cache of a predictor's compiled programs, by network and shapes of inputs. Smaller shapes use
// the plan of larger ones if the graph allows it, so that only larger shapes are compiled. Plans
// are expensive to make, resized copies are not: the copies are evicted first.

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

  // Keeps at most `capacity` programs, at least 1. Of more, programs of dropped networks are
  // evicted first, then those that other plans could be resized to again; each time the least
  // recently used one.
  explicit ProgramCache(size_t capacity) : capacity_(capacity), programs_(capacity + 1) {}

  // Returns the program called `name`, which identifies network and shapes: the cached one, else a
  // plan of the same `network` for larger shapes, resized, else the result of `compile`. A plan
  // lives as long as a program that uses it. Errors are those of `compile`, which runs without a
  // lock; several threads may compile the same program.
  absl::StatusOr<CompiledPtr> Get(const std::string& name, const NetworkPtr& network,
                                  const KnownShapes& shapes,
                                  absl::FunctionRef<absl::StatusOr<CompiledPtr>()> compile);

 private:
  struct Kept {
    std::weak_ptr<const CachedNetwork> network;
    CompiledPtr plan;     // the program as compiled, before Resize
    KnownShapes planned;  // the shapes of the plan
    // Whether it was compiled although there were plans for larger shapes, which refused Resize.
    bool larger_refused = false;
    CompiledPtr compiled;
  };

  // Whether the program could be made again without compiling, because another program has its plan
  // or one for larger shapes.
  bool IsCheap(const std::string& name, const Kept& kept) const;
  // Evicts one program other than the newest.
  void EvictOne();

  const size_t capacity_;
  std::mutex mutex_;
  LruMap<Kept> programs_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_PROGRAM_CACHE_H_
