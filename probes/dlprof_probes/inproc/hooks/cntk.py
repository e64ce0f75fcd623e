"""CNTK: its version, and which nodes of the graph each layer of Keras made."""

import json
import os
import weakref


def ready(modules):
    """Whether CNTK is loaded to its end."""
    return hasattr(modules["cntk"], "Trainer") and hasattr(modules["cntk"], "__version__")


def attach(probe, module):
    """Note the version, and hook what compiles: CNTK compiles a network when its first minibatch runs."""
    probe.recorder.meta({"engine": "cntk", "engine_version": str(module.__version__)})
    seen = weakref.WeakSet()

    def first(args):
        if args[0] in seen:
            return False
        seen.add(args[0])
        return True

    probe.graph_compile(
        module.Trainer, "train_minibatch", lambda _args: "first minibatch of a trainer", in_loops=True, when=first
    )


def watch_layers(probe, layer):
    """Remember which nodes each layer made, for the traces."""
    if probe.windows.folder is None:
        return
    nodes = Nodes(probe.windows.folder)
    probe.windows.use("cntk", nodes)
    hook = probe.guard(lambda result, args: nodes.called(args[0], result))
    probe.replace(layer, "__call__", lambda f: probe.wrappers.after(f, hook), again=True)


class Nodes(object):
    """Names of nodes by layer. A node belongs to the first layer that was called and leads from it."""

    def __init__(self, folder):
        self._folder = folder
        self._owner = {}

    def called(self, layer, result):
        """A layer was called on symbols: the nodes behind its result that are new are its own."""
        waiting = list(result) if isinstance(result, (list, tuple)) else [result]
        while waiting:
            node = waiting.pop()
            node = getattr(node, "owner", node)  # of a variable, what made it
            uid = getattr(node, "uid", None)
            if uid is None or uid in self._owner:
                continue
            self._owner[uid] = layer.name
            if getattr(node, "is_composite", False):
                waiting.append(node.root_function)
            elif getattr(node, "is_block", False):
                waiting.append(node.block_root)
            waiting.extend(one for one in getattr(node, "inputs", ()) if one.is_output)

    def named(self, root):
        """A model without Keras: a node that has a name owns those behind it, up to the next ones that have."""
        waiting, seen = [(root, None)], set()
        while waiting:
            node, owner = waiting.pop()
            node = getattr(node, "owner", node)
            uid = getattr(node, "uid", None)
            if uid is None or uid in seen:
                continue
            seen.add(uid)
            owner = getattr(node, "name", None) or owner
            if owner:
                self._owner.setdefault(uid, owner)
            if getattr(node, "is_composite", False):
                waiting.append((node.root_function, owner))
            elif getattr(node, "is_block", False):
                waiting.append((node.block_root, owner))
            waiting.extend((one, owner) for one in getattr(node, "inputs", ()) if one.is_output)
        return sorted(set(self._owner.values()))

    def write(self):
        """Write what is known so far, beside the windows."""
        with open(os.path.join(self._folder, "cntk-nodes.json"), "w") as target:
            json.dump({"owner": self._owner}, target)
