"""Slipstream: chat with GGUF models on this machine, sped up by speculation that is measured."""

from importlib import metadata

try:
    __version__ = metadata.version("slipstream-chat")
except metadata.PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0.0.0"
