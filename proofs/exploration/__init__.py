"""The interpreted engine: every reachable state at a scope."""
