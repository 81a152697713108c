#ifndef COOPER_SYMBOL_VISUALIZATION_ROW_POSITIONS_H_
#define COOPER_SYMBOL_VISUALIZATION_ROW_POSITIONS_H_

// One row of a layered drawing: items on a line that would like to be somewhere and need room.

#include <vector>

namespace cooper {

struct RowItem {
  double wish = 0;    // where its center would best be
  double weight = 1;  // how much that matters; > 0
  double width = 0;
};

// Centers in the order given, neighbours at least `gap` apart, with the least sum of
// weight * (center - wish)^2. Linear time.
std::vector<double> PlaceInRow(const std::vector<RowItem>& items, double gap);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_ROW_POSITIONS_H_
