"""YuniKorn's reference core beside its model, with crash and recovery at every state."""
