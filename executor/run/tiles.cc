#include "executor/run/tiles.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using Views = std::array<ArrayView, kMaxTiledArrays>;

// Returns views of elements [begin, begin + count) of the arrays. Arrays with a slot are in
// `memory`.
absl::Span<const ArrayView> Tile(absl::Span<const ArrayView> whole, const std::vector<int>& slots,
                                 int64_t begin, int64_t count, char* memory, int64_t slot_bytes,
                                 Views& views) {
  for (size_t k = 0; k < whole.size(); ++k) {
    ArrayView& view = views[k];
    view.dtype = whole[k].dtype;
    view.shape = Shape({count});
    if (slots[k] >= 0) {
      view.data = memory + slots[k] * slot_bytes;
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
    const TileChain& chain, absl::Span<const TiledStep> steps, void* workspace,
    absl::FunctionRef<absl::Status(size_t step, const KernelContext& context)> run) {
  std::mutex mutex;
  absl::Status result;
  const auto run_part = [&](int64_t part) -> absl::Status {
    char* const memory = static_cast<char*>(workspace) + part * chain.slots * chain.slot_bytes;
    Views inputs, outputs;
    const int64_t end = chain.PartBegin(static_cast<int>(part) + 1);
    for (int64_t begin = chain.PartBegin(static_cast<int>(part)); begin < end;
         begin += chain.tile_elements) {
      const int64_t count = std::min(chain.tile_elements, end - begin);
      for (size_t s = 0; s < steps.size(); ++s) {
        const TiledStep& step = steps[s];
        KernelContext tile = *step.context;
        tile.inputs =
            Tile(tile.inputs, step.input_slots, begin, count, memory, chain.slot_bytes, inputs);
        tile.outputs =
            Tile(tile.outputs, step.output_slots, begin, count, memory, chain.slot_bytes, outputs);
        if (absl::Status status = run(s, tile); !status.ok()) return status;
      }
    }
    return absl::OkStatus();
  };
  ParallelForPlain(chain.parts, 1, [&](int64_t from, int64_t to) {
    for (int64_t part = from; part < to; ++part) {
      absl::Status status = run_part(part);
      if (status.ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      result.Update(std::move(status));
    }
  });
  return result;
}

}  // namespace cooper
