"""Refinement checks of the reference schedulers against their models, with a crash at every point.

Each system's ``refinement`` explores one running scheduler and maps each of its states to a state of the model.
Then it compares the two graphs, edge by edge and in both directions.
"""
