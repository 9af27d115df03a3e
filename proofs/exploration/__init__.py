"""Every reachable state at a scope, interpreted."""
