#!/usr/bin/env python3
"""Computes the cases of operators that detect objects, and of _contrib_SyncBatchNorm, which detectors
are trained with, under MXNet 1.9.1: ops/OP/CASE as make_op_case.py writes them, whose environment it
needs. Boxes are drawn so that some overlap."""

import numpy

from make_op_case import OpSymbol, WriteCase

RANDOM = numpy.random.RandomState(3)


def Corners(*shape, low=-0.1, high=0.9, least=0.05, most=0.5):
    """Returns corners (*shape, 4): xmin, ymin, xmax, ymax."""
    first = RANDOM.uniform(low, high, shape + (2,))
    return numpy.concatenate([first, first + RANDOM.uniform(least, most, shape + (2,))], axis=-1)


def Rows(*shape, classes=3):
    """Returns rows (*shape, 6): a class from -1 on, a score in sixteenths, corners."""
    ids = RANDOM.randint(-1, classes, shape + (1,))
    scores = RANDOM.randint(0, 16, shape + (1,)) / 16
    return numpy.concatenate([ids, scores, Corners(*shape)], axis=-1)


def Labels(batch_size, labels, width=5, classes=3):
    """Returns labels (batch_size, labels, width): image i has i objects, followed by rows of -1."""
    ids = RANDOM.randint(0, classes, (batch_size, labels, 1))
    rest = RANDOM.uniform(0, 1, (batch_size, labels, width - 5))
    rows = numpy.concatenate([ids, Corners(batch_size, labels), rest], axis=-1)
    for image in range(batch_size):
        rows[image, image:] = -1
    return rows


def Rois(regions, batch_size):
    """Returns regions (regions, 5): sample, corners in pixels of an image of 16 by 16."""
    samples = RANDOM.randint(0, batch_size, (regions, 1))
    return numpy.concatenate([samples, Corners(regions, low=-2, high=12, least=0.2, most=9)], axis=-1)


def Write(op, case, values, attrs, backward=False, without_gradient=(), **options):
    shapes = {name: value if isinstance(value, tuple) else value.shape
              for name, value in values.items()}
    fixed = {name: value for name, value in values.items() if not isinstance(value, tuple)}
    grad_req = options.pop("grad_req", "write") if backward else "null"
    WriteCase(OpSymbol(op, shapes, attrs), shapes, op, case, grad_req=grad_req,
              without_gradient=without_gradient, values=fixed, **options)


