"""An MLP that is compiled with one or the other option of `compile`.

Usage:

    python compiling.py --debuggable
    python compiling.py --no-jit
"""

import common


def main():
    """Train as Keras thinks best, step by step in Python, or without a just-in-time compiler."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--debuggable", action="store_true", help="let a debugger stop in the layers")
    parser.add_argument("--no-jit", action="store_true", help="start faster")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    options = {}
    if args.debuggable:
        options["run_eagerly"] = True
    if args.no_jit:
        options["jit_compile"] = False
    common.fit(common.mlp(args, **options), rows, labels, args)


if __name__ == "__main__":
    main()
