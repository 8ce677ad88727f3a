"""What the compiler does in vain for code like ours. Left out, engines take seven tenths of the time.

It knows nothing of what it compiles and looks for everything that Python allows, at every line. Ours has no closures, no blocks
of `with`, no dictionaries and no expressions of whole arrays. What is left out for our own code is looked for in others' code.
"""

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from llvmlite.binding import ffi
from numba.core.base import BaseContext
from numba.core.compiler import Flags
from numba.core.interpreter import Interpreter, peep_hole_delete_with_exit, peep_hole_fuse_dict_add_updates
from numba.core.postproc import PostProcessor
from numba.core.targetconfig import ConfigStack
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import InlineOverloads, NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)

# None of the other passes is needed a second time.
NEEDLESS = {
    FindLiterallyCalls, InlineClosureLikes, InlineInlinables, InlineOverloads, LiteralPropagationSubPipelinePass, LiteralUnroll,
    MakeFunctionToJitFunction, NopythonRewrites, RewriteDynamicRaises, WithLifting,
}  # fmt: skip
SEARCHES = {peep_hole_delete_with_exit, peep_hole_fuse_dict_add_updates}  # for blocks of `with`, and for dictionaries
FRAME = 70_000  # words
Function = TypeVar("Function", bound=Callable)


class OwnFlags(Flags):
    """Those of our compilers. The compiler looks flags up at every call that it types, and would list all of them each time."""

    def __hash__(self) -> int:
        return FLAGS_HASH

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and (self._values == other._values or self.values() == other.values())


FLAGS_HASH = hash(Flags())  # of all: it is made of their names


def is_ours() -> bool:
    """Whether what is being compiled came to one of our compilers."""
    return isinstance(ConfigStack.top_or_none(), OwnFlags)


def roomy(function: Function) -> Function:
    """Everything that it calls finds room for its frames.

    Python keeps frames in chunks of 16 KB and gives a chunk back as soon as it is empty. A loop at the very end of one has the
    system make another for every call and take it back: a tenth of the compiler's time, whose functions lie deep within each
    other. This function's frame is so large that a chunk of a megabyte is made for it, of which nearly half is left.
    """
    function.__code__ = function.__code__.replace(co_stacksize=FRAME)
    return function


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """No looking for garbage, as compiling leaves none worth it, and no news of each of its 30,000 calls of the optimiser."""
    told, collecting = ffi.lib._lock._cblist, gc.isenabled()
    ffi.lib._lock._cblist = []
    gc.disable()
    try:
        yield
    finally:
        ffi.lib._lock._cblist = told
        if collecting:
            gc.enable()


def _call_type(function: Any, context: Any, arguments: tuple, named: dict) -> Any:
    """What a call gives: nine of ten have been asked for before, and some eight templates are tried each time."""
    if not is_ours():
        return _try_templates(function, context, arguments, named)
    key = id(function), arguments, tuple(named.items()), ConfigStack.top_or_none()
    if key not in _call_types:
        signature: Any = _try_templates(function, context, arguments, named)
        _call_types[key] = function, signature, function.get_impl_key(signature)
    _, signature, implementation = _call_types[key]
    function._impl_keys[signature.args] = implementation  # that of these flags: others may have been asked for since
    return signature


def _look_through(processor: PostProcessor, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """After nearly every pass the compiler works out anew where variables end; of our own code only the last pass asks."""
    if emit_dels or not is_ours():
        _work_out_lifetimes(processor, emit_dels, extend_lifetimes)
    else:
        processor.func_ir.blocks = canonicalize_cfg(processor.func_ir.blocks)


def _tidy_up(interpreter: Interpreter, searches: list[Callable], code: Any) -> Any:
    return _search(interpreter, [one for one in searches if one not in SEARCHES or not is_ours()], code)


def _size(context: BaseContext, kind: Any) -> int:
    """Of a type. To find out, the compiler writes a module of its own and has it read, for every variable."""
    if (about := (str(context.target_data), str(kind))) not in _sizes:
        _sizes[about] = _measure(context, kind)
    return _sizes[about]


_call_types: dict[tuple, tuple[BaseFunction, Any, Any]] = {}  # functions are kept: their ids must not be given to others
_sizes: dict[tuple[str, str], int] = {}
_try_templates, BaseFunction.get_call_type = BaseFunction.get_call_type, _call_type  # type: ignore[assignment,method-assign]
_work_out_lifetimes, PostProcessor.run = PostProcessor.run, _look_through  # type: ignore[assignment,method-assign]
_search, Interpreter.post_process = Interpreter.post_process, _tidy_up  # type: ignore[method-assign]
_measure, BaseContext.get_abi_sizeof = BaseContext.get_abi_sizeof, _size  # type: ignore[method-assign]
