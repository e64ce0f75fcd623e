"""An MLP whose numbers are checked by the backend while it trains.

Usage:

    python checked.py --check
"""

import common
import workload


def check_numbers():
    """Let the backend look for what is not a number, in each operator."""
    if workload.backend() == "torch":
        import torch

        torch.autograd.set_detect_anomaly(True)
    elif workload.backend() == "jax":
        import jax

        jax.config.update("jax_debug_nans", True)
    else:
        import tensorflow as tf

        tf.debugging.enable_check_numerics()


def main():
    """Train, with or without checks."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="find out where a loss that is not a number comes from")
    args = common.parse(parser)
    if args.check:
        check_numbers()
    rows, labels = common.digits(args)
    compiling = {"jit_compile": False} if workload.backend() == "tensorflow" else {}
    common.fit(common.mlp(args, **compiling), rows, labels, args)


if __name__ == "__main__":
    main()
