"""What launches, lists and stops pilots. A listing is the truth: a pilot that it lacks is over."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from grader.errors import GraderError
from grader.queue.fleet.plan import CommandOptions, KubernetesOptions, Pool, SlurmOptions

_PREFIX = "grader-"
_CALL_SECONDS = 30.0
# Before its end a job gets SIGTERM, as when it is preempted: enough to give a submission back.
_NOTICE_SECONDS = 25
_ERROR_CHARS = 500
_POOL_LABEL = "grader-pool"


class ProviderError(GraderError):
    """The scheduler did not do it, or is away."""

    code = "provider_failed"


@dataclass(frozen=True)
class Launch:
    name: str
    pool: str
    settings: Pool

    @property
    def worker_options(self) -> list[str]:
        pool = self.settings
        serves = ["--compile", "1"] if pool.device == "compile" else []
        return [*serves, "--name", self.name, "--lifetime", f"{pool.lifetime:g}", "--idle", f"{pool.idle:g}"]


@dataclass(frozen=True)
class Listed:
    name: str
    handle: str
    running: bool


class Provider(Protocol):
    def launch(self, wanted: Launch) -> str:
        """The handle. Raises ProviderError."""

    def list(self, pool: str) -> Sequence[Listed]:
        """Those of the pool that wait or run. Raises ProviderError."""

    def stop(self, handle: str) -> None:
        """Idempotent. Raises ProviderError."""


def provider_of(pool: Pool, folder: Path) -> Provider:
    """``folder`` of the fleet's file. Raises ProviderError."""
    if pool.slurm is not None:
        return Slurm(pool.slurm)
    if pool.kubernetes is not None:
        return Kubernetes(pool.kubernetes, folder)
    assert pool.command is not None
    return Command(pool.command, folder)


def prefix_of(pool: str) -> str:
    return f"{_PREFIX}{pool}-"


def _is_of(name: str, pool: str) -> bool:
    """A pool's name may begin with another's."""
    return name.rpartition("-")[0] == f"{_PREFIX}{pool}"


class Slurm:
    def __init__(self, options: SlurmOptions) -> None:
        self._options = options

    def launch(self, wanted: Launch) -> str:
        """The notice goes to the shell's own process, which ``exec`` makes the worker's."""
        command = shlex.join([*self._options.command, *wanted.worker_options])
        minutes = math.ceil(wanted.settings.lifetime / 60) + 1
        own = [
            f"--job-name={wanted.name}", f"--time={minutes}", "--no-requeue",
            f"--signal=B:TERM@{_NOTICE_SECONDS}",
        ]  # fmt: skip
        script = f"#!/bin/sh\nexec {command}\n"
        # An administrator's options last: they may override ours.
        said = _called(["sbatch", "--parsable", *own, *self._options.options], script)
        return said.strip().partition(";")[0]

    def list(self, pool: str) -> Sequence[Listed]:
        said = _called(["squeue", "--noheader", "--me", "--format=%i|%T|%j"])
        found = []
        for line in said.splitlines():
            handle, state, name = line.strip().split("|", 2)
            # A job that only waits for its node to clean up takes nothing more.
            if _is_of(name, pool) and state != "COMPLETING":
                found.append(Listed(name, handle, state not in ("PENDING", "CONFIGURING", "REQUEUED")))
        return found

    def stop(self, handle: str) -> None:
        _called(["scancel", "--quiet", handle])


class Command:
    """``launch`` prints a handle; ``list`` a line `NAME HANDLE pending|running` for each; ``stop`` gets a handle."""

    def __init__(self, options: CommandOptions, folder: Path) -> None:
        self._options = options
        self._folder = folder

    def launch(self, wanted: Launch) -> str:
        environment = self._environment(wanted.pool) | {
            "PILOT_NAME": wanted.name,
            "PILOT_DEVICE": wanted.settings.device,
            "PILOT_OPTIONS": shlex.join(wanted.worker_options),
        }
        said = _called(self._options.launch, folder=self._folder, environment=environment).strip()
        if not said or "\n" in said or len(said) > 128:
            raise ProviderError(
                f"{self._options.launch[0]} printed no handle of one line", said[:_ERROR_CHARS]
            )
        return said

    def list(self, pool: str) -> Sequence[Listed]:
        said = _called(self._options.list, folder=self._folder, environment=self._environment(pool))
        found = []
        for line in said.splitlines():
            words = line.split()
            if len(words) != 3 or words[2] not in ("pending", "running"):
                raise ProviderError(
                    f"{self._options.list[0]} printed '{line[:80]}'",
                    "Print a line for each pilot: NAME HANDLE pending, or NAME HANDLE running.",
                )
            if _is_of(words[0], pool):
                found.append(Listed(words[0], words[1], words[2] == "running"))
        return found

    def stop(self, handle: str) -> None:
        _called([*self._options.stop, handle], folder=self._folder)

    def _environment(self, pool: str) -> dict[str, str]:
        return {**os.environ, "PILOT_POOL": pool}


