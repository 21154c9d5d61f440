"""The engine: llama.cpp in a process of its own, and everything that speaks to it or reads its files."""
