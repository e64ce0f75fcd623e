"""Examples of Lightning and of skorch: trainers on top of PyTorch."""

from __future__ import annotations

from tests.public.case import Case, Edit, Input, Loop, Source

_LIGHTNING = "7f0c3436cd3f6ad3753125672024fc415cbcb414"
_SKORCH = "5db0ddc962117a2c3a646910ecd2e70253ff8e87"
_DIGITS = "../../../Datasets/MNIST/raw"


def _lightning(path: str) -> Source:
    return Source("Lightning-AI/pytorch-lightning", _LIGHTNING, path)


CASES = (
    Case(
        "lightning-bug-report",
        "lightning",
        "torch",
        _lightning("examples/pytorch/bug_report/bug_report_model.py"),
        loops=(Loop("fit", 60, 3), Loop("evaluate", 30, None, 3), Loop("evaluate", 10, None, 1)),
        counted="20 of 32 batches, three times, each with 10 of a validation; 10 of a test",
        layers=("layer",),
        edits=(
            Edit("limit_train_batches=1", "limit_train_batches=20"),
            Edit("limit_val_batches=1", "limit_val_batches=10"),
            Edit("limit_test_batches=1", "limit_test_batches=10"),
            Edit("max_epochs=1", "max_epochs=3"),
            Edit("def run():\n", "def run():\n    torch.manual_seed(0)\n"),
        ),
        varies=(r"[\d.]+it/s", r"\d+:\d+", r"\r.*", r"version_\d+"),
    ),
    Case(
        "lightning-fabric",
        "lightning",
        "torch",
        _lightning("examples/fabric/image_classifier/train_fabric.py"),
        loops=(Loop("fit", 40, 2), Loop("evaluate", 8, None, 2)),
        counted="640 images by 32 are 20 steps, twice; 128 by 32 are 4 of a test, twice",
        layers=("conv1", "conv2", "fc1", "fc2"),
        inputs=(Input(_DIGITS, "idx", (640, 128)),),
        arguments=("--epochs", "2", "--batch-size", "32"),
    ),
    Case(
        "lightning-folds",
        "lightning",
        "torch",
        _lightning("examples/fabric/kfold_cv/train_fabric.py"),
        loops=(Loop("fit", 48, 6, 6), Loop("evaluate", 24, None, 6)),
        counted="384 images in 3 folds: 256 by 32 are 8 steps of a model, 128 by 32 are 4 of its test; three models, twice",
        layers=("conv1", "conv2", "fc1"),
        inputs=(Input(_DIGITS, "idx", (384, 10)),),
        arguments=("--epochs", "2", "--batch-size", "32", "--folds", "3"),
    ),
    Case(
        "skorch-mlp",
        "scikit-learn",
        "torch",
        Source("skorch-dev/skorch", _SKORCH, "examples/cli/train.py"),
        loops=(Loop("fit", 160, 5), Loop("evaluate", 40, None, 5)),
        counted="3200 of 4000 rows by 100 are 32 steps, five times; 800 by 100 are 8 of a validation, five times",
        layers=("sequential.0", "sequential.3"),
        arguments=("net", "--n_samples", "4000", "--max_epochs", "5", "--batch_size", "100"),
        varies=(r"(?m)\d\.\d{4} *$",),
    ),
)
