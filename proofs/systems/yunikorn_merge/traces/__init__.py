"""The formats of logs of YuniKorn's merged scheduler."""
