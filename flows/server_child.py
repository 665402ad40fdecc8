"""The child of flows/server.py: a Prefect API on a loopback port, which it prints; ends when its standard input closes.

Without a word on the command line it is only the API, on a free port. With a port it is a whole Prefect server there: the
services that schedule runs and mark late ones, too, and the UI. A port that is taken gets no line.
"""

import os
import signal
import socket
import sys
import threading


def main() -> None:
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError:
        return
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import uvicorn
    from prefect.server.api.server import create_app

    app = create_app(ephemeral=not port, final=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on")).run(sockets=[listener])


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(3)
    os._exit(1)


if __name__ == "__main__":
    main()
