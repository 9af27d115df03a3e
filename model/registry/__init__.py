"""The systems that can be named, and the manifests that describe them."""
