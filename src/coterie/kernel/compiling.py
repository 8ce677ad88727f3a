"""Five ways to mark a function for the compiler.

`node`    plain Python when Python calls it, machine code when a compiled loop calls it: all hooks and engines.
`apart`   the same for a hook, with a promise: no two records that it is handed share memory. Never an engine, whose views do.
`inline`  machine code in both cases, so that both give the same bits: the dice and the samplers' short paths.
`rare`    the same, kept out of line: long samplers would bloat every loop they are inlined into.
`whole`   a loop that Python calls by its address (see calling.py): everything above is a part of it.

A part is only linked into what calls it. Left alone the compiler would optimise and emit every part by itself, again inside
each caller, and once more for wrappers nobody calls: that was half of the time.

Arrays outlive every loop, so references to them are not counted but where a function may make some: where it names `np`, and in
users' own files.

No exception paths and no calls inside a loop: both keep the compiler from using vectors. No fast-math: bytes must agree.
"""

import functools
from collections.abc import Callable
from typing import Any, cast

from llvmlite.binding import Linkage
from numba import njit
from numba.core import config, ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.registry import cpu_target
from numba.core.typed_passes import NoPythonSupportedFeatureValidation
from numba.extending import overload, register_jitable

from coterie.errors import UsageError
from coterie.guests import OWN
from coterie.kernel.needless import NEEDLESS, OwnFlags, roomy, undisturbed


class _NoEnvironment:
    """Stands for the code generator of a part, which has no address: nothing can be stored there."""

    def set_env(self, name: str, env: Any) -> None:
        """Only raising exceptions needs it, and there are none."""


