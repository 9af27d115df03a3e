"""Which states of a model explain a log so far, record by record."""
