"""The service: sessions that check records as they arrive, over HTTP or JSON-RPC.

``opening`` and ``checking`` run in a session's own process; ``nursery`` starts and ends such processes. ``session`` and
``sessions`` are the server's side of them. ``web`` (with ``gate``, ``shapes``, ``listening``) serves HTTP, ``rpc``
(with ``stdio``) JSON-RPC. Only the modules for HTTP need fastapi and uvicorn.
"""
