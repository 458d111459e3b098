"""Settings of a platform, from environment variables ``GRADER_*`` (and a file ``.env`` is not read: one place only)."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from grader import limits


def default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "grader"


class Settings(BaseSettings):
    """One platform. Every field is an environment variable: ``data_dir`` is ``GRADER_DATA_DIR``."""

    model_config = SettingsConfigDict(env_prefix="GRADER_", frozen=True, extra="ignore")

    data_dir: Path = Field(
        default_factory=default_data_dir, description="database, embedded Redis, secrets, logs"
    )
    database_url: str = Field(default="", description="SQLAlchemy URL; empty = SQLite in the data folder")
    redis_url: str = Field(default="", description="empty = the embedded Redis of the data folder")
    challenges: Path | None = Field(
        default=None, description="a course folder with challenges/ and reference/"
    )
    box: Literal["auto", "docker", "local"] = Field(default="auto", description="what submissions run in")
    runtime: str = Field(default="runc", description="what the Docker engine runs a box with: runc or runsc")
    gpu_access: str = Field(default="nodes", description="how a Docker box gets its GPU: nodes or cdi")
    host: str = Field(default="127.0.0.1", description="address the web listens on")
    port: int = Field(default=8000, ge=0, le=65535)
    device: str = Field(default="cpu", description="board that a worker without a GPU serves")
    gpu: str = Field(
        default="", description="GPUs that workers serve: numbers, UUIDs, all, none; empty: see README"
    )
    devices: str = Field(
        default="cpu", description="comma-separated devices that are offered without a live worker, too"
    )
    open_sign_up: bool = Field(
        default=False, description="anyone who reaches the page may make a student account"
    )
    token_days: int = Field(
        default=limits.TOKEN_DAYS, ge=1, le=3650, description="how long an API token lives at most"
    )
    proxies: int = Field(
        default=0,
        ge=0,
        le=8,
        description="reverse proxies in front of the web, whose X-Forwarded-* are believed",
    )
    lock_dir: Path | None = Field(
        default=None, description="where GPUs are locked; one folder for a whole machine"
    )
    lease_s: float = Field(default=limits.LEASE_SECONDS, gt=0)
    heartbeat_s: float = Field(default=limits.HEARTBEAT_SECONDS, gt=0)
    sweep_s: float = Field(default=limits.SWEEP_SECONDS, gt=0)
    attempts: int = Field(default=limits.ATTEMPTS, ge=1)
    spare_boxes: int = Field(default=1, ge=0, le=8, description="boxes started ahead of need")

    @property
    def sql_url(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir / 'grader.sqlite3'}"

    @property
    def redis_socket(self) -> Path:
        """Where the embedded Redis listens. Unix socket paths are short by law, so keep the data folder short."""
        return self.data_dir / "redis.sock"

    @property
    def queue_url(self) -> str:
        return self.redis_url or f"unix://{self.redis_socket}"

    @property
    def device_list(self) -> list[str]:
        return [name.strip() for name in self.devices.split(",") if name.strip()]

    def secret(self, name: str) -> bytes:
        """A random secret of 32 bytes, made on first use and kept in the data folder, readable by its owner only."""
        folder = self.data_dir / "secrets"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / name
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return bytes.fromhex(path.read_text().strip())
        with os.fdopen(descriptor, "w") as file:
            value = secrets.token_bytes(32)
            file.write(value.hex())
        return value
