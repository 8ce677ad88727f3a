"""Helpers of this folder can be imported by name, also by tests in folders below and by processes that tests start."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
