"""Three ways to mark a function for the compiler.

`node`    plain Python when Python calls it, machine code when a compiled loop calls it: all hooks and engines.
`inline`  machine code in both cases, so that both give the same bits: the dice and the samplers' short paths.
`rare`    the same, kept out of line: long samplers would bloat every loop they are inlined into.

No exception paths and no calls inside a loop: both keep the compiler from using vectors. No fast-math: bytes must agree.
"""

from typing import Any

from numba import njit
from numba.extending import register_jitable as node

OPTIONS: dict[str, Any] = {"error_model": "numpy", "forceinline": True}
inline = njit(**OPTIONS)
rare = njit(error_model="numpy")

__all__ = ["OPTIONS", "inline", "node", "rare"]
