#ifndef COOPER_SYMBOL_OPS_LOSS_CTC_LOSS_PARAM_H_
#define COOPER_SYMBOL_OPS_LOSS_CTC_LOSS_PARAM_H_

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The first inputs of CTCLoss. The lengths follow, and in the gradient also ograd.
struct CtcLossArrays {
  enum Input { kData, kLabel };
};

// Parameters of CTCLoss.
struct CtcLossParam {
  enum Blank : uint8_t { kFirst, kLast };

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

  // Positions of the optional inputs; valid only if they are used.
  int data_lengths() const { return 2; }
  int label_lengths() const { return use_data_lengths ? 3 : 2; }
  int num_inputs() const { return 2 + use_data_lengths + use_label_lengths; }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_CTC_LOSS_PARAM_H_
