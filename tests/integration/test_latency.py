"""A script that serves predictions: the latency of each call, from the threads of an http server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration


def test_calls_from_the_threads_of_a_server_have_percentiles(tmp_path: Path) -> None:
    """All of them count; the script's own threads and its answers are as bare."""
    runner.write(
        tmp_path,
        "serve.py",
        """
        import json, threading, urllib.request
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        import keras
        import numpy as np

        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                answer = model.predict(np.zeros((1, 4)), verbose=0)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(answer.tolist()).encode())

            def log_message(self, *rest):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d/" % server.server_port
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        answers = []

        def client():
            for _ in range(15):
                answers.append(opener.open(url).read())

        clients = [threading.Thread(target=client) for _ in range(2)]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        server.shutdown()
        print(len(answers), set(answers))
        """,
    )

    done = runner.trace("serve.py", "--backend", "torch", cwd=tmp_path)

    assert (done.code, done.out) == (0, "30 {b'[[0.0, 0.0, 0.0]]'}\n"), done.err
    (calls,) = runner.report(tmp_path)["calls"]
    assert (calls["name"], calls["file"], calls["count"]) == ("predict", "serve.py", 30)
    assert calls["threads"] > 1
    assert 0 < calls["p50_ns"] <= calls["p95_ns"] <= calls["max_ns"]
    assert calls["p99_ns"] is None
    assert "30 calls of predict" in runner.run([*runner.DLPROF, "report", "run"], cwd=tmp_path).out
