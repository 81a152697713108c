#ifndef COOPER_SYMBOL_OPS_INDEX_SEQUENCE_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_SEQUENCE_PARAM_H_

// Inputs and parameters of SequenceMask, SequenceReverse and SequenceLast: operators on batches of
// padded sequences of different lengths. data is (max_sequence_length, batch_size, ...), or
// (batch_size, max_sequence_length, ...) with axis 1. The schemas are in sequence.cc. MXNet:
// src/operator/sequence_*-inl.h.

#include "symbol/schema/param_schema.h"

namespace cooper {

// The inputs of the sequence operators. sequence_length (batch_size,), only with
// use_sequence_length, has any dtype; its fractions are dropped and it is limited to [0,
// max_sequence_length]. Composition fails if it is enabled and missing, because a variable created
// for it would be trained. In the gradient, ograd takes the place of data. Lengths have no
// gradient.
struct SequenceArrays {
  enum Input { kData, kLength };
};

// Parameters of SequenceLast, which returns the last step of each sequence: data without the axis
// of time. A length of 0 gives step 0. The gradient is ograd at that step and 0 elsewhere. Also the
// base of the other parameters.
struct SequenceParam {
  // Whether sequence_length is an input; otherwise all sequences have full length.
  bool use_sequence_length = false;
  // The axis of time, 0 or 1.
  int axis = 0;

  static void Declare(ParamDeclaration<SequenceParam>& d) {
    DeclareFields(d, 1, "the axis of time: 0, or 1 behind that of the batch");
  }
  // Declares the fields for a derived struct. `max_axis` is the greatest axis of time that the
  // operator supports.
  template <typename P>  // P derives from this
  static void DeclareFields(ParamDeclaration<P>& d, int max_axis, const char* axis_doc) {
    d.template Field<bool>("use_sequence_length", &P::use_sequence_length)
        .Doc("whether the lengths are an input; otherwise all sequences have full length");
    d.template Field<int>("axis", &P::axis).Min(0).Max(max_axis).Doc(axis_doc);
  }
};

// Parameters of SequenceReverse: step t of a sequence of length n becomes step n - 1 - t; padding
// stays in place. Time is axis 0. The gradient is the same operator on ograd.
struct SequenceReverseParam : SequenceParam {
  static void Declare(ParamDeclaration<SequenceReverseParam>& d) {
    SequenceParam::DeclareFields(d, 0, "the axis of time, which is the first");
  }
};

// Parameters of SequenceMask: steps from the length on become `value`. Without lengths the output
// is data. The gradient is ograd masked with 0.
struct SequenceMaskParam : SequenceParam {
  double value = 0;

  static void Declare(ParamDeclaration<SequenceMaskParam>& d) {
    SequenceParam::DeclareFields(d, 1, "the axis of time: 0, or 1 behind that of the batch");
    d.Field("value", &SequenceMaskParam::value).Doc("what stands behind the end of a sequence");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_SEQUENCE_PARAM_H_
