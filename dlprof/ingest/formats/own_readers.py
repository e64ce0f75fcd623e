"""The readers that come with dlprof, in the order in which they are asked."""

from __future__ import annotations

from dlprof.ingest.formats import (
    chainer,
    chrome_formats,
    cntk,
    kineto,
    mxnet,
    nvidia_smi,
    nvprof_text,
    openvino,
    tf1_steps,
    tf1_timeline,
    theano_profile,
    xspace,
)
from dlprof.ingest.formats import line_profiler as line_profiler_files
from dlprof.ingest.formats import pyspy as pyspy_files
from dlprof.ingest.formats.registry import Reader
from dlprof.ingest.parse import cuda_sqlite

READERS = (
    Reader("nsys", "Nsight Systems, exported to SQLite", cuda_sqlite.claims_nsys, cuda_sqlite.read_nsys),
    Reader("nvprof", "nvprof's own file (nvprof -o)", cuda_sqlite.claims_nvprof, cuda_sqlite.read_nvprof),
    Reader("nvprof-text", "nvprof's text and CSV output", nvprof_text.claims, nvprof_text.read),
    Reader("theano-profile", "Theano's profile (text)", theano_profile.claims, theano_profile.read),
    Reader("line-profiler", "line_profiler (text, .lprof)", line_profiler_files.claims, line_profiler_files.read),
    Reader("nvidia-smi", "nvidia-smi --query-gpu (CSV)", nvidia_smi.claims, nvidia_smi.read),
    Reader("py-spy", "py-spy (raw, speedscope, chrometrace)", pyspy_files.claims, pyspy_files.read),
    Reader("tf1-timeline", "timeline of TensorFlow 1 (JSON)", chrome_formats.claims_tf1, tf1_timeline.read),
    Reader("tf1-steps", "RunMetadata of TensorFlow 1 (protobuf)", tf1_steps.claims, tf1_steps.read),
    Reader("cntk", "CNTK's profiler (JSON)", chrome_formats.claims_cntk, cntk.read),
    Reader("chainer", "dlprof's own of Chainer (JSON)", chrome_formats.claims_chainer, chainer.read),
    Reader("openvino", "dlprof's own of OpenVINO (JSON)", openvino.claims, openvino.read),
    Reader("mxnet", "MXNet's profiler (JSON)", chrome_formats.claims_mxnet, mxnet.read),
    Reader("kineto", "torch.profiler (JSON, also .gz)", chrome_formats.claims_kineto, kineto.read),
    Reader("xspace", "TensorFlow or JAX profiler (.xplane.pb)", xspace.claims, xspace.read),
    Reader("chrome", "any other trace in Chrome's format", chrome_formats.claims_any, chrome_formats.read_any),
)
