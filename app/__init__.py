"""Slipstream: chat with GGUF models on this machine, sped up by speculation that is measured."""


def __getattr__(name: str) -> str:
    """Find the version when it is first asked for: reading it takes a tenth of the time to the first paint."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import metadata

    try:
        return metadata.version("slipstream-chat")
    except metadata.PackageNotFoundError:  # a source tree that was never installed
        return "0.0.0"
