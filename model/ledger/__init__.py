"""The ledger of a document: what became of each of its sentences, and where each element of a model comes from."""
