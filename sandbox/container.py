from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.sandbox import image, options, seccomp
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.gpu import box_environment
from grader.sandbox.options import DEFAULTS, SandboxOptions
from grader.sandbox.toolkit import cuda_home

OPEN_FILES = 1024
# Smaller than any core, so none is written. Not 0: if the host pipes cores to a program (Ubuntu), the kernel
# then starts it as root outside the box. The call filter keeps a box from changing this.
CORE_BYTES = 1
# Triton's and nvcc's caches make hundreds of files. Each costs a kilobyte of host memory that no limit
# counts.
TMP_INODES = 16_384
SHM = "/dev/shm"  # noqa: S108
SHM_INODES = 64

# Replaces Docker's list. Each path shows hardware, other people's activity or kernel addresses; /dev/mqueue
# is writable. CUDA needs /proc/driver, /proc/devices, /proc/modules and /sys/bus.
MASKED = (
    "/dev/mqueue /proc/acpi /proc/asound /proc/buddyinfo /proc/config.gz /proc/diskstats /proc/interrupts /proc/iomem "
    "/proc/ioports /proc/kallsyms /proc/kcore /proc/key-users /proc/keys /proc/kmsg /proc/kpagecgroup "
    "/proc/kpagecount /proc/kpageflags /proc/latency_stats /proc/locks /proc/mdstat /proc/pagetypeinfo "
    "/proc/partitions /proc/pressure /proc/sched_debug /proc/schedstat /proc/scsi /proc/slabinfo /proc/softirqs "
    "/proc/swaps /proc/sysvipc /proc/timer_list /proc/timer_stats /proc/vmallocinfo /proc/zoneinfo "
    "/sys/devices/virtual/dmi /sys/devices/virtual/powercap /sys/firmware /sys/fs/bpf /sys/fs/pstore "
    "/sys/hypervisor /sys/kernel/btf /sys/kernel/debug /sys/kernel/notes /sys/kernel/security /sys/kernel/slab "
    "/sys/kernel/tracing /sys/kernel/vmcoreinfo"
).split()
READ_ONLY = "/proc/bus /proc/fs /proc/irq /proc/sys /proc/sysrq-trigger".split()


def environment(spec: BoxSpec, toolchain: Mapping[str, str] | None = None) -> dict[str, str]:
    return {
        **(_host_paths() if toolchain is None else toolchain),
        "HOME": "/tmp",  # noqa: S108 - the box's own
        "TMPDIR": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        "USER": "nobody",
        "HOSTNAME": "box",
        **box_environment(spec.gpu),
        **spec.env,
    }


def _host_paths() -> dict[str, str]:
    cuda = cuda_home()
    folders = [str(Path(sys.executable).parent), *([f"{cuda}/bin"] if cuda else [])]
    values = {"PATH": ":".join([*folders, image.HOST_PATH])}
    if cuda:
        values["CUDA_HOME"] = str(cuda)
    if libraries := os.environ.get("LD_LIBRARY_PATH"):
        values["LD_LIBRARY_PATH"] = libraries
    return values


def mounts(spec: BoxSpec) -> dict[str, str]:
    """A box can write only to these."""
    # Triton loads launchers from its cache in /tmp. Compiling needs no executable /tmp.
    execution = "noexec" if spec.purpose is BoxPurpose.COMPILE else "exec"
    made = {"/tmp": _bounds(execution, spec.tmp_bytes, TMP_INODES)}  # noqa: S108
    return {**made, SHM: _bounds("noexec", spec.shm_bytes, SHM_INODES)} if spec.shm_bytes else made


def _bounds(execution: str, size: int, inodes: int) -> str:
    owner = f"uid={image.NOBODY},gid={image.NOBODY},mode=0700"
    return f"rw,nosuid,nodev,{execution},size={size},nr_inodes={inodes},{owner}"


def host_config(
    client: Any,
    spec: BoxSpec,
    binds: list[str],
    chosen: SandboxOptions = DEFAULTS,
    group: str | None = None,
) -> dict[str, Any]:
    """Memory includes swap. ``group``: parent of the box's control group, None for the engine's choice."""
    from docker.types import LogConfig, Ulimit

    paths = {"MaskedPaths": MASKED, "ReadonlyPaths": READ_ONLY}
    return paths | dict(
        client.create_host_config(
            runtime=chosen.runtime,
            binds=binds,
            network_mode="none",
            cap_drop=["ALL"],
            security_opt=[
                "no-new-privileges",
                f"seccomp={seccomp.profile(fifos=bool(spec.under), loopback=spec.loopback)}",
            ],
            read_only=True,
            tmpfs=mounts(spec),
            # Bounds every place to write: no other /dev/shm, no System V memory.
            ipc_mode="none",
            pids_limit=spec.pids,
            mem_limit=spec.memory_bytes,
            memswap_limit=spec.memory_bytes,
            nano_cpus=int(min(spec.cpus, os.cpu_count() or 1) * 1e9),
            cpuset_cpus=",".join(map(str, spec.cores)) or None,
            cpu_shares=spec.share.value,
            cgroup_parent=group,
            ulimits=[
                Ulimit(name="core", soft=CORE_BYTES, hard=CORE_BYTES),
                Ulimit(name="msgqueue", soft=0, hard=0),
                Ulimit(name="nofile", soft=OPEN_FILES, hard=OPEN_FILES),
                Ulimit(name="fsize", soft=spec.tmp_bytes, hard=spec.tmp_bytes),
            ],
            devices=options.device_files(chosen.gpu_access, spec),
            device_requests=options.device_requests(chosen.gpu_access, spec),
            oom_score_adj=1000,  # if the host runs out of memory, a box goes first
            # A log would let a box write to the host's disk.
            log_config=LogConfig(type="none"),
            init=False,
            auto_remove=False,
        )
    )
