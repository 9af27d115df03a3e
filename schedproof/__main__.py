"""Runs the command line: ``python -m schedproof``."""

import sys

from .cli import main

sys.exit(main())
