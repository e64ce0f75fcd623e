"""Products and convolutions of 32-bit floats run in kernels without tensor cores, on a GPU that has them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import kernel_shares
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.kernel_shares import name
from dlprof.analysis.findings.title import Title
from dlprof.analysis.kernels import Row
from dlprof.schema.vocabulary import Basis, Category, Ground
from dlprof.units import cut, duration

TITLE = Title("Tensor cores were not used", "products and convolutions without tensor cores")
_SHARE = 0.10
"""Share of the kernels' time."""
_GAIN = 0.5
"""Share of such kernels' time that tensor cores save, at least, where they are bound by computing."""
_HAVE = re.compile(
    r"V100|T4\b|Titan V|RTX|A10\b|A16\b|A30|A40|A100|A800|L4\b|L40|[HB][12348]00|H20\b|Quadro GV100|A[2456]000",
    re.IGNORECASE,
)
"""Names of GPUs that have tensor cores."""
_OF_ARCHITECTURES = re.compile(r"(volta|turing|ampere|ada|hopper|blackwell)_|_?sm(70|72|75|8\d|9\d|1\d\d)_")
_USED = re.compile(
    r"884|1688|16816|16832|hmma|imma|bmma|wgmma|gmma|mma_|tensorop|_wmma|tf32|bf16|nvjet|cutlass_\d+_tensor|h16816|i8816"
)
_PLAIN = re.compile(
    r"(?<![a-z])sgemm|scudnn|simt|_engine<float|implicit_convolve_sgemm|winograd\w*<float|conv2d_grouped_direct|"
    r"f32f32_f32f32_f32|convolve_common_engine_float"
)
_COMPUTING = (Category.MATMUL, Category.CONV, Category.RECURRENT)
_KERNELS = Query(
    "kernels of products and convolutions",
    "SELECT name, category, count(*) AS count, sum(dur_ns) AS total_ns FROM kernels WHERE kind = 'kernel' "
    "AND category IN ('matmul', 'conv', 'recurrent') GROUP BY ALL ORDER BY total_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Kernels by name: those of cuBLAS, cuDNN and CUTLASS say which instructions they use."""
    case.devices.need_devices()
    computing = [row for row in kernel_shares.of_devices(case) if row.category in _COMPUTING]
    if not computing:
        return
    _need_tensor_cores(case, computing)
    plain = kernel_shares.chosen(case, _is_plain)
    if plain.share < _SHARE:
        return
    yield Claim(
        Sentence(
            f"{100 * plain.share:.0f} % of the kernels' time ({duration(plain.ns)}) are products and convolutions of "
            f"32-bit floats without tensor cores, most of all {cut(name(plain.rows[0]), 60)}. With them, at a careful "
            "guess, it would save"
        ),
        plain.takes(case, _GAIN),
        [_KERNELS],
        "Compute in mixed precision (mixed_float16, mixed_bfloat16, torch.autocast), or allow TF32 from Ampere on "
        "(torch.set_float32_matmul_precision('high')); sizes that are multiples of 8.",
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, agree=plain.share),
    )


def _is_plain(row: Row) -> bool:
    return row.category in _COMPUTING and bool(_PLAIN.search(name(row))) and not _USED.search(name(row))


def _need_tensor_cores(case: Case, computing: list[Row]) -> None:
    """Abstain where the device has none, or is not known."""
    gpus = [case.run.manifest.gpu_name(time.number) for time in case.devices.times]
    if any(gpu and _HAVE.search(gpu) for gpu in gpus):
        return
    if any(_OF_ARCHITECTURES.search(name(row)) for row in computing):
        return
    known = ", ".join(sorted({gpu for gpu in gpus if gpu}))
    raise Abstain(f"whether {known or 'the GPU'} has tensor cores, and which kernels use them, is not known")
