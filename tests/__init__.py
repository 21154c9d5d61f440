"""Tests of Slipstream; the folders mirror those of ``app``."""
