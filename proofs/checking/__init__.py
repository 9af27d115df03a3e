"""Properties checked by exploration, interpreted or compiled."""
