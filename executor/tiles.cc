#include "executor/tiles.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "ndarray/parallel.h"

namespace cooper {
namespace {

constexpr int64_t kSlotBytes = kTileElements * 8;
// Element-wise steps on so many elements make a thread worth its while, as in a kernel alone.
constexpr int64_t kGrain = 16384;
// Threads' ranges end at multiples of it: no two of them write to one cache line.
constexpr int64_t kUnit = 64;

using Views = std::array<ArrayView, kMaxTiledArrays>;

// This thread's tiles, allocated when it first needs them.
char* ThreadSlots() {
  thread_local const auto slots = std::make_unique<char[]>(kTileSlots * kSlotBytes + 64);
  void* aligned = slots.get();
  size_t space = kTileSlots * kSlotBytes + 64;
  return static_cast<char*>(std::align(64, kTileSlots * kSlotBytes, aligned, space));
}

absl::Span<const ArrayView> Tile(absl::Span<const ArrayView> whole, const std::vector<int>& slots,
                                 int64_t begin, int64_t count, char* memory, Views& views) {
  for (size_t k = 0; k < whole.size(); ++k) {
    ArrayView& view = views[k];
    view.dtype = whole[k].dtype;
    view.shape = Shape({count});
    if (slots[k] >= 0) {
      view.data = memory + slots[k] * kSlotBytes;
    } else {
      view.data = whole[k].data == nullptr
                      ? nullptr
                      : static_cast<char*>(whole[k].data) + begin * SizeOf(view.dtype);
    }
  }
  return absl::MakeConstSpan(views).first(whole.size());
}

}  // namespace

absl::Status RunTiles(
    absl::Span<const TiledStep> steps, int64_t elements,
    absl::FunctionRef<absl::Status(size_t step, const KernelContext& context)> run) {
  std::mutex mutex;
  absl::Status result;
  const int64_t num_steps = std::max<int64_t>(1, static_cast<int64_t>(steps.size()));
  const int64_t grain = std::max<int64_t>(1, kGrain / kUnit / num_steps);
  ParallelForPlain((elements + kUnit - 1) / kUnit, grain, [&](int64_t from, int64_t to) {
    char* const memory = ThreadSlots();
    Views inputs, outputs;
    const int64_t end = std::min(to * kUnit, elements);
    for (int64_t begin = from * kUnit; begin < end; begin += kTileElements) {
      const int64_t count = std::min(kTileElements, end - begin);
      for (size_t s = 0; s < steps.size(); ++s) {
        KernelContext tile = *steps[s].context;
        tile.inputs = Tile(tile.inputs, steps[s].input_slots, begin, count, memory, inputs);
        tile.outputs = Tile(tile.outputs, steps[s].output_slots, begin, count, memory, outputs);
        absl::Status status = run(s, tile);
        if (status.ok()) continue;
        const std::lock_guard<std::mutex> lock(mutex);
        result.Update(std::move(status));
        return;
      }
    }
  });
  return result;
}

}  // namespace cooper
