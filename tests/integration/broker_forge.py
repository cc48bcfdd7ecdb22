"""Forks brokers: a helper process that has imported everything, so that a broker starts in milliseconds and can be
killed hard.

Reads lines ``DATA_DIR READY_FILE`` from standard input; for each it forks a broker on that directory and prints its
process id.
"""

from __future__ import annotations

import os
import signal
import sys

from pykclient.cli.main import main


def serve() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        data_dir, ready_file = line.split()
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os._exit(main(["broker", "--port", "0", "--data-dir", data_dir, "--ready-file", ready_file]))
        print(pid, flush=True)


if __name__ == "__main__":
    import pykclient.protocol.messages as messages

    for key in messages.ApiKey:
        messages.api(key).request_class()
    serve()
