"""Uses what tools for Python use, as the argument names."""

import asyncio
import cProfile
import faulthandler
import io
import logging
import os
import pdb
import pstats
import sys
import threading
import time
import traceback
import tracemalloc
import unittest
import warnings


def target(n):
    total = 0
    for i in range(n):
        total += i
    return total


def traced_lines():
    hits = []

    def tracer(frame, event, arg):
        if frame.f_code.co_name == "target":
            hits.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return tracer

    sys.settrace(tracer)
    target(3)
    print(sys.gettrace() is tracer)
    sys.settrace(None)
    print(hits)


def profiled():
    profile = cProfile.Profile()
    profile.runcall(target, 3)
    out = io.StringIO()
    stats = pstats.Stats(profile, stream=out)
    print(sorted(key[2] for key in stats.stats))
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append((event, frame.f_code.co_name)))
    target(1)
    sys.setprofile(None)
    print(seen)


def thread_traced():
    seen = []
    threading.settrace(lambda frame, event, arg: seen.append(frame.f_code.co_name))
    thread = threading.Thread(target=target, args=(1,))
    thread.start()
    thread.join()
    threading.settrace(None)
    print("target" in seen)


def monitored():
    if not hasattr(sys, "monitoring"):
        print("no monitoring")
        return
    monitoring = sys.monitoring
    monitoring.use_tool_id(monitoring.COVERAGE_ID, "mine")
    lines = []
    monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, lambda code, line: lines.append(line - code.co_firstlineno))
    monitoring.set_local_events(monitoring.COVERAGE_ID, target.__code__, monitoring.events.LINE)
    target(2)
    monitoring.set_local_events(monitoring.COVERAGE_ID, target.__code__, 0)
    monitoring.free_tool_id(monitoring.COVERAGE_ID)
    print(lines, [monitoring.get_tool(n) for n in (0, 1, 3, 4)])


def debugged():
    debugger = pdb.Pdb(stdin=io.StringIO("next\nnext\np total\ncontinue\n"), stdout=sys.stdout)
    debugger.runcall(target, 1)


def allocations():
    tracemalloc.start(5)
    kept = [bytes(1000) for _ in range(100)]
    top = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__)]).statistics("lineno")
    print(len(kept), top[0].count >= 100, tracemalloc.get_traceback_limit())
    tracemalloc.stop()


def logs():
    logging.basicConfig(format="%(levelname)s %(name)s %(filename)s:%(lineno)d %(funcName)s %(threadName)s %(processName)s %(message)s")
    logging.warning("where")
    try:
        target(None)
    except TypeError:
        logging.exception("with a traceback")
    logging.getLogger("x").error("stack", stack_info=True)


def stacks():
    traceback.print_stack()
    faulthandler.dump_traceback(all_threads=False)
    try:
        target("x")
    except TypeError as error:
        print([frame.name for frame in traceback.extract_tb(error.__traceback__)])
        print(len(traceback.format_exception(type(error), error, error.__traceback__)))


def tested():
    class Case(unittest.TestCase):
        def test_good(self):
            self.assertEqual(target(3), 3)

        def test_warns(self):
            with self.assertWarns(UserWarning) as told:
                warnings.warn("x")
            self.assertEqual(told.filename, __file__)

        def test_logs(self):
            with self.assertLogs("a") as told:
                logging.getLogger("a").info("x")
            self.assertEqual(told.output, ["INFO:a:x"])

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Case)
    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    print(result.testsRun, result.failures, result.errors)


def loop():
    async def part(n):
        await asyncio.sleep(0.001 * n)
        return n

    async def main():
        print(sum(await asyncio.gather(*[part(n) for n in range(50)])))
        late = asyncio.ensure_future(part(5000))
        await asyncio.sleep(0)
        late.cancel()
        try:
            await late
        except asyncio.CancelledError:
            print("cancelled")
        process = await asyncio.create_subprocess_exec("sh", "-c", "exit 3")
        print(await process.wait())
        raise ValueError("from a task")

    asyncio.run(main())


def many_threads():
    total = []
    threads = [threading.Thread(target=lambda n=n: total.append(n)) for n in range(300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(total), threading.active_count())


def later():
    faulthandler.dump_traceback_later(60)
    faulthandler.cancel_dump_traceback_later()
    faulthandler.enable()
    print(faulthandler.is_enabled())


def command_line():
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("how")
    parser.add_argument("--epochs", type=int)
    parser.parse_args([*sys.argv[1:], "--epochs", "many"])


def console():
    import code

    code.interact(banner="hello", exitmsg="bye")


def pickled():
    import copyreg
    import pickle
    import shelve

    with shelve.open("shelf") as shelf:
        shelf["key"] = [1, 2]
    print(pickle.loads(pickle.dumps(target)) is target, copyreg.__name__)
    os.remove([name for name in os.listdir(".") if name.startswith("shelf")][0])


globals()[sys.argv[1]]()
