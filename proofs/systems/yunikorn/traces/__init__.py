"""The formats of YuniKorn's logs."""
