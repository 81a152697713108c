#ifndef COOPER_SYMBOL_VISUALIZATION_ROW_GRAPH_H_
#define COOPER_SYMBOL_VISUALIZATION_ROW_GRAPH_H_

// A graph cut into rows, row 0 at the bottom, so that every link joins neighbouring rows: the first
// step of a layered drawing (layered_layout.h). An edge over several rows goes through bends, one
// in each row between. All edges of one box share its bends, which form one line upwards from
// which they leave: the sequence that a recurrent network splits is one line along its steps,
// not one per step. Plain data; knows no symbols.

#include <vector>

namespace cooper {

// Numbers of boxes; from < to.
struct LayoutEdge {
  int from = 0;
  int to = 0;
};

struct RowGraph {
  struct Item {
    int row = 0;
    int source = 0;          // the box itself, or the one whose edges the bend carries
    std::vector<int> below;  // items of row - 1 linked to this one
    std::vector<int> above;  // items of row + 1
  };

  std::vector<Item> items;             // boxes first, by their numbers, then bends
  std::vector<std::vector<int>> rows;  // the items of each row
  // Per edge: the item below its `to` from which it comes, the box `from` or one of its bends.
  std::vector<int> last_item;
};

// Boxes stand above all they depend on (longest path), as near to their users as does not lengthen
// lines. Edges that would need more than `max_bends` bends altogether go straight: their last_item
// is `from`, and no link stands for them.
RowGraph MakeRowGraph(int num_boxes, const std::vector<LayoutEdge>& edges, int max_bends = 200000);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_ROW_GRAPH_H_
