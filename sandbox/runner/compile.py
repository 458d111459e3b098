"""Compiles one CUDA source in a box: the source comes through the socket, the library leaves through a pipe.

One request: ``{"source", "footer", "filename", "arch", "nvcc", "log_bytes", "artefact_bytes", "cpu_seconds",
"names", "headers", "libraries"}`` and the pipe's write end. ``names``: add PTX with variables' names.
``headers``: see ``grader.sandbox.kernel_headers``. ``libraries``: each ``{"header", "title", "include"}``.
One answer:
- ``ok``
- ``log``: cut to ``log_bytes``
- ``usage``: the assembler's lines about registers and memory
- ``killed``: one of the compiler's programs was killed

Our trailer has wrappers (``--wrap``) by which a wait for the device returns at once while the gate is closed;
see ``gated.py``.
"""

import importlib.util
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from connect import connect
from emulated import part, refused
from protocol import receive, send

OUTPUT = "out.so"
SYSTEM = "/usr/include"
CLANGS = ("/opt/rocm/llvm/bin/clang++", "clang++", *(f"clang++-{number}" for number in range(20, 13, -1)))
ELSEWHERE, MOST_ELSEWHERE = "elsewhere.hip", 2000
NAMES = "names.ptx"
ENTRY = "grader_entry"
# The streams 0, 1 (legacy) and 2 (per thread) are all ordered with "done".
WRAPPED = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaStreamSynchronize_ptsz")
TRAILER = """
#line 1 "grader-trailer"
extern "C" {
__attribute__((visibility("default"))) const volatile unsigned* grader_gate = nullptr;
__attribute__((visibility("default"))) unsigned grader_gate_round = 0;
__attribute__((visibility("default"))) int grader_waits_left_out = 0;
static bool grader_leaves_out() {
    if (grader_gate == nullptr || *grader_gate == grader_gate_round) return false;
    grader_waits_left_out = 1;
    return true;
}
__attribute__((visibility("default"))) int grader_prepare() {
    int gpus = 1, code = static_cast<int>(cudaGetDeviceCount(&gpus));
    for (int gpu = gpus - 1; gpu >= 0 && code == 0; gpu--) {
        code = static_cast<int>(cudaSetDevice(gpu));
        if (code == 0) code = static_cast<int>(cudaFree(nullptr));
    }
    return code;
}
__attribute__((visibility("default"))) const char* grader_error_name(int code) {
    return cudaGetErrorName(static_cast<cudaError_t>(code));
}
cudaError_t __real_cudaDeviceSynchronize();
cudaError_t __wrap_cudaDeviceSynchronize() {
    return grader_leaves_out() ? cudaSuccess : __real_cudaDeviceSynchronize();
}
cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) {
    bool ordered = reinterpret_cast<unsigned long long>(stream) <= 2;
    return ordered && grader_leaves_out() ? cudaSuccess : __real_cudaStreamSynchronize(stream);
}
cudaError_t __real_cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize_ptsz(cudaStream_t stream) {
    bool ordered = reinterpret_cast<unsigned long long>(stream) <= 2;
    return ordered && grader_leaves_out() ? cudaSuccess : __real_cudaStreamSynchronize_ptsz(stream);
}
}
"""
# Separate compilation, which kernels need to launch kernels, is slow: only after a failure for lack of it,
# or with the line "// grader: rdc".
RDC = re.compile(r"^[ \t]*//[ \t]*grader:[ \t]*rdc\b", re.MULTILINE)
RDC_WANTED = re.compile(r"requires separate compilation mode|Unresolved extern function '_*cuda")
USAGE = re.compile(r"ptxas info\s*:|nvlink info\s*:|\s+\d+ bytes stack frame, \d+ bytes spill")
STATIC_PREFIX = re.compile(r"__nv_static_\d+_\w*?_(?=_Z)")
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
WORD = re.compile(r"[A-Za-z_]\w*")
# At the start of a line, where no source text comes.
KILLED = re.compile(
    r"^(?:nvcc|gcc|g\+\+|c\+\+|collect2|[\w.-]+-g(?:cc|\+\+)[\w.-]*)(?: |:).*(?:signal 9\b|Killed signal)"
    r"|^(?:sh: .*)?Killed\b",
    re.MULTILINE,
)
# Such a compiler repeats an error without end.
FLOOD_FACTOR = 16
CHUNK = 1 << 20


