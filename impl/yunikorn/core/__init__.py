"""The scheduler core of YuniKorn 0.12.2, with the repairs that the promises of its document need."""