class _Part(JITCodeLibrary):
    """Code that has been through the cheap passes and waits to be linked: the dear ones see it in the whole.

    Without any passes the whole would get worse code, by half, and take longer.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
                passes.run(function, builder)

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """With all that it calls, for code that is not ours: a whole takes each part by itself."""
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            for library in link_parts(self._shared_module, self._linking_libraries):
                self._shared_module.link_in(library._get_module_for_linking(), preserve=True)
            let_go(self._shared_module, set())
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironment()


class _Whole(JITCodeLibrary):
    """Every part is linked once, and not again with each one that calls it."""

    def _optimize_functions(self, module: Any) -> None:
        """The passes for modules do that, too."""
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        while _before_linking:
            _before_linking.pop()()
        own = {function.name for function in self._final_module.functions if not function.is_declaration}
        self._linking_libraries = link_parts(self._final_module, self._linking_libraries)
        let_go(self._final_module, own)
        super().finalize()


_before_linking: list[Callable[[], None]] = []


def before_linking(do: Callable[[], None]) -> None:
    """Once, when all parts of a whole have been made and it is about to be linked."""
    _before_linking.append(do)


def link_parts(module: Any, libraries: list[Any]) -> list[Any]:
    """The parts among these, and those that they call. What parts call beside is left for later: it is of a kind of which only
    what is called already would be taken."""
    parts = dict.fromkeys(library for library in libraries if isinstance(library, _Part))
    others = dict.fromkeys(library for library in libraries if not isinstance(library, _Part))
    left = [*parts]
    while left:
        part = left.pop()
        module.link_in(part._final_module, preserve=True)
        for library in part._linking_libraries:
            if not isinstance(library, _Part):
                others[library] = None
            elif library not in parts:
                parts[library] = None
                left.append(library)
    return [*others]


def let_go(module: Any, kept: set[str]) -> None:
    """All functions but these go away once they are inlined."""
    for function in module.functions:
        if not function.is_declaration and function.linkage == Linkage.external and function.name not in kept:
            function.linkage = "linkonce_odr"


@register_pass(mutates_CFG=False, analysis_only=False)
class _PlainIndices(FunctionPass):
    """Our own code counts from the front: to look whether an index is negative would cost at every access.

    Users' own files may count from the back.
    """

    _name = "coterie_plain_indices"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        for place, signature in list(state.calltypes.items()):
            if isinstance(place, ir.SetItem) or (isinstance(place, ir.Expr) and place.op == "getitem"):
                array, index, *value = signature.args
                if isinstance(array, types.Array) and index in PLAIN:
                    del state.calltypes[place]  # it does not let itself be overwritten
                    state.calltypes[place] = signature.replace(args=(array, PLAIN[index], *value))
        return True


PLAIN = {types.int64: types.uint64} | {types.UniTuple(types.int64, n): types.UniTuple(types.uint64, n) for n in (2, 3)}


class OwnCompiler(Compiler):
    def compile_extra(self, func: Callable) -> Any:
        state, self.is_ours = self.state, not func.__module__.startswith(OWN)
        state.flags = (OwnFlags if self.is_ours else Flags)(state.flags)
        if not self.is_ours or "np" in func.__code__.co_names:
            state.flags.nrt, state.targetctx = True, state.targetctx.subtarget(enable_nrt=True)
        return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        (passes,) = super().define_pipelines()
        if self.is_ours:
            passes.passes = [(one, about) for one, about in dict(passes.passes).items() if one not in NEEDLESS]
        return [passes]


class PartCompiler(OwnCompiler):
    def compile_extra(self, func: Callable) -> Any:
        flags, codegen = self.state.flags, self.state.targetctx.codegen()
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        self.state.library = _Part(codegen, func.__qualname__)
        return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        (passes,) = super().define_pipelines()
        if self.is_ours:
            passes.add_pass_after(_PlainIndices, NoPythonSupportedFeatureValidation)
            passes.finalize()
        return [passes]


class ApartCompiler(PartCompiler):
    def compile_extra(self, func: Callable) -> Any:
        self.state.flags.noalias = True
        return super().compile_extra(func)


class RareCompiler(PartCompiler):
    def compile_extra(self, func: Callable) -> Any:
        compiled = super().compile_extra(func)
        compiled.library._final_module.get_function(compiled.fndesc.llvm_func_name).add_function_attribute("noinline")
        return compiled


class WholeCompiler(OwnCompiler):
    @roomy
    def compile_extra(self, func: Callable) -> Any:
        self.state.library = _Whole(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        with undisturbed():
            return super().compile_extra(func)


class EngineCompiler(WholeCompiler):
    """What is called by its address only (see calling.py)."""

    def compile_extra(self, func: Callable) -> Any:
        self.state.flags.no_cpython_wrapper = True
        return super().compile_extra(func)


def refuse_switches() -> None:
    """Of the compiler, as the environment sets them: without machine code, or with other code in it, there is no engine."""
    switches = {"DISABLE_JIT": "DISABLE_JIT", "DEBUGINFO": "DEBUGINFO_DEFAULT", "ENABLE_PROFILING": "ENABLE_PROFILING"}
    if named := ", ".join(f"NUMBA_{name}" for name, kept in switches.items() if getattr(config, kept)):
        raise UsageError(f"{named} must not be set: engines are compiled, and called by their address")


def get_ready() -> None:
    """What the compiler knows of types and functions: it is loaded where it is first asked for, and takes half a second."""
    with global_compiler_lock:
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()


refuse_switches()
PART: dict[str, Any] = {"error_model": "numpy", "forceinline": True, "pipeline_class": PartCompiler, "_nrt": False}
OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "pipeline_class": WholeCompiler}
node = register_jitable(**PART)
apart = register_jitable(**PART | {"pipeline_class": ApartCompiler})
whole = njit(**OPTIONS | {"pipeline_class": EngineCompiler, "_nrt": False})


def inline(function: Callable, **others: Any) -> Callable:
    machine, options = njit(**OPTIONS)(function), cast(Any, PART | others)

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return machine(*arguments)

    overload(call, jit_options=options, strict=False)(lambda *arguments: function)
    return call


rare = functools.partial(inline, forceinline=False, pipeline_class=RareCompiler)

__all__ = ["OPTIONS", "apart", "inline", "node", "rare", "whole"]
