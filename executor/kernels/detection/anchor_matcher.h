#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_ANCHOR_MATCHER_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_ANCHOR_MATCHER_H_

// Assigns each anchor of an image an object to predict, the background, or nothing: the matching of
// SSD (Liu et al., SSD: Single Shot MultiBox Detector, 2016, 2.2). MXNet:
// src/operator/contrib/multibox_target.cc. For the kernels of _contrib_MultiBoxTarget.
//
// The matching has up to four steps:
//
//   1. Each object gets an anchor of its own, the pair with the largest overlap first.
//   2. Each other anchor that overlaps an object by more than overlap_threshold is matched with it.
//   3. Without mining, the remaining anchors are background.
//   4. With mining (negative_mining_ratio > 0), only the hardest of them are, and the others are
//      ignored.

#include <cmath>
#include <cstdint>

#include "executor/kernels/detection/anchor_box.h"
#include "executor/kernels/detection/box.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/detection/multi_box_target_param.h"

namespace cooper {

// The parameters of the matching, those of MultiBoxTargetParam. A value that kernels take by value.
struct MatchRule {
  // mining_ratio and mining_threshold are negative_mining_ratio and negative_mining_thresh there. A
  // ratio of 0 or less means that nothing is mined.
  float overlap_threshold, ignore_label, mining_ratio, mining_threshold;
  BoxVariances variances;

  explicit MatchRule(const MultiBoxTargetParam& param)
      : overlap_threshold(param.overlap_threshold),
        ignore_label(param.ignore_label),
        mining_ratio(param.negative_mining_ratio),
        mining_threshold(param.negative_mining_thresh),
        variances(param.variances) {}
};

// The result of the matching for one anchor: no part of the loss, the background class, or an
// object.
enum class AnchorUse : uint8_t { kIgnored, kBackground, kObject };

// An anchor with its best object.
struct MatchedAnchor {
  AnchorUse use;
  int64_t object;  // a row of labels: the matched one, else the one with the largest overlap; or -1
  float overlap;   // with that object; -1 if not computed
};

// An object during the search for an anchor of its own. Valid for the first num_objects_ rows.
struct SeekingObject {
  int64_t anchor;  // the unmatched anchor with the largest overlap; -1 for none
  float overlap;   // with that anchor
  bool is_matched;
};

// Scratch arrays for the matching of one image. Does not own them. They need no initial values.
struct MatchScratch {
  MatchedAnchor* anchors;
  SeekingObject* objects;
  float* background;  // its probability for each anchor; kNoCandidate excludes an anchor
  int64_t* order;     // used by Team::ForSmallest

  // Takes the arrays from `cursor`; with a counting cursor, which has no memory, the pointers are
  // null.
  COOPER_HOST_DEVICE MatchScratch(int64_t num_anchors, int64_t num_labels, ScratchCursor& cursor)
      : anchors(cursor.Take<MatchedAnchor>(num_anchors)),
        objects(cursor.Take<SeekingObject>(num_labels)),
        background(cursor.Take<float>(num_anchors)),
        order(cursor.Take<int64_t>(num_anchors)) {}

  // Values in `background` instead of a probability, both above all probabilities: kNoCandidate for
  // an anchor that mining must not choose, kNotANumber for NaN, so that such anchors are chosen
  // last.
  static constexpr float kNoCandidate = 4, kNotANumber = 2;
};

// A value and its index, for reductions over threads. Among equal values the one with the lower
// index is the greater, so results do not depend on the order of a reduction.
struct GreatestValue {
  float value;
  int64_t index;  // -1: none