# NVIDIA's wheels have only the first.
HEADERS = ("cuda_runtime_api.h", "cuda_profiler_api.h")
DECLARED = re.compile(r"^[ \t]*extern\b.*?\b(cuda[A-Z]\w*)\(", re.MULTILINE)
PER_THREAD = re.compile(r"__CUDART_API_PT(?P<suffix>DS|SZ)\((?P<name>cuda\w+)\)")
MISSING_HEAD = """
#define GRADER_MISSING(call, name) \\
    __attribute__((weak)) int call() { return grader_not_here(name, __builtin_return_address(0)); }
extern "C" {
int grader_not_here(const char* name, void* caller);
"""
MISSING_FILE = "grader-missing.cpp"


def missing(source: str, folder: str) -> str:
    """Each reports that the emulated GPU lacks it. ``folder``: CUDA's headers."""
    named, present = set(WORD.findall(source)), exported(str(part("device").HOST))
    named |= {f"cuda{name.removeprefix('hip')}" for name in named if name.startswith("hip")}
    calls: dict[str, str] = {}
    for header in HEADERS:
        try:
            with open(f"{folder}/{header}", encoding="utf-8", errors="replace") as file:
                text = file.read()
        except FileNotFoundError:
            continue
        calls.update((name, name) for name in DECLARED.findall(text))
        calls.update(
            (f"{call['name']}_pt{call['suffix'].lower()}", call["name"]) for call in PER_THREAD.finditer(text)
        )
    wanted = sorted((call, name) for call, name in calls.items() if name in named and call not in present)
    if not wanted:
        return ""
    return MISSING_HEAD + "".join(f'GRADER_MISSING({call}, "{name}")\n' for call, name in wanted) + "}\n"


def missing_options(nvcc: str, filename: str) -> list[str]:
    if not as_cuda(filename):
        return [MISSING_FILE]
    # nvcc takes every file for CUDA, whose headers declare these calls.
    made = MISSING_FILE.replace(".cpp", ".o")
    run_bounded([nvcc, "-c", "-Xcompiler", "-fPIC", "-o", made, MISSING_FILE], CHUNK)
    return ["-Xlinker", made]


def headers_of(nvcc: str) -> str:
    near = os.path.join(
        os.path.dirname(os.path.dirname(os.path.realpath(shutil.which(nvcc) or nvcc))), "include"
    )
    return near if os.path.exists(f"{near}/{HEADERS[0]}") else "/usr/include"


# The emulated GPU finds calls by debug information; a tail call has none.
LINES = "-g1,-fno-optimize-sibling-calls"


def flags(arch: str, filename: str, rdc: bool) -> list[str]:
    """``arch``: sm_90, or compute_90a for the emulated GPU."""
    kind, _, number = arch.partition("_")
    emulated = kind == "compute"
    codes = f"[compute_{number},sm_{number}]" if emulated else f"sm_{number}"
    runtime = ["none", "--compress-mode=none"] if emulated else ["static"]
    wrapped = [word for name in WRAPPED for word in ("-Xlinker", f"--wrap={name}")]
    return [
        "-shared", "-Xcompiler", "-fPIC", "-O3", "-std=c++17", "-lineinfo", "-Xptxas", "-v", "-cudart", *runtime,
        *(["-rdc=true", "-lcudadevrt"] if rdc else []), *wrapped, *(["-Xcompiler", LINES] if emulated else []),
        f"-gencode=arch=compute_{number},code={codes}", "-o", OUTPUT, *as_cuda(filename), filename,
    ]  # fmt: skip


def as_cuda(filename: str) -> list[str]:
    return [] if filename.endswith(".cu") else ["-x", "cu"]


def with_standard(options: list[str], libraries: list[dict[str, Any]]) -> list[str]:
    """With the latest C++ that the libraries need."""
    wanted = [f"-std={library['standard']}" for library in libraries if library["standard"]]
    return [max([option, *wanted]) if option.startswith("-std=") else option for option in options]


def own_libraries(nvcc: str) -> list[str]:
    """nvcc looks in lib64, but NVIDIA's wheels have lib."""
    home = os.path.dirname(os.path.dirname(nvcc))
    return [] if not home or os.path.isdir(f"{home}/lib64") else [f"-L{home}/lib"]


