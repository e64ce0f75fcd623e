"""Sorts operators and kernels of all engines into categories, by their names."""

from __future__ import annotations

import re
from functools import cache

CATEGORIES = (
    "matmul", "conv", "recurrent", "normalisation", "elementwise", "reduction", "embedding", "optimiser", "random",
    "data movement", "transfer", "collective", "compile", "other",
)  # fmt: skip

_WORDS = (
    ("collective", r"nccl|rccl|all_?-?reduce|all_?-?gather|reduce_?-?scatter|all_?-?to_?-?all|c10d::|horovod"),
    ("collective", r"CollectiveReduce"),
    ("transfer", r"^\[?(cuda|hip)? ?mem(cpy|set)|MEMCPY(Hto|Dto)|HostFromGpu|GpuFromHost|copyBuffer|fillBuffer"),
    ("transfer", r"_Send$|_Recv$|copy-(start|done)$"),
    ("compile", r"^(XlaCompile|PjRt\w*::Compile|.*backend_compile)"),
    ("optimiser", r"(rmsprop|adam|sgd|adagrad|adadelta|ftrl|lamb|nag)\w*_update|Resource(Sparse)?Apply|^Apply[A-Z]"),
    ("optimiser", r"multi_tensor_apply|_fused_(adam|sgd)|Optimizer\.(step|zero_grad)|AccumulateGrad"),
    ("recurrent", r"lstm|gru_|_gru|\bgru\b|cudnn_?rnn|\brnn\b|RNN|elemWiseRNN"),
    ("random", r"random|philox|threefry|bernoulli|multinomial|\brng|_rng|uniform|dropout|curand|mrg|aten::normal"),
    (
        "conv",
        r"conv(?!ert)|winograd|im2col|im2d|col2im|(?<![a-z])[dw]grad|implicit_(gemm|convolve)|fprop|cudnn.*engine",
    ),
    ("normalisation", r"batch_?norm|layer_?norm|group_?norm|instance_?norm|rms_?norm|\bbn_|_bn_|bn_(fw|bw)|\blrn\b"),
    ("matmul", r"mat_?mul|gemm|gemv|\bdot|_dot|dot_general|addm[mv]|\bb?mm\b|::b?mm|baddbmm|linear\b|LinearBackward"),
    ("matmul", r"MmBackward|einsum|cutlass|^Cijk_|nvjet|FullyConnected|inner_product"),
    ("matmul", r"^(Transpose)?Times$|LinearFunction|LinearGrad"),
    ("elementwise", r"^(Plus|Minus|ElementTimes|Reciprocal)$"),
    ("data movement", r"^Reorder$"),
    ("embedding", r"embedding|gather|index_?select|lookup|\btake\b|_take|::index\b|one_?hot|scatter"),
    ("elementwise", r"broadcast_(add|sub|mul|div|equal|not_equal|greater|lesser|maximum|minimum|power|plus|minus)"),
    ("elementwise", r"BiasAdd|(add|multiply|subtract|divide|select|tanh|exp|maximum|compare)\w*_fusion"),
    ("reduction", r"reduce|\bsum\b|sum_|_sum|::sum|^sum|mean|arg_?max|arg_?min|soft_?max|log_?sum|cumsum|cumprod"),
    (
        "reduction",
        r"\bnorm\b|top_?k|sort|\ball\b|\bany\b|nll_loss|CrossEntropy|^Max$|^Min$|max_?pool|avg_?pool|pooling",
    ),
    ("data movement", r"transpose|reshape|copy|concat|slice|\bpad\b|^Pad|cast|convert|_to_copy|aten::to\b|expand|tile"),
    ("data movement", r"stack|split|empty|fill|zeros|ones|view|contiguous|identity|permute|as_strided|bitcast|squeeze"),
    ("data movement", r"shape|clone|detach|aten::t\b|^broadcast(_in_dim)?(\.\d+)?$|wrapped_broadcast|DimShuffle|Alloc"),
    ("data movement", r"iota|VariableOp|resolve_|lift_|BlockGrad|_Arg|_Retval|TBackward|SetValue|Const$"),
    ("data movement", r"aten::(set_|select|unbind|chunk|flatten|narrow|item)"),
    (
        "elementwise",
        r"add|mul|sub|div|relu|tanh|sigmoid|\bexp|log|sqrt|pow|neg|where|select|compare|equal|greater|less",
    ),
    ("elementwise", r"clip|clamp|elementwise|elemwise|activation|square|abs|leaky|gelu|silu|swish|maximum|minimum"),
    ("elementwise", r"threshold|loss|fusion|floor|ceil|round|sign|\b(le|ge|gt|lt|eq|ne)\b|_and|_or|_not|softplus|erf"),
    ("elementwise", r"pointwise"),
)
"""Words in names of operators and kernels, and the category they tell; the first that is found counts."""
_RULES = tuple((found, re.compile(words, re.IGNORECASE)) for found, words in _WORDS)


@cache
def category(op: str, name: str = "") -> str:
    """The category of an operator, or of a kernel whose operator is not known.

    Args:
        op: Type of the operator; may be empty.
        name: Name of the kernel, asked where the operator tells nothing.
    """
    for text in (op, name):
        plain = text.partition("\t")[0]
        for found, pattern in _RULES:
            if plain and pattern.search(plain):
                return found
    return "other"
