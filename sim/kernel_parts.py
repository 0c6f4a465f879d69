"""Kernels for other kernels only: no machine code is made of them alone.

Numba optimises each function with all that it calls and makes machine code of it, and
does so again for each of its callers: what is called five deep goes through LLVM five
times. A kernel without a way in from Python needs none of that until a kernel that has
one is made of it. So it is kept as the code that LLVM links into its callers, function
by function in simple form; what is run is optimised once, as a whole.
"""

from typing import Any

from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

ENVIRONMENT = "_ZN08NumbaEnv"  # begins the names of variables that numba fills in


class LinkedCode(JITCodeLibrary):  # type: ignore[misc]
    """Code to be linked into that of others; only its global variables are made."""

    _final_module: Any

    def _optimize_final_module(self) -> None:
        """Leave that to its callers."""

    def _finalize_final_module(self) -> None:
        self._finalized = True
        self._get_module_for_linking()  # which is kept
        self._finalized = False
        self._final_module = _variables_of(self._final_module)
        super()._finalize_final_module()


def _variables_of(module: Any) -> Any:
    """A module with the variables of another that numba fills in, and nothing else."""
    names = [variable.name for variable in module.global_variables]
    lines = [
        f'target triple = "{module.triple}"',
        f'target datalayout = "{module.data_layout}"',
        *(f"@{n} = common global ptr null" for n in names if n.startswith(ENVIRONMENT)),
    ]
    made = llvm.parse_assembly("\n".join(lines))
    made.name = module.name
    return made


class PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's, but for the library that the code is put into."""

    def define_pipelines(self) -> list[Any]:
        """Those of numba, for a function whose code is a part of others."""
        state = self.state
        state.library = LinkedCode(
            state.targetctx.codegen(), state.func_id.func_qualname
        )
        state.library.enable_object_caching()
        return list(super().define_pipelines())