def header_options(libraries: list[dict[str, Any]]) -> list[str]:
    """Ends this process if the box lacks a library."""
    options: list[str] = []
    for library in libraries:
        first, *others = library["below"]
        folder = library["folder"]
        if not os.path.isdir(folder) and library["package"]:
            spec = importlib.util.find_spec(library["package"])
            places = (spec and spec.submodule_search_locations) or [""]
            folder = os.path.join(places[0], first)
        folders = [folder, *(os.path.join(folder.removesuffix(first), other) for other in others)]
        folders += [sysconfig.get_paths()["include"]] if library["python"] else []
        wanted = [*folders, os.path.join(folder, library["header"])]
        if missing := next((each for each in wanted if not os.path.exists(each)), None):
            sys.exit(f"the box has no {library['name']} headers: there is no {missing}")
        # Not the compiler's own: its headers include the next one of the same name.
        options += [word for each in folders if each != SYSTEM for word in ("-isystem", each)]
        options += library["flags"]
        if library["before"]:
            options += [
                "-include",
                os.path.join(os.path.dirname(os.path.abspath(__file__)), library["before"]),
            ]
    return options


def run_bounded(command: list[str], most: int) -> tuple[int, str, str]:
    """Exit code, output and usage lines, cut to ``most`` bytes each."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    kept, seen = bytearray(), 0
    while data := os.read(process.stdout.fileno(), CHUNK):  # type: ignore[union-attr]
        kept += data[: max(0, FLOOD_FACTOR * most - len(kept))]
        seen += len(data)
        if seen > FLOOD_FACTOR * most:
            os.killpg(process.pid, signal.SIGKILL)
            break
    code = process.wait()
    if seen > FLOOD_FACTOR * most:
        code = 1
    log, usage = separated(kept.decode("utf-8", "replace"))
    if len(log) > most:
        end = most // 8
        left_out = f"\n[the compiler printed more than {most} bytes; some are left out here]\n"
        log = log[: most - 2 * end] + left_out + log[-end:]
    return code, log, usage[:most]


def separated(text: str) -> tuple[str, str]:
    log: list[str] = []
    usage: list[str] = []
    for line in text.splitlines(keepends=True):
        (usage if USAGE.match(line) else log).append(line)
    return "".join(log), "".join(usage)


def demangled(text: str) -> str:
    text = STATIC_PREFIX.sub("", text)
    for tool in ("c++filt", "cu++filt"):
        try:
            done = subprocess.run([tool], input=text, capture_output=True, text=True, check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return done.stdout
    return text


def out_of_reach(appended: str) -> str:
    """First undefines each of its words, so no macro of the source changes its meaning.

    ``appended`` must include no header: its words are unknown here.
    """
    words = sorted(set(WORD.findall(STRING.sub("", appended))))
    return '#line 1 "grader-words"\n' + "".join(f"#undef {word}\n" for word in words) + appended


def compile_source(request: dict[str, Any], pipe: int) -> dict[str, Any]:
    filename, most = request["filename"], request["log_bytes"]
    # Two line ends: a final backslash of the source would join the footer's first line to it.
    with open(filename, "w", encoding="utf-8", newline="") as file:
        file.write(request["source"] + "\n\n" + out_of_reach(request["footer"] + TRAILER))
    rdc = RDC.search(request["source"]) is not None
    seconds = math.ceil(request["cpu_seconds"])
    # For nvcc's programs. The signal comes first, so nvcc can report the slow one.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
    nvcc = request["nvcc"] if os.path.exists(request["nvcc"]) else "nvcc"
    wanted = request.get("headers", [])
    more = header_options(wanted)
    libraries = [*own_libraries(nvcc), *more]
    emulated = request["arch"].startswith("compute")
    for library in request.get("libraries", ()):
        if emulated and (refusal := not_here(request["source"], filename, library)):
            return {"ok": False, "log": refusal, "usage": "", "killed": False}
        if library["include"]:
            libraries.append(f"-I{library['include']}")
    if emulated and (calls := missing(request["source"], headers_of(nvcc))):
        with open(MISSING_FILE, "w", encoding="utf-8") as file:
            file.write(calls)
        libraries += missing_options(nvcc, filename)
    command = [nvcc, *with_standard(flags(request["arch"], filename, rdc), wanted), *libraries]
    code, log, usage = run_bounded(command, most)
    if code != 0 and not rdc and RDC_WANTED.search(log):
        command = [nvcc, *with_standard(flags(request["arch"], filename, rdc=True), wanted), *libraries]
        code, log, usage = run_bounded(command, most)
    if code != 0 and re.search(r"signal 24\b|CPU time limit", log):
        stopped = f"[the compiler took longer than {request['cpu_seconds']:g} seconds and was stopped]\n"
        return {"ok": False, "log": stopped + log, "usage": "", "killed": False}
    fault = _fault(request, code, log)
    if fault is not None:
        killed = code == -signal.SIGKILL or (code != 0 and KILLED.search(log) is not None)
        return {"ok": False, "log": log + fault, "usage": "", "killed": killed}
    for library in wanted:
        log += elsewhere(request, library) if library["also"] else ""
    if request.get("names") and emulated:
        add_names(
            nvcc, request["arch"], filename, [*(["-rdc=true"] if rdc else []), *as_cuda(filename), *more]
        )
    with open(OUTPUT, "rb") as file:
        while data := file.read(CHUNK):
            while data:
                data = data[os.write(pipe, data) :]
    return {"ok": True, "log": log, "usage": demangled(usage)[:most], "killed": False}


def elsewhere(request: dict[str, Any], library: dict[str, Any]) -> str:
    """clang's errors for other GPUs; empty without such a clang."""
    clang = next((found for name in CLANGS if (found := shutil.which(name))), None)
    if clang is None:
        return ""
    filename = request["filename"]
    with open(ELSEWHERE, "w", encoding="utf-8", newline="") as file:
        file.write(f'#line 1 "{filename}"\n{request["source"]}\n')
    options = [*library["also"], "-isystem", library["folder"]]
    bounded = ["sh", "-c", 'ulimit -t 20; exec "$@"', "sh", clang, *options, ELSEWHERE]
    code, said, _ = run_bounded(bounded, MOST_ELSEWHERE)
    if code == 0:
        return f"[clang also compiles it for {library['elsewhere']}]\n"
    if re.search(rf"^{re.escape(filename)}:\d+:\d+: (?:fatal )?error:", said, re.MULTILINE) is None:
        return ""  # not the source's fault
    return f"[for {library['elsewhere']}, which no board has, clang does not compile it]\n{said}"


