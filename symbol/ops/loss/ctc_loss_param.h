#ifndef COOPER_SYMBOL_OPS_LOSS_CTC_LOSS_PARAM_H_
#define COOPER_SYMBOL_OPS_LOSS_CTC_LOSS_PARAM_H_

// Inputs and parameters of CTCLoss, connectionist temporal classification (Graves et al.,
// Connectionist Temporal Classification, ICML 2006). The schema is in ctc_loss.cc, the kernel in
// executor/kernels/loss/ctc_loss.cc. MXNet: src/operator/nn/ctc_loss.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The first inputs of CTCLoss: data (sequence_length, batch_size, classes), scores before the
// softmax; label (batch_size, label_length) of any dtype, with label_length <= sequence_length. The
// lengths follow, each (batch_size,), and in the gradient also ograd. The output is (batch_size,).
// Only data has a gradient.
struct CtcLossArrays {
  enum Input { kData, kLabel };
};

// Parameters of CTCLoss. The output is -log p(label): p sums, over all sequences of classes that
// give the label when repetitions are merged and blanks are removed, the product of the steps'
// probabilities softmax(data). The gradient of data is ograd * (softmax(data) - the expected share
// of each class in these sequences). Computed in logarithms, so long sequences do not underflow. A
// label that needs more steps than the data has, counting a blank between equal neighbours, has the
// loss and the gradient 0, as in MXNet.
//
// Difference from MXNet: the gradient is computed in the backward pass, not kept from the forward
// pass.
struct CtcLossParam {
  // The class of the blank: 0, or classes - 1.
  enum Blank : uint8_t { kFirst, kLast };

  // Whether data_lengths and label_lengths are inputs. They are limited to the extents of data and
  // label. Without label_lengths a label ends at the first padding: 0 with kFirst, -1 with kLast.
  bool use_data_lengths = false;
  bool use_label_lengths = false;
  Blank blank_label = kFirst;

  static void Declare(ParamDeclaration<CtcLossParam>& d) {
    d.Field("use_data_lengths", &CtcLossParam::use_data_lengths)
        .Doc("whether there is an input data_lengths; else sequences are as long as data");
    d.Field("use_label_lengths", &CtcLossParam::use_label_lengths)
        .Doc("whether there is an input label_lengths; else padding ends a label");
    d.Enum("blank_label", &CtcLossParam::blank_label, {{"first", kFirst}, {"last", kLast}})
        .Doc("which class is the blank; labels are padded with 0 (first) or -1 (last)");
  }

  // Return the positions of the optional inputs, valid only if the inputs are used, and the number
  // of all inputs.
  int data_lengths() const { return 2; }
  int label_lengths() const { return use_data_lengths ? 3 : 2; }
  int num_inputs() const { return 2 + use_data_lengths + use_label_lengths; }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_CTC_LOSS_PARAM_H_
