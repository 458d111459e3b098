"""Header libraries besides the toolkit's, for words of ``allow`` and for languages.

Their folders are on a compiler's path only for those.
"""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class HeaderLibrary:
    display_name: str
    #: The Python package with the headers (empty: none), and its folders; the first has ``header``.
    package: str
    below: tuple[str, ...]
    #: Names a folder whose ``include`` replaces the package. Empty: none does.
    variable: str
    #: Must exist. ``pattern`` reads the version from it.
    header: str
    pattern: str
    flags: tuple[str, ...]
    install: str
    #: Of C++, if the headers need a later one.
    standard: str = ""
    python: bool = False
    #: Folders of system packages.
    places: tuple[str, ...] = ()
    #: Another required header.
    needed: str = ""
    #: A file of ``sandbox/runner`` to include before the source.
    before: str = ""
    #: Other GPUs for which a clang, if present, also checks the source; ``also``: its options.
    elsewhere: str = ""
    also: tuple[str, ...] = ()

    def folder(self) -> Path | None:
        """For ``-I``; None if missing."""
        named = os.environ.get(self.variable) if self.variable else None
        places = [Path(named, "include")] if named else []
        spec = importlib.util.find_spec(self.package) if self.package else None
        places += [Path(place, self.below[0]) for place in (spec and spec.submodule_search_locations) or ()]
        places += map(Path, self.places)
        wanted = [self.header, *([self.needed] if self.needed else [])]
        return next(
            (place.resolve() for place in places if all((place / header).exists() for header in wanted)), None
        )

    def named_folder(self) -> Path | None:
        """Only a folder that ``variable`` names: boxes see packages anyway."""
        return self.folder() if self.variable and os.environ.get(self.variable) else None

    def version(self) -> str:
        """Such as ``4.2.0``; empty if missing."""
        folder = self.folder()
        text = (folder / self.header).read_text(errors="replace") if folder else ""
        return ".".join(re.findall(self.pattern, text, re.MULTILINE)[:3])


HEADER_LIBRARIES = {
    "cutlass": HeaderLibrary(
        display_name="CUTLASS",
        package="cutlass_library",
        below=("source/include",),
        variable="CUTLASS_PATH",
        header="cutlass/version.h",
        pattern=r"^#define CUTLASS_(?:MAJOR|MINOR|PATCH)\s+(\d+)",
        # Its manual asks for both.
        flags=("--expt-relaxed-constexpr", "--expt-extended-lambda"),
        install="Run `pip install --no-deps nvidia-cutlass`, or set CUTLASS_PATH to the folder of a checkout.",
    ),
    "torch": HeaderLibrary(
        display_name="PyTorch",
        package="torch",
        below=("include", "include/torch/csrc/api/include"),
        variable="",
        header="torch/headeronly/version.h",
        pattern=r"^#define TORCH_VERSION_(?:MAJOR|MINOR|PATCH)\s+(\d+)",
        # Sources may end in PYBIND11_MODULE, as extensions do.
        flags=("--expt-relaxed-constexpr", "-DTORCH_EXTENSION_NAME=solution"),
        install="Run `pip install torch`; and Python's own headers (Debian, Ubuntu: apt-get install libpython3-dev).",
        standard="c++20",
        python=True,
    ),
    "hip_headers": HeaderLibrary(
        display_name="HIP",
        package="",
        below=("",),
        variable="HIP_PATH",
        header="hip/hip_version.h",
        pattern=r"^#define HIP_VERSION_(?:MAJOR|MINOR|PATCH)\s+(\d+)",
        flags=("-D__HIP_PLATFORM_NVIDIA__",),
        install="Debian 12: apt-get install libamdhip64-dev. Or set HIP_PATH: its include has hip/nvidia_detail.",
        places=("/usr/include", "/opt/rocm/include"),
        needed="hip/nvidia_detail/nvidia_hip_runtime.h",
        before="hip_on_cuda.h",
        elsewhere="AMD's GPUs (gfx90a)",
        # Only syntax and types: machine code would need AMD's device libraries.
        also=(
            *(
                "-x",
                "hip",
                "--cuda-device-only",
                "--offload-arch=gfx90a",
                "-nogpuinc",
                "-nogpulib",
                "-std=c++17",
            ),
            *("-include", "__clang_hip_runtime_wrapper.h", "-fsyntax-only", "-w", "-D__HIP_PLATFORM_AMD__"),
        ),
    ),
}


def lacking(names: tuple[str, ...]) -> tuple[str, str] | None:
    """What this machine lacks, and how to install it; None if nothing."""
    for name in names:
        library = HEADER_LIBRARIES[name]
        if library.folder() is None:
            why = "the challenge allows" if library.package else "the language needs"
            return f"this machine has no {library.display_name} headers, which {why}", library.install
    return None


def folders() -> list[str]:
    """Folders that a box must show even outside its toolchain."""
    found = (library.named_folder() for library in HEADER_LIBRARIES.values())
    return [str(folder) for folder in found if folder is not None]