def not_here(source: str, filename: str, library: dict[str, str]) -> str:
    """An error if a source for the emulated GPU includes the library; else empty."""
    included = re.search(
        rf'^[ \t]*#[ \t]*include[ \t]*[<"]{re.escape(library["header"])}[>"]', source, re.MULTILINE
    )
    if included is None:
        return ""
    line = source.count("\n", 0, included.start()) + 1
    title = library["title"]
    return (
        f"{filename}({line}): error: {title} runs on GPU boards only: the emulated GPU has none. Use kernels and "
        "copies between the GPUs here, or submit to a board with GPUs.\n"
    )


def add_names(nvcc: str, arch: str, filename: str, more: list[str]) -> None:
    options = ["-ptx", "-G", "-std=c++17", f"-arch={arch}", *more]
    code, _, _ = run_bounded([nvcc, *options, "-o", NAMES, filename], CHUNK)
    if code == 0:
        run_bounded(["objcopy", "--add-section", f"{part('fatbin').NAMES}={NAMES}", OUTPUT], CHUNK)


def _fault(request: dict[str, Any], code: int, log: str) -> str | None:
    """The log's text if there is no usable result, else None."""
    if code != 0:
        if re.search(r"out of memory|virtual memory exhausted", log):
            return "\n[the compiler used more memory than it may]\n"
        return ""
    if ENTRY not in exported(OUTPUT):
        return (
            f"\n[the library has no entry point: the end of {request['filename']} hides what the grader appends to "
            "it. Is a comment, a #if or a macro left open?]\n"
        )
    if os.stat(OUTPUT).st_size > request["artefact_bytes"]:
        return f"\n[the compiled library is larger than {request['artefact_bytes']} bytes]\n"
    if request["arch"].startswith("compute"):
        with open(OUTPUT, "rb") as file:
            return refused(file.read(), request["filename"]) or None
    return None


def exported(path: str) -> set[str]:
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=False
    )
    return {words[-1] for line in listing.stdout.splitlines() if (words := line.split())}


def main() -> None:
    connection = connect(sys.argv[1])
    try:
        request, descriptors = receive(connection)
    except EOFError:
        return
    answer = compile_source(request, descriptors[0])
    os.close(descriptors[0])
    send(connection, answer)
    connection.recv(1)  # the parent ends this process


main()
