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

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/compile/compiled_program.h"
#include "module/predict/lru_map.h"
#include "symbol/infer_shape.h"

namespace cooper {

// Thread-safe.
class ProgramCache {
 public:
  using CompiledPtr = std::shared_ptr<const CompiledProgram>;

  // Keeps at most so many programs, at least 1: of those that others could be resized to again, and
  // then of all, the ones that were asked for last.
  explicit ProgramCache(size_t capacity) : capacity_(capacity), programs_(capacity + 1) {}

  // The program of that `name`, which stands for network and shapes: the one that is kept, else one
  // of the same `network`, by its number, that was planned for larger shapes, resized, else what
  // `compile` makes. A plan is kept as long as a program that uses it. Errors are those of
  // `compile`, which other threads need not wait for; several may compile the same.
  absl::StatusOr<CompiledPtr> Get(const std::string& name, int64_t network,
                                  const KnownShapes& shapes,
                                  absl::FunctionRef<absl::StatusOr<CompiledPtr>()> compile);

 private:
  struct Kept {
    int64_t network;
    CompiledPtr plan;     // what was compiled, whatever it was resized to
    KnownShapes planned;  // the shapes of that
    bool alone = false;   // planned though there were larger ones: those do not do
    CompiledPtr compiled;
  };

  // Whether `of` could be made of another of the programs.
  bool IsSpare(const std::string& name, const Kept& of) const;
  // Takes out one, but for the newest.
  void Forget();

  const size_t capacity_;
  std::mutex mutex_;
  LruMap<Kept> programs_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_PROGRAM_CACHE_H_
