"""Examples of PyTorch."""

from __future__ import annotations

from tests.public.case import Case, Edit, Input, Loop, Source

PACKAGES = (
    "torch==2.14.1",
    "torchvision==0.29.1",
    "lightning==2.6.6",
    "accelerate==1.15.0",
    "transformers==5.23.0",
    "datasets==5.2.0",
    "evaluate==0.4.6",
    "skorch==1.4.0",
    "scikit-learn==1.9.1",
    "fire",
    "matplotlib",
    "numpydoc",
)

_COMMIT = "77f55b912142e11fcfdf5b530231fb9c52f181e8"
_DIGITS = "../data/MNIST/raw"


def _source(path: str, *also: str) -> Source:
    return Source("pytorch/examples", _COMMIT, path, also)


CASES = (
    Case(
        "torch-mnist",
        "torch",
        "torch",
        _source("mnist/main.py"),
        loops=(Loop("fit", 40, 2), Loop("evaluate", 4, None, 2)),
        counted="1280 images by 64 are 20 steps, twice; 500 by 250 are 2 of a test, twice",
        layers=("conv1", "conv2", "fc1", "fc2"),
        inputs=(Input(_DIGITS, "idx", (1280, 500)),),
        arguments=("--epochs", "2", "--test-batch-size", "250"),
    ),
    Case(
        "torch-vae",
        "torch",
        "torch",
        _source("vae/main.py"),
        loops=(Loop("fit", 80, 2), Loop("evaluate", 8, None, 2)),
        counted="5120 images by 128 are 40 steps, twice; 512 by 128 are 4 of a test, twice",
        layers=("fc1", "fc21", "fc22", "fc3", "fc4"),
        inputs=(Input(_DIGITS, "idx", (5120, 512)),),
        arguments=("--epochs", "2"),
        folders=("results",),
    ),
    Case(
        "torch-mnist-rnn",
        "torch",
        "torch",
        _source("mnist_rnn/main.py"),
        loops=(Loop("fit", 80, 2), Loop("evaluate", 2, None, 2)),
        counted="2560 images by 64 are 40 steps, twice; 500 by 1000 are 1 of a test, twice",
        layers=("rnn", "batchnorm", "fc1"),
        inputs=(Input(_DIGITS, "idx", (2560, 500)),),
        arguments=("--epochs", "2"),
    ),
    Case(
        "torch-siamese",
        "torch",
        "torch",
        _source("siamese_network/main.py"),
        loops=(Loop("fit", 10, 2), Loop("evaluate", 2, None, 2)),
        counted="320 pairs by 64 are 5 steps, twice; 100 by 1000 are 1 of a test, twice",
        layers=("fc.0", "fc.2"),
        edits=(Edit("torch.manual_seed(args.seed)", "torch.manual_seed(args.seed), random.seed(0)"),),
        inputs=(Input(_DIGITS, "idx", (320, 100)),),
        arguments=("--epochs", "2"),
    ),
    Case(
        "torch-forward-forward",
        "torch",
        "torch",
        _source("mnist_forward_forward/main.py"),
        loops=(Loop("fit", 120, 2, 2),),
        counted="60 updates of each of two layers: two trainings, by optimisers of their own, one after the other",
        varies=(r"(Loss|error): .*",),  # no two runs are alike
        script_percent=40.0,
        because="it tests behind its loop, in one call without a loader",
        inputs=(Input("data/MNIST/raw", "idx", (200, 100)),),
        arguments=("--epochs", "60", "--train_size", "200", "--test_size", "100", "--save_model"),
    ),
    Case(
        "torch-dcgan",
        "torch",
        "torch",
        _source("dcgan/main.py"),
        loops=(Loop("fit", 20, 2),),
        counted="1000 made-up images by 100 are 10 steps of both optimisers, twice",
        layers=("netD.main.0", "netG.main.0"),
        arguments=(
            "--dataset",
            "fake",
            "--niter",
            "2",
            "--batchSize",
            "100",
            "--imageSize",
            "64",
            "--ngf",
            "8",
            "--ndf",
            "8",
            "--manualSeed",
            "1",
            "--workers",
            "0",
        ),
    ),
    Case(
        "torch-language-model",
        "torch",
        "torch",
        _source("word_language_model/main.py", "word_language_model/data.py", "word_language_model/model.py"),
        loops=(Loop("fit", 38, 2), Loop("evaluate", 2, None, 2)),
        counted="599 lines of 20 words and one of 300, each with an end: 12880, in 20 columns of 644; by 35 are 19 steps, twice;"
        " a test without a loader, twice, each at once",
        layers=("encoder", "rnn", "decoder"),
        inputs=tuple(
            Input(f"data/wikitext-2/{name}.txt", "words", (lines, 20, 300))
            for name, lines in (("train", 600), ("valid", 30), ("test", 30))
        ),
        arguments=("--epochs", "2", "--use-optimizer", "--lr", "0.001", "--nhid", "64", "--emsize", "64"),
        varies=(r"ms/batch +[\d.]+", r"time: +[\d.]+s"),
    ),
    Case(
        "torch-sine-waves",
        "torch",
        "torch",
        _source("time_sequence_prediction/train.py"),
        loops=(Loop("fit", 2, 1),),
        counted="two calls of LBFGS; each is one update, however often it asks for the loss: too few for a window of kernels",
        edits=(Edit("torch.load('traindata.pt')", "np.load('traindata.npy')"),),
        inputs=(Input("traindata.npy", "waves", (12, 200)),),
        arguments=("--steps", "2"),
    ),
)
