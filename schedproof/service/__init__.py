"""The service: sessions that check records as they come, over HTTP or JSON-RPC.

``opening`` and ``checking`` are what a session's own process does; ``nursery`` starts and ends such processes;
``session`` and ``sessions`` are the server's side of them. ``web`` (with ``gate``, ``shapes``, ``listening``) speaks
HTTP, ``rpc`` (with ``stdio``) JSON-RPC. Only the modules of HTTP need fastapi and uvicorn.
"""
