"""Jobmon's reference server and agents, and the repaired model: whatever they do is steps of the model.

The graphs are not the same: agents go about things in an order of their own, so the model can do more.
"""