  COOPER_HOST_DEVICE bool operator<(const GreatestValue& other) const {
    return other.index >= 0 &&
           (index < 0 || value < other.value || (value == other.value && other.index < index));
  }
};

// The training target of an anchor: its row of loc_target, its element of loc_mask, which is
// repeated four times, and its element of cls_target.
struct AnchorTarget {
  float code[4];  // the offsets of its object's box; zeros without an object
  float mask;     // 1 with an object, else 0
  float label;    // its class + 1, 0 for the background, ignore_label for ignored anchors
};

// Matches the anchors of one image. T is the type of all arrays. The threads of a Team share the
// work: each has a matcher of its own over the same arrays and calls the same functions. Overlaps
// are computed in T and kept as float. O(num_objects * num_anchors) overlaps, and more for each
// object that loses its anchor to another one. A Team has
//   ForEach(n, fn)             calls fn(i) for i in [0, n) and returns when all are done
//   Once(fn)                   calls fn in one thread
//   Count(n, is_one)           returns for how many i in [0, n) is_one(i) is true
//   Greatest(n, least, value)  returns the greatest value(i) above `least`, or the index -1
//   ForSmallest(values, n, count, order, fn)
//       calls fn(i) for the `count` least of n values, each below kNoCandidate; among equal values
//       the first ones. `order` has n elements.
template <typename T, typename Team>
class AnchorMatcher {
 public:
  // anchors (num_anchors, 4) holds corners. labels (num_labels, label_width) holds a class, corners
  // and possibly more; a class of -1 ends the list. All arrays must outlive the matcher.
  COOPER_HOST_DEVICE AnchorMatcher(const MatchRule& rule, const T* anchors, int64_t num_anchors,
                                   const T* labels, int64_t num_labels, int64_t label_width,
                                   const MatchScratch& scratch, Team team)
      : rule_(rule),
        anchors_(anchors),
        num_anchors_(num_anchors),
        labels_(labels),
        label_width_(label_width),
        scratch_(scratch),
        team_(team) {
    while (num_objects_ < num_labels && labels[num_objects_ * label_width] != T{-1}) ++num_objects_;
  }

  // Fills the scratch arrays. cls_pred (num_classes, num_anchors) has the background first; its
  // softmax is the probability of the background. Without objects all anchors are ignored. cls_pred
  // is read only with mining. All threads of the Team call it.
  COOPER_HOST_DEVICE void Match(const T* cls_pred, int64_t num_classes) {
    team_.ForEach(num_anchors_, [&](int64_t j) {
      scratch_.anchors[j] = {AnchorUse::kIgnored, -1, -1};
    });
    if (num_objects_ == 0) return;
    AssignAnchorPerObject();
    const bool mines = rule_.mining_ratio > 0;
    if (rule_.overlap_threshold > 0 || mines) FindOverlaps();
    if (rule_.overlap_threshold > 0) MatchOverlapping();
    if (mines) {
      MineBackground(cls_pred, num_classes);
    } else {
      team_.ForEach(num_anchors_, [&](int64_t j) {
        if (!IsMatched(j)) scratch_.anchors[j].use = AnchorUse::kBackground;
      });
    }
  }

  // Returns the target of an anchor. Requires Match. Any thread may call it for any anchor.
  COOPER_HOST_DEVICE AnchorTarget Target(int64_t anchor) const {
    const MatchedAnchor& match = scratch_.anchors[anchor];
    AnchorTarget target = {{0, 0, 0, 0}, 0, 0};
    if (match.use == AnchorUse::kIgnored) target.label = rule_.ignore_label;
    if (match.use != AnchorUse::kObject) return target;
    EncodeBox(anchors_ + anchor * 4, ObjectBox(match.object), rule_.variances, target.code);
    target.mask = 1;
    target.label = static_cast<float>(labels_[match.object * label_width_] + 1);
    return target;
  }

 private:
  // Returns whether an object has been assigned to the anchor.
  COOPER_HOST_DEVICE bool IsMatched(int64_t anchor) const {
    return scratch_.anchors[anchor].use == AnchorUse::kObject;
  }
  // Returns the corners of an object, which follow its class.
  COOPER_HOST_DEVICE const T* ObjectBox(int64_t object) const {
    return labels_ + object * label_width_ + 1;
  }
  // Returns intersection over union of an anchor and an object.
  COOPER_HOST_DEVICE float Overlap(int64_t anchor, int64_t object) const {
    return static_cast<float>(CornerOverlap(anchors_ + anchor * 4, ObjectBox(object)));
  }

  // Finds the unmatched anchor with the largest overlap with the object. Overlaps up to 1e-6 do not
  // count, as in MXNet, so an object may stay without an anchor.
  COOPER_HOST_DEVICE void Seek(int64_t object) {
    constexpr float kMinOverlap = 1e-6F;
    const GreatestValue best = team_.Greatest(num_anchors_, kMinOverlap, [&](int64_t j) {
      return IsMatched(j) ? -1.0F : Overlap(j, object);
    });
    team_.Once([&] { scratch_.objects[object] = {best.index, best.value, false}; });
  }

