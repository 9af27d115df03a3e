"""The main job: every property of every variant, checked in every way, against what is expected."""
