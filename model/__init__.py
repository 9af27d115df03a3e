"""What is said: the language (``lang``), its meaning at a finite scope (``semantics``), the systems."""
