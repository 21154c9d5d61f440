"""Conversations: their values, their database, and the Markdown they stream."""
