"""Properties checked by exploration, with the interpreted or the compiled engine."""
