"""Announce a version: make a key once, then sign what programs are told that look for a newer one.

    python packaging/announce.py --new-key FILE          writes the private key, prints the public one (--update-key)
    python packaging/announce.py --key FILE --page URL [--notes TEXT] > newest.json      what --update-feed serves

The private key is never part of a bundle or of this repository; keep it where only the person who releases can read it.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from pathlib import Path

from bundle.project import version
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def new_key(place: Path) -> str:
    """Write a new private key, readable by its owner alone; return the public one in base64.

    Raises:
        FileExistsError: there is one already; it is not replaced.
    """
    private = Ed25519PrivateKey.generate()
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(base64.b64encode(private.private_bytes_raw()) + b"\n")
    return base64.b64encode(private.public_key().public_bytes_raw()).decode()


def signed(place: Path, page: str, notes: str) -> str:
    """Return the signed announcement of the project's version."""
    private = Ed25519PrivateKey.from_private_bytes(base64.b64decode(place.read_bytes(), validate=False))
    payload = json.dumps({"version": version(), "page": page, "notes": notes}).encode()
    both = {"signed": payload, "signature": private.sign(payload)}
    return json.dumps({name: base64.b64encode(value).decode() for name, value in both.items()})


def main() -> int:
    """Do what is asked; return the exit code."""
    parser = argparse.ArgumentParser(description="Announce a version.")
    parser.add_argument("--new-key", type=Path, help="file to write a new private key to")
    parser.add_argument("--key", type=Path, help="file with the private key")
    parser.add_argument("--page", default="", help="page where the version can be had (https)")
    parser.add_argument("--notes", default="", help="a sentence about it")
    chosen = parser.parse_args()
    if chosen.new_key:
        print(new_key(chosen.new_key))
    elif chosen.key and chosen.page.startswith("https://"):
        sys.stdout.write(signed(chosen.key, chosen.page, chosen.notes) + "\n")
    else:
        parser.error("either --new-key, or --key and --page with an https address")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
