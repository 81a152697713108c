#ifndef COOPER_SYMBOL_OPS_RANDOM_PDF_PARAM_H_
#define COOPER_SYMBOL_OPS_RANDOM_PDF_PARAM_H_

// Arrays and parameters of the operators _random_pdf_*, densities of distributions (pdf.cc). MXNet:
// src/operator/random/pdf_op.h.

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: sample (p..., s...), and the parameters of the distributions, each (p...); distributions
// with one parameter have no kSecond. The output has sample's shape. _random_pdf_dirichlet draws
// vectors: sample (p..., s..., k), its parameter alpha (p..., k), output (p..., s...), and (1,) for
// a single vector. All have one floating dtype.
struct PdfArrays {
  enum Input { kSample, kFirst, kSecond };
};
// The outputs are the gradients of the forward inputs. The sample of a distribution of counts, and
// that of the uniform one, has the gradient 0. Gradients of parameters are summed over the samples
// (s...) of their distribution.
struct PdfGradientArrays {
  enum Input { kOgrad, kSample, kFirst, kSecond };
};

// Samples outside of a distribution's support are not treated apart: their density is that of the
// formula, or NaN.
struct PdfParam {
  bool is_log = false;

  static void Declare(ParamDeclaration<PdfParam>& d) {
    d.Field("is_log", &PdfParam::is_log).Doc("whether the output is the density's logarithm");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RANDOM_PDF_PARAM_H_