  // Repeatedly matches the pair of an object and an anchor with the largest overlap, both
  // unmatched. Among equal overlaps the first anchor is taken, then the first object.
  COOPER_HOST_DEVICE void AssignAnchorPerObject() {
    // All threads read the same state and choose the same pair; only changes of the state are made
    // once.
    const SeekingObject* objects = scratch_.objects;
    for (int64_t k = 0; k < num_objects_; ++k) Seek(k);
    for (;;) {
      int64_t best = -1;
      for (int64_t k = 0; k < num_objects_; ++k) {
        const SeekingObject& object = objects[k];
        if (object.is_matched || object.anchor < 0) continue;
        if (best < 0 || object.overlap > objects[best].overlap ||
            (object.overlap == objects[best].overlap && object.anchor < objects[best].anchor)) {
          best = k;
        }
      }
      if (best < 0) return;
      const SeekingObject matched = objects[best];
      team_.Once([&] {
        scratch_.anchors[matched.anchor] = {AnchorUse::kObject, best, matched.overlap};
        scratch_.objects[best].is_matched = true;
      });
      for (int64_t k = 0; k < num_objects_; ++k) {
        // The object's best anchor is taken, so it looks for the best of the remaining ones.
        const bool lost_its_anchor = !objects[k].is_matched && objects[k].anchor == matched.anchor;
        if (lost_its_anchor) Seek(k);
      }
    }
  }

  // Finds, for each unmatched anchor, the object with the largest overlap.
  COOPER_HOST_DEVICE void FindOverlaps() {
    team_.ForEach(num_anchors_, [&](int64_t j) {
      if (IsMatched(j)) return;
      MatchedAnchor& anchor = scratch_.anchors[j];
      for (int64_t k = 0; k < num_objects_; ++k) {
        const float overlap = Overlap(j, k);
        if (overlap > anchor.overlap) anchor = {AnchorUse::kIgnored, k, overlap};
      }
    });
  }

  // Matches the anchors whose overlap exceeds the threshold with the objects that FindOverlaps
  // found.
  COOPER_HOST_DEVICE void MatchOverlapping() {
    team_.ForEach(num_anchors_, [&](int64_t j) {
      MatchedAnchor& anchor = scratch_.anchors[j];
      if (anchor.overlap > rule_.overlap_threshold) anchor.use = AnchorUse::kObject;
    });
  }

  // Returns the softmax of anchor j's class 0, or kNotANumber if that is NaN. Subtracts the
  // maximum, so the exponentials do not overflow.
  COOPER_HOST_DEVICE float Background(const T* cls_pred, int64_t num_classes, int64_t j) const {
    // Class k of anchor j is at k * num_anchors + j. Subtracting the maximum avoids overflow.
    T greatest = cls_pred[j];
    for (int64_t k = 1; k < num_classes; ++k) {
      const T value = cls_pred[k * num_anchors_ + j];
      if (value > greatest) greatest = value;
    }
    T sum = 0;
    for (int64_t k = 0; k < num_classes; ++k) {
      sum += std::exp(cls_pred[k * num_anchors_ + j] - greatest);
    }
    const T probability = std::exp(cls_pred[j] - greatest) / sum;
    return probability >= 0 ? static_cast<float>(probability) : MatchScratch::kNotANumber;
  }

  // Marks hard negatives as background: of the unmatched anchors with an overlap below
  // mining_threshold, those with the least background probability, mining_ratio times as many as
  // there are matched anchors, rounded down. The others stay ignored.
  COOPER_HOST_DEVICE void MineBackground(const T* cls_pred, int64_t num_classes) {
    team_.ForEach(num_anchors_, [&](int64_t j) {
      const bool is_candidate =
          !IsMatched(j) && scratch_.anchors[j].overlap < rule_.mining_threshold;
      scratch_.background[j] =
          is_candidate ? Background(cls_pred, num_classes, j) : MatchScratch::kNoCandidate;
    });
    const int64_t matched = team_.Count(num_anchors_, [&](int64_t j) { return IsMatched(j); });
    const int64_t candidates = team_.Count(num_anchors_, [&](int64_t j) {
      return scratch_.background[j] < MatchScratch::kNoCandidate;
    });
    // The product is a float, as in MXNet, and truncated.
    const float wanted = static_cast<float>(matched) * rule_.mining_ratio;
    const int64_t count =
        wanted < static_cast<float>(candidates) ? static_cast<int64_t>(wanted) : candidates;
    team_.ForSmallest(scratch_.background, num_anchors_, count, scratch_.order,
                      [&](int64_t j) { scratch_.anchors[j].use = AnchorUse::kBackground; });
  }

  // Copies, so that each thread of a GPU has them in registers or local memory.
  MatchRule rule_;
  const T* anchors_;
  int64_t num_anchors_;
  const T* labels_;
  int64_t label_width_;
  MatchScratch scratch_;
  Team team_;
  // The labels before the first class of -1.
  int64_t num_objects_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_ANCHOR_MATCHER_H_