class Kubernetes:
    """A Job for each pilot, from the administrator's manifest: image, resources, Kueue's labels."""

    def __init__(self, options: KubernetesOptions, folder: Path) -> None:
        self._options = options
        self._template = folder / options.job
        try:
            from kubernetes import client, config
        except ImportError as error:
            raise ProviderError(
                "The kubernetes package is missing.", "pip install 'kernel-grader[kubernetes]'"
            ) from error
        try:
            # Named, because the client reads the variable once, when it is imported.
            if (path := os.environ.get("KUBECONFIG")) or "KUBERNETES_SERVICE_HOST" not in os.environ:
                config.load_kube_config(config_file=path)  # type: ignore[no-untyped-call]
            else:
                config.load_incluster_config()  # type: ignore[no-untyped-call]
        except config.ConfigException as error:
            raise ProviderError(
                f"No cluster: {error}", "Set KUBECONFIG, or run it in the cluster."
            ) from error
        self._jobs = client.BatchV1Api()

    def launch(self, wanted: Launch) -> str:
        self._ask(
            self._jobs.create_namespaced_job, namespace=self._options.namespace, body=self._manifest(wanted)
        )
        return wanted.name

    def list(self, pool: str) -> Sequence[Listed]:
        said = self._ask(
            self._jobs.list_namespaced_job,
            namespace=self._options.namespace,
            label_selector=f"{_POOL_LABEL}={pool}",
        )
        return [
            Listed(job.metadata.name, job.metadata.name, bool(job.status.ready))
            for job in said.items
            if not job.status.succeeded and not job.status.failed and job.metadata.deletion_timestamp is None
        ]

    def stop(self, handle: str) -> None:
        self._ask(
            self._jobs.delete_namespaced_job,
            name=handle,
            namespace=self._options.namespace,
            propagation_policy="Background",
            missing_is_fine=True,
        )

    def _manifest(self, wanted: Launch) -> dict[str, Any]:
        import yaml

        try:
            job = yaml.safe_load(self._template.read_text())
            spec = job["spec"]
            container = spec["template"]["spec"]["containers"][0]
        except (OSError, yaml.YAMLError, KeyError, IndexError, TypeError) as error:
            raise ProviderError(f"{self._template} is no Job with a container: {error!r}") from error
        metadata = job.setdefault("metadata", {})
        metadata["name"] = wanted.name
        metadata.pop("generateName", None)
        metadata.setdefault("labels", {})[_POOL_LABEL] = wanted.pool
        # A pilot that ends is over, and the controller decides about another.
        spec["backoffLimit"] = 0
        spec["activeDeadlineSeconds"] = math.ceil(wanted.settings.lifetime) + 60
        spec.setdefault("ttlSecondsAfterFinished", 600)
        pod = spec["template"]["spec"]
        pod["restartPolicy"] = "Never"
        pod.setdefault("terminationGracePeriodSeconds", _NOTICE_SECONDS)
        # YAML reads a bare 1 as a number, and the client takes text alone.
        for quantities in container.get("resources", {}).values():
            quantities.update({name: str(value) for name, value in quantities.items()})
        container["args"] = [*container.get("args", ["worker"]), *wanted.worker_options]
        return dict(job)

    def _ask(self, call: Any, *, missing_is_fine: bool = False, **named: Any) -> Any:
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        try:
            return call(_request_timeout=_CALL_SECONDS, **named)
        except ApiException as error:
            if missing_is_fine and error.status == 404:
                return None
            raise ProviderError(
                f"Kubernetes answered {error.status}: {error.reason}", _said(error.body)
            ) from error
        except ValueError as error:  # the client checks what it sends
            raise ProviderError(f"{self._template}: {_said(str(error))}") from error
        except (HTTPError, OSError) as error:
            raise ProviderError(f"Kubernetes could not be reached: {error}"[:_ERROR_CHARS]) from error


def _called(
    argv: Sequence[str],
    given: str | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Its output. Raises ProviderError."""
    name = argv[0]
    if shutil.which(name, path=os.environ.get("PATH")) is None and not (folder and (folder / name).exists()):
        raise ProviderError(
            f"{name} is not installed here.", "Run the fleet where the scheduler's commands are."
        )
    try:
        done = subprocess.run(
            argv,
            input=given,
            capture_output=True,
            text=True,
            timeout=_CALL_SECONDS,
            cwd=folder,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ProviderError(f"{name} took longer than {_CALL_SECONDS:g} s") from error
    except OSError as error:
        raise ProviderError(f"{name}: {error.strerror}") from error
    if done.returncode:
        raise ProviderError(f"{name} ended with {done.returncode}: {_said(done.stderr or done.stdout)}")
    return done.stdout


def _said(text: str | None) -> str:
    return " ".join((text or "").split())[:_ERROR_CHARS]
