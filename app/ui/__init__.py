"""The window, the only part that knows Qt.

Values go widget → controller → host → event → controller → widget. Widgets know neither each other nor the engine,
the database or the model folders.
"""
