"""The OpenAI-compatible server: uvicorn in a thread of its own, over the one host.

::

    client ── HTTP ──▶ Guard ─▶ FastAPI ─▶ Desk (a place in the queue) ─▶ Bridge ══▶ Host   (another thread's loop)
                                   └─ ChatShape / CompletionShape ◀── events ◀═╝
"""
