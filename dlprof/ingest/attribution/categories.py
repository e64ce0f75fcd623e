"""Sorts operators and kernels of all engines into categories, by their names."""

from __future__ import annotations

import re
from functools import cache

from dlprof.schema.vocabulary import Category, Direction, EventKind

_WORDS = (
    (Category.COLLECTIVE, r"nccl|rccl|all_?-?reduce|all_?-?gather|reduce_?-?scatter|all_?-?to_?-?all|c10d::|horovod"),
    (Category.COLLECTIVE, r"CollectiveReduce|collective-?(permute|broadcast)|oneccl|hccl"),
    (
        Category.COLLECTIVE,
        r"^(MPI_|GLOO_|CCL_|HOROVOD_)|(?-i:^(BROADCAST|ALLTOALL|REDUCESCATTER|ADASUM|JOIN|BARRIER)$)",
    ),
    (Category.TRANSFER, r"^\[?(cuda|hip)? ?mem(cpy|set)|MEMCPY(Hto|Dto)|HostFromGpu|GpuFromHost|copyBuffer|fillBuffer"),
    (Category.TRANSFER, r"_Send$|_Recv$|copy-(start|done)$|^(infeed|outfeed)|^host (send|recv)"),
    (Category.COMPILE, r"^(XlaCompile|PjRt\w*::Compile|.*backend_compile)"),
    (
        Category.OPTIMISER,
        r"(rmsprop|adam|sgd|adagrad|adadelta|ftrl|lamb|nag)\w*_update|Resource(Sparse)?Apply|^Apply[A-Z]",
    ),
    (Category.OPTIMISER, r"multi_tensor_apply|_fused_(adam|sgd)|Optimizer\.(step|zero_grad)|AccumulateGrad"),
    (Category.RECURRENT, r"lstm|gru_|_gru|\bgru\b|cudnn_?rnn|\brnn\b|RNN|elemWiseRNN"),
    (
        Category.RANDOM,
        r"random|philox|threefry|bernoulli|multinomial|\brng|_rng|uniform|dropout|curand|mrg|aten::normal",
    ),
    (
        Category.CONV,
        r"conv(?!ert)|winograd|im2col|im2d|col2im|(?<![a-z])[dw]grad|implicit_(gemm|convolve)|fprop|cudnn.*engine",
    ),
    (
        Category.NORMALISATION,
        r"batch_?norm|layer_?norm|group_?norm|instance_?norm|rms_?norm|\bbn_|_bn_|bn_(fw|bw)|\blrn\b",
    ),
    (
        Category.MATMUL,
        r"mat_?mul|gemm|gemv|\bdot|_dot|dot_general|addm[mv]|\bb?mm\b|::b?mm|baddbmm|linear\b|LinearBackward",
    ),
    (Category.MATMUL, r"MmBackward|einsum|cutlass|^Cijk_|nvjet|FullyConnected|inner_product"),
    (Category.MATMUL, r"^(Transpose)?Times$|LinearFunction|LinearGrad"),
    (Category.ELEMENTWISE, r"^(Plus|Minus|ElementTimes|Reciprocal)$"),
    (Category.DATA_MOVEMENT, r"^Reorder$"),
    (Category.EMBEDDING, r"embedding|gather|index_?select|lookup|\btake\b|_take|::index\b|one_?hot|scatter"),
    (
        Category.ELEMENTWISE,
        r"broadcast_(add|sub|mul|div|equal|not_equal|greater|lesser|maximum|minimum|power|plus|minus)",
    ),
    (Category.ELEMENTWISE, r"BiasAdd|(add|multiply|subtract|divide|select|tanh|exp|maximum|compare)\w*_fusion"),
    (
        Category.REDUCTION,
        r"reduce|\bsum\b|sum_|_sum|::sum|^sum|mean|arg_?max|arg_?min|soft_?max|log_?sum|cumsum|cumprod",
    ),
    (
        Category.REDUCTION,
        r"\bnorm\b|top_?k|sort|\ball\b|\bany\b|nll_loss|CrossEntropy|^Max$|^Min$|max_?pool|avg_?pool|pooling",
    ),
    (
        Category.DATA_MOVEMENT,
        r"transpose|reshape|copy|concat|slice|\bpad\b|^Pad|cast|convert|_to_copy|aten::to\b|expand|tile",
    ),
    (
        Category.DATA_MOVEMENT,
        r"stack|split|empty|fill|zeros|ones|view|contiguous|identity|permute|as_strided|bitcast|squeeze",
    ),
    (
        Category.DATA_MOVEMENT,
        r"shape|clone|detach|aten::t\b|^broadcast(_in_dim)?(\.\d+)?$|wrapped_broadcast|DimShuffle|Alloc",
    ),
    (Category.DATA_MOVEMENT, r"iota|VariableOp|resolve_|lift_|BlockGrad|_Arg|_Retval|TBackward|SetValue|Const$"),
    (Category.DATA_MOVEMENT, r"data formatting"),
    (Category.DATA_MOVEMENT, r"aten::(set_|select|unbind|chunk|flatten|narrow|item)"),
    (
        Category.ELEMENTWISE,
        r"add|mul|sub|div|relu|tanh|sigmoid|\bexp|log|sqrt|pow|neg|where|select|compare|equal|greater|less",
    ),
    (
        Category.ELEMENTWISE,
        r"clip|clamp|elementwise|elemwise|activation|square|abs|leaky|gelu|silu|swish|maximum|minimum",
    ),
    (
        Category.ELEMENTWISE,
        r"threshold|loss|fusion|floor|ceil|round|sign|\b(le|ge|gt|lt|eq|ne)\b|_and|_or|_not|softplus|erf",
    ),
    (Category.ELEMENTWISE, r"pointwise"),
)
"""Words in names of operators and kernels, and the category they tell; the first that is found counts."""
_UNTOLD = re.compile(r"\.py:\d+\)?$|\(<[^()]*>:\d+\)$|^\{(built-in )?method |^_*(ynn|xnn|onednn)_fusion")
"""Names that do not say what is done: of Python functions, as tracers write them; of what a library does for XLA."""
_RULES = tuple((found, re.compile(words, re.IGNORECASE)) for found, words in _WORDS)


@cache
def category(op: str, name: str = "") -> Category:
    """The category of an operator, or of a kernel whose operator is not known.

    Args:
        op: Type of the operator; may be empty.
        name: Name of the kernel, asked where the operator tells nothing.
    """
    for text in (op, name):
        plain = text.partition("\t")[0]
        if _UNTOLD.search(plain):
            continue
        for sort, pattern in _RULES:
            if plain and pattern.search(plain):
                return sort
    return Category.OTHER


_COMPUTES = (EventKind.OPERATOR, EventKind.KERNEL)


def category_of_event(kind: EventKind, op: str | None, name: str, direction: Direction | None) -> Category:
    """The category of an event; what updates weights is the optimiser's, whatever it is called."""
    if kind is EventKind.TRANSFER:
        return Category.TRANSFER
    if kind not in _COMPUTES:
        return Category.OTHER
    sort = category(op or "")
    if sort is Category.OTHER:
        sort = category(name)
    if direction is Direction.UPDATE and sort not in (Category.TRANSFER, Category.COLLECTIVE):
        return Category.OPTIMISER
    return sort
