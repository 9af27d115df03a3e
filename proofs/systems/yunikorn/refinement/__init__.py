"""The refinement check of YuniKorn's reference core against its model, with crash and recovery in every state."""
