"""The pytest plugin. Light at import: what it needs is loaded when a fixture asks for it."""
