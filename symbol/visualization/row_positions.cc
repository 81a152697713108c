#include "symbol/visualization/row_positions.h"

#include <cstddef>

namespace cooper {

std::vector<double> PlaceInRow(const std::vector<RowItem>& items, double gap) {
  // Less the room that its predecessors take, an item's center only has to be no smaller than
  // theirs: isotonic regression, solved by pooling neighbours that would be in the wrong order.
  struct Pool {
    double weight;
    double mean;
    size_t end;  // behind its last item
  };
  std::vector<double> room(items.size(), 0);
  std::vector<Pool> pools;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) room[i] = room[i - 1] + (items[i - 1].width + items[i].width) / 2 + gap;
    Pool last{items[i].weight, items[i].wish - room[i], i + 1};
    while (!pools.empty() && pools.back().mean >= last.mean) {
      const Pool& before = pools.back();
      const double weight = before.weight + last.weight;
      last.mean = (before.weight * before.mean + last.weight * last.mean) / weight;
      last.weight = weight;
      pools.pop_back();
    }
    pools.push_back(last);
  }
  std::vector<double> centers(items.size());
  size_t i = 0;
  for (const Pool& pool : pools) {
    for (; i < pool.end; ++i) centers[i] = pool.mean + room[i];
  }
  return centers;
}

}  // namespace cooper