def main():
    prior = "_contrib_MultiBoxPrior"
    Write(prior, "default", {"data": (2, 3, 4, 5)}, {})
    Write(prior, "sizes", {"data": (1, 3, 3, 7)},
          {"sizes": "(0.2, 0.35, 0.9)", "ratios": "(1, 2, 0.5)", "clip": "True"})
    Write(prior, "steps", {"data": (1, 1, 2, 3)},
          {"sizes": "(0.5,)", "ratios": "(3, 0.3)", "steps": "(0.3, 0.4)", "offsets": "(0, 1)"})

    target = "_contrib_MultiBoxTarget"

    def Target(case, attrs, width=5, **options):
        Write(target, case, {"anchor": Corners(1, 40), "label": Labels(4, 5, width),
                             "cls_pred": RANDOM.uniform(-2, 2, (4, 4, 40))}, attrs, **options)

    Target("default", {})
    Target("wide_labels", {"overlap_threshold": "0.3", "variances": "(1, 2, 3, 4)"}, width=7)
    Target("mining", {"negative_mining_ratio": "3", "negative_mining_thresh": "0.4",
                      "ignore_label": "-2"})
    Target("mining_of_all", {"negative_mining_ratio": "50", "negative_mining_thresh": "2"})
    Target("best_anchors_alone", {"overlap_threshold": "0"})

    detection = "_contrib_MultiBoxDetection"

    def Detection(case, attrs, **options):
        scores = numpy.exp(RANDOM.uniform(-2, 2, (2, 4, 30)))
        Write(detection, case, {"cls_prob": scores / scores.sum(axis=1, keepdims=True),
                                "loc_pred": RANDOM.uniform(-1, 1, (2, 120)),
                                "anchor": Corners(1, 30)}, attrs, **options)

    Detection("default", {})
    Detection("threshold", {"threshold": "0.45", "clip": "False"})
    Detection("topk", {"nms_topk": "7", "nms_threshold": "0.2"})
    Detection("force_suppress", {"force_suppress": "True", "nms_threshold": "0.1"})
    Detection("without_suppression", {"nms_threshold": "-1", "variances": "(1, 1, 0.5, 0.5)"})

    nms = "_contrib_box_nms"
    Write(nms, "default", {"data": Rows(2, 20)}, {}, backward=True)
    Write(nms, "classes", {"data": Rows(20)},
          {"id_index": "0", "background_id": "1", "overlap_thresh": "0.2"}, backward=True)
    Write(nms, "force_suppress", {"data": Rows(2, 2, 12)},
          {"id_index": "0", "force_suppress": "True", "overlap_thresh": "0.2"}, backward=True)
    Write(nms, "topk", {"data": Rows(3, 15)},
          {"topk": "5", "valid_thresh": "0.2", "overlap_thresh": "0.3"}, backward=True)
    Write(nms, "topk_of_none", {"data": Rows(2, 6)}, {"topk": "0", "out_format": "center"})
    Write(nms, "nothing_valid", {"data": Rows(2, 6)}, {"valid_thresh": "2"}, backward=True)
    Write(nms, "to_center", {"data": Rows(2, 12)}, {"out_format": "center"}, backward=True)
    Write(nms, "from_center", {"data": Rows(2, 12)},
          {"in_format": "center", "overlap_thresh": "0.1"}, backward=True)
    Write(nms, "columns", {"data": Rows(2, 12)[..., [2, 3, 4, 5, 1, 0, 1]]},
          {"coord_start": "0", "score_index": "4", "id_index": "5"}, dtype="float64")

    iou = "_contrib_box_iou"
    Write(iou, "corner", {"lhs": Corners(2, 5), "rhs": Corners(7)}, {})
    Write(iou, "center", {"lhs": Corners(5), "rhs": Corners(2, 3)}, {"format": "center"})
    Write(iou, "turned_around", {"lhs": Corners(5, least=-0.3), "rhs": Corners(4, least=-0.3)}, {})

    align = "_contrib_ROIAlign"

    def Align(case, attrs, channels=3, **options):
        Write(align, case, {"data": (2, channels, 16, 16), "rois": Rois(6, 2)}, attrs,
              backward=True, without_gradient=["rois"], **options)

    Align("default", {"pooled_size": "(3, 2)", "spatial_scale": "1"})
    Align("scaled", {"pooled_size": "(2, 2)", "spatial_scale": "0.5", "sample_ratio": "2"},
          grad_req="add")
    Align("aligned", {"pooled_size": "(2, 3)", "spatial_scale": "0.7", "aligned": "True"})
    Align("position_sensitive",
          {"pooled_size": "(2, 3)", "spatial_scale": "1", "position_sensitive": "True"}, channels=12)
    Align("float64", {"pooled_size": "(7, 7)", "spatial_scale": "0.9"}, dtype="float64")

    sync = "_contrib_SyncBatchNorm"

    def Sync(case, attrs, data=(3, 4, 5, 2), **options):
        values = {"data": data, "gamma": (4,), "beta": (4,), "moving_mean": (4,),
                  "moving_var": RANDOM.uniform(0.5, 1.5, (4,))}
        Write(sync, case, values, dict(attrs, key="layer0_"), **options)

    Sync("fixed_gamma", {}, backward=True)
    Sync("gamma", {"fix_gamma": "False", "eps": "0.01", "momentum": "0.7", "ndev": "1"},
         backward=True)
    Sync("global_stats", {"fix_gamma": "False", "use_global_stats": "True"}, data=(5, 4),
         backward=True)
    Sync("predict", {"fix_gamma": "False", "ndev": "8"})

    psroi = "_contrib_PSROIPooling"

    def Psroi(case, attrs, channels=18, **options):
        Write(psroi, case, {"data": (2, channels, 16, 16), "rois": Rois(6, 2)},
              dict({"spatial_scale": "1", "output_dim": "2", "pooled_size": "3"}, **attrs),
              backward=True, **options)

    Psroi("default", {})
    Psroi("scaled", {"spatial_scale": "0.6"}, grad_req="add", without_gradient=["rois"])
    Psroi("groups", {"group_size": "2", "output_dim": "4"}, channels=17)
    Psroi("one_group", {"group_size": "1", "pooled_size": "7"}, channels=2, dtype="float64")

    deformable = "_contrib_DeformablePSROIPooling"

    def Deformable(case, attrs, trans=None, channels=8, **options):
        values = {"data": (2, channels, 16, 16), "rois": Rois(6, 2)}
        if trans:
            values["trans"] = trans
        Write(deformable, case, values,
              dict({"spatial_scale": "1", "output_dim": "2", "group_size": "2", "pooled_size": "2"},
                   **attrs), backward=True, **options)

    Deformable("default", {}, (6, 2, 2, 2))
    Deformable("shifted", {"trans_std": "0.4", "sample_per_part": "3", "spatial_scale": "0.7"},
               (6, 2, 2, 2))
    Deformable("classes", {"trans_std": "0.2", "sample_per_part": "2", "output_dim": "4",
                           "group_size": "1", "pooled_size": "3", "part_size": "2"},
               (6, 4, 2, 2), channels=5, grad_req="add", without_gradient=["rois"])
    Deformable("many_points", {"trans_std": "1", "sample_per_part": "9"}, (6, 2, 2, 2),
               dtype="float64")
    Deformable("no_trans", {"no_trans": "True", "sample_per_part": "2"})

    def Proposal(op, case, attrs, batch_size=1, anchors=4, size=(6, 8), info=None, **options):
        scores = RANDOM.uniform(0, 1, (batch_size, 2 * anchors) + size)
        boxes = RANDOM.uniform(-0.5, 0.5, (batch_size, 4 * anchors) + size)
        info = numpy.array(info or [[96, 128, 1.5]] * batch_size)
        attrs = dict({"scales": "(2, 4)", "ratios": "(0.5, 2)", "rpn_post_nms_top_n": "20",
                      "rpn_min_size": "8"}, **attrs)
        Write(op, case, {"cls_prob": scores, "bbox_pred": boxes, "im_info": info}, attrs, **options)

    proposal, multi_proposal = "_contrib_Proposal", "_contrib_MultiProposal"
    Proposal(proposal, "default", {})
    Proposal(proposal, "score", {"output_score": "True", "rpn_pre_nms_top_n": "50",
                                 "threshold": "0.5"})
    Proposal(proposal, "repeated", {"threshold": "0.05", "rpn_pre_nms_top_n": "0"})
    Proposal(proposal, "small_image", {"output_score": "True", "rpn_min_size": "30"},
             info=[[60, 70, 1]])
    Proposal(proposal, "iou_loss", {"iou_loss": "True", "ratios": "(1,)", "feature_stride": "8"},
             anchors=2, info=[[48, 64, 1]])
    Proposal(proposal, "gradient", {"output_score": "True"}, size=(3, 2), info=[[48, 32, 1]],
             backward=True)
    Proposal(multi_proposal, "default", {}, batch_size=2)
    Proposal(multi_proposal, "score", {"output_score": "True", "rpn_pre_nms_top_n": "40",
                                       "threshold": "0.3"},
             batch_size=3, info=[[96, 128, 1], [64, 128, 2], [96, 50, 0.5]])
    Proposal(multi_proposal, "iou_loss", {"iou_loss": "True", "output_score": "True"},
             batch_size=2)

    encode, decode = "_contrib_box_encode", "_contrib_box_decode"

    def Encode(case, batch_size=2, anchors=7, references=3, **options):
        Write(encode, case,
              {"samples": RANDOM.randint(-1, 2, (batch_size, anchors)),
               "matches": RANDOM.randint(0, references, (batch_size, anchors)),
               "anchors": Corners(batch_size, anchors), "refs": Corners(batch_size, references),
               "means": numpy.array([0, 0.1, -0.2, 0]), "stds": numpy.array([0.1, 0.1, 0.2, 0.5])},
              {}, **options)

    Encode("default")
    Encode("gradient", references=1, backward=True)
    Encode("float64", batch_size=3, anchors=1, dtype="float64")

    def Decode(case, attrs, anchors=None, **options):
        anchors = Corners(1, 9) if anchors is None else anchors
        Write(decode, case, {"data": (3, 9, 4), "anchors": anchors}, attrs, **options)

    Decode("default", {})
    Decode("corner", {"format": "corner", "std0": "0.1", "std1": "0.2", "std2": "2", "std3": "3"})
    Decode("clip", {"clip": "0.4", "std2": "2", "std3": "2"}, backward=True)
    Decode("corner_clip", {"format": "corner", "clip": "0.1"}, dtype="float64")

    matching = "_contrib_bipartite_matching"

    def Matching(case, attrs, shape=(2, 6, 4), **options):
        # Sixteenths, so that some scores are equal.
        Write(matching, case, {"data": RANDOM.randint(0, 16, shape) / 16}, attrs, **options)

    Matching("default", {"threshold": "0.1"})
    Matching("high_threshold", {"threshold": "0.8"}, shape=(5, 5), backward=True)
    Matching("ascending", {"threshold": "0.5", "is_ascend": "True"}, shape=(2, 2, 3, 5))
    Matching("topk", {"threshold": "0.01", "topk": "2"}, shape=(3, 6, 6))
    Matching("float64", {"threshold": "0.3"}, shape=(1, 20, 7), dtype="float64")


if __name__ == "__main__":
    main()
