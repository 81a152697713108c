#ifndef COOPER_SYMBOL_OPS_DETECTION_DEFORMABLE_PSROI_POOLING_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_DEFORMABLE_PSROI_POOLING_PARAM_H_

// Arrays and parameters of _contrib_DeformablePSROIPooling (Dai et al., Deformable Convolutional
// Networks, 2017). The schema is in deformable_psroi_pooling.cc, the geometry of the sampling
// points in executor/kernels/detection/deformable_psroi_bin.h. MXNet:
// src/operator/contrib/deformable_psroi_pooling.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data (batch_size, channels, height, width) with channels >= output_dim * group_size^2;
// rois (regions, 5): index of the sample, x1, y1, x2, y2; unless no_trans, trans (regions, 2 *
// classes, part_size, part_size): the shifts of parts along x and y, where classes divides
// output_dim. The output is (regions, output_dim, pooled_size, pooled_size); a region whose sample
// is not in the batch gives 0. All arrays have one dtype, float32 or float64.
struct DeformablePsroiPoolingArrays {
  enum Input { kData, kRois, kTrans };
};
// Outputs: the gradients of data and, unless no_trans, of rois, which is 0, and trans.
struct DeformablePsroiPoolingGradientArrays {
  enum Input { kOgrad, kData, kRois, kTrans };
  enum Output { kDataGrad, kRoisGrad, kTransGrad };
};

// A bin is the mean of sample_per_part^2 points of one channel of data, interpolated bilinearly;
// points outside of the image are left out, and a bin without points is 0. The bin is shifted by
// trans * trans_std * the extent of the region. The channel follows from the position of the bin as
// in _contrib_PSROIPooling (psroi_pooling_param.h).
struct DeformablePsroiPoolingParam {
  // Factor of the coordinates of rois, in [0, 1], after they have been rounded.
  float spatial_scale = 1;
  // Channels of the output.
  int64_t output_dim = 1;
  // Positions along each axis that have channels of their own.
  int64_t group_size = 1;
  // Bins along each axis.
  int64_t pooled_size = 1;
  // Parts along each axis that have shifts of their own; 0: pooled_size.
  int64_t part_size = 0;
  // Points along each axis of a bin.
  int64_t sample_per_part = 1;
  // Factor of trans, in [0, 1].
  float trans_std = 0;
  // Whether there is no input trans, and bins are not shifted.
  bool no_trans = false;

  int64_t parts() const { return part_size == 0 ? pooled_size : part_size; }

  static void Declare(ParamDeclaration<DeformablePsroiPoolingParam>& d) {
    d.Field("spatial_scale", &DeformablePsroiPoolingParam::spatial_scale)
        .Required()
        .Min(0)
        .Max(1)
        .Doc("what coordinates of rois are multiplied by");
    d.Field("output_dim", &DeformablePsroiPoolingParam::output_dim)
        .Required()
        .Min(1)
        .Doc("channels of the output");
    d.Field("group_size", &DeformablePsroiPoolingParam::group_size)
        .Required()
        .Min(1)
        .Doc("positions along each axis with channels of their own");
    d.Field("pooled_size", &DeformablePsroiPoolingParam::pooled_size)
        .Required()
        .Min(1)
        .Doc("bins along each axis of a region");
    d.Field("part_size", &DeformablePsroiPoolingParam::part_size)
        .Min(0)
        .Doc("parts along each axis with shifts of their own; 0: pooled_size");
    d.Field("sample_per_part", &DeformablePsroiPoolingParam::sample_per_part)
        .Min(1)
        .Doc("points along each axis of a bin");
    d.Field("trans_std", &DeformablePsroiPoolingParam::trans_std)
        .Min(0)
        .Max(1)
        .Doc("what trans is multiplied by");
    d.Field("no_trans", &DeformablePsroiPoolingParam::no_trans)
        .Doc("whether there is no input trans");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_DEFORMABLE_PSROI_POOLING_PARAM_H_
