// Densities of distributions at given samples. MXNet: src/operator/random/pdf_op.cc.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/random/pdf_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum PdfArrays::Input;

// Shape rule: parameters have the leading extents of sample. With kVector the last extent of both
// is that of a vector.
template <bool kVector>
absl::Status PdfShape(ShapeContext& c) {
  if (!kVector) COOPER_RETURN_IF_ERROR(c.SetInput(kSample, c.output(0), "the output's"));
  for (int i = kSecond; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, c.input(kFirst), "the other parameter's"));
    COOPER_RETURN_IF_ERROR(c.SetInput(kFirst, c.input(i), "the other parameter's"));
  }
  const PartialShape sample = c.input(kSample), first = c.input(kFirst);
  if (!sample.rank_known() || !first.rank_known()) return absl::OkStatus();
  const int vector = kVector ? 1 : 0, rank = first.rank();
  if (rank < vector || rank > sample.rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'sample' ", sample.ToString(), " does not fit parameters ",
                     first.ToString(), ": expected their extents, then those of a draw"));
  }
  PartialShape of_first = PartialShape::OfRank(rank);
  PartialShape of_sample = PartialShape::OfRank(sample.rank());
  for (int axis = 0; axis < rank - vector; ++axis) {
    of_first[axis] = sample[axis];
    of_sample[axis] = first[axis];
  }
  if (kVector) {
    of_first[rank - 1] = sample[sample.rank() - 1];
    of_sample[sample.rank() - 1] = first[rank - 1];
  }
  for (int i = kFirst; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, of_first, "the leading extents of sample"));
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kSample, of_sample, "(extents of the parameters, a draw)"));
  const PartialShape& known = c.input(kSample);
  if (kVector && known.rank() == 1) return c.SetOutput(0, {1}, "one vector");
  return c.SetOutput(0, PartialShape(known.dims().first(known.rank() - vector)), "sample's");
}

void Register(const char* name, const char* what, std::vector<std::string> parameters,
              OpSchema::ShapeFn shape) {
  std::vector<std::string> inputs = {"sample"};
  inputs.insert(inputs.end(), parameters.begin(), parameters.end());
  std::vector<std::string> backward_inputs = {"ograd"};
  backward_inputs.insert(backward_inputs.end(), inputs.begin(), inputs.end());
  const std::string backward = absl::StrCat("_backward_pdf_", name);
  OpRegistrar(
      OpBuilder(absl::StrCat("_random_pdf_", name))
          .Describe(absl::StrCat("The density of ", what, " at sample."))
          .Alias(absl::StrCat("random_pdf_", name))
          .Param<PdfParam>()
          .Inputs(std::move(inputs))
          .Shape(std::move(shape))
          .Type(SameType)
          .Gradient([backward](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
            COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
            std::vector<NodeEntry> inputs = {head};
            for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
            return c.Backward(backward, std::move(inputs));
          }));
  std::vector<std::string> outputs = {"sample"};
  outputs.insert(outputs.end(), parameters.begin(), parameters.end());
  OpRegistrar(OpBuilder(backward)
                  .Describe("Gradients of the density with respect to sample and parameters.")
                  .Param<PdfParam>()
                  .Inputs(std::move(backward_inputs))
                  .Outputs(std::move(outputs))
                  .Shape(GradientShape)
                  .Type(GradientType));
}

bool RegisterPdfs() {
  Register("uniform", "uniform distributions, everywhere", {"low", "high"}, PdfShape<false>);
  Register("normal", "normal distributions", {"mu", "sigma"}, PdfShape<false>);
  Register("gamma", "gamma distributions with shape alpha and rate beta", {"alpha", "beta"},
           PdfShape<false>);
  Register("exponential", "exponential distributions", {"lam"}, PdfShape<false>);
  Register("poisson", "Poisson's distributions", {"lam"}, PdfShape<false>);
  Register("negative_binomial", "negative binomial distributions", {"k", "p"}, PdfShape<false>);
  Register("generalized_negative_binomial",
           "negative binomial distributions, by mean and dispersion,", {"mu", "alpha"},
           PdfShape<false>);
  Register("dirichlet", "Dirichlet's distributions", {"alpha"}, PdfShape<true>);
  return true;
}

const bool kRegistered = RegisterPdfs();

COOPER_OP_EXAMPLE(_random_pdf_uniform, {}, {{2, 3}, {2}, {2}});
COOPER_OP_EXAMPLE(_random_pdf_normal, {}, {{2, 3}, {2}, {2}});
COOPER_OP_EXAMPLE(_random_pdf_gamma, {}, {{2, 3}, {2}, {2}});
COOPER_OP_EXAMPLE(_random_pdf_exponential, {}, {{2, 3}, {2}});
COOPER_OP_EXAMPLE(_random_pdf_poisson, {}, {{2, 3}, {2}});
COOPER_OP_EXAMPLE(_random_pdf_negative_binomial, {}, {{2, 3}, {2}, {2}});
COOPER_OP_EXAMPLE(_random_pdf_generalized_negative_binomial, {}, {{2, 3}, {2}, {2}});
COOPER_OP_EXAMPLE(_random_pdf_dirichlet, {}, {{2, 3, 4}, {2, 4}});

}  // namespace
}  // namespace cooper
