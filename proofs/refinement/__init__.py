"""The reference schedulers and their models side by side, with a crash at every point.

Each system's ``refinement`` explores one running scheduler, maps each of its states to a state of the model, and
compares the two graphs, edge by edge and in both directions.
"""
