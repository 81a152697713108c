#ifndef COOPER_MODULE_METRIC_MEAN_AVERAGE_PRECISION_H_
#define COOPER_MODULE_METRIC_MEAN_AVERAGE_PRECISION_H_

// The mean average precision of detectors by the rules of PASCAL VOC: MApMetric and VOC07MApMetric
// of MXNet's SSD example.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "module/metric/eval_metric.h"

namespace cooper {

// A prediction is (batch_size, anchors, 6) as _contrib_MultiBoxDetection returns it: rows of class,
// score, xmin, ymin, xmax, ymax, where a negative class means no detection. The only label is
// (batch_size, objects, 5 or more): rows of class, xmin, ymin, xmax, ymax and, from 6 columns on,
// whether the object is difficult. Rows of a negative class, and rows that a mask leaves out, are
// no objects. kInvalidArgument for other shapes.
//
// In each image, detections of a class take objects of this class, those with the best score
// first: a detection is true if the object that it overlaps most overlaps it by more than
// ovp_thresh and no other has taken that object; otherwise it is false. Of equal scores the
// detection that came first counts first, and NaN is below all scores. The precision and recall of
// a class are those of its detections in all images. The mean is over the classes that have an
// object or a false detection, and NaN if there is none. As in MXNet, detections in images without
// objects do not count.
//
// Unlike MXNet's, the number of objects of a class never includes difficult ones that do not count,
// and includes those of images whose detections do not count.
//
// Keeps 48 bytes for each object and detection since Reset. A value takes O(n log n) time.
struct MeanAveragePrecisionOptions {
  MetricOptions common;  // "mAP"
  double ovp_thresh = 0.5;
  // Whether difficult objects count. Otherwise neither they nor detections of them do.
  bool use_difficult = false;
  // If set, the values are the average precision of class i under the name class_names[i], NaN if
  // the class is not in the mean, and then the mean.
  std::optional<std::vector<std::string>> class_names;
  // Which of the predictions has the detections. kInvalidArgument of Update if it is not there.
  int64_t pred_idx = 0;
};

// The average precision is the area under the curve of precision over recall, where the precision
// at a recall is the largest at this recall or a greater one: VOC from 2010 on.
std::unique_ptr<EvalMetric> MeanAveragePrecision(const MeanAveragePrecisionOptions& options = {});

// The average precision is the mean of that precision at the recalls 0, 0.1 ... 1: VOC 2007.
std::unique_ptr<EvalMetric> Voc07MeanAveragePrecision(
    const MeanAveragePrecisionOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_METRIC_MEAN_AVERAGE_PRECISION_H_
