"""An MLP, in a script that asks for a package of helpers or does without it.

Usage:

    python helpers.py --helpers
"""

import sys

if "--helpers" in sys.argv:
    import heavy_imports
else:
    heavy_imports = None

import common


def main():
    """Train; of the helpers only their names are used."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--helpers", action="store_true", help="load the helpers, too")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    common.fit(common.mlp(args), rows, labels, args)
    if heavy_imports:
        print("helpers: %s" % ", ".join(heavy_imports.__all__))


if __name__ == "__main__":
    main()
