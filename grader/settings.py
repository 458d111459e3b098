"""Settings of a platform, from environment variables ``GRADER_*``. A file ``.env`` is not read."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from grader import limits
from grader.device_kinds import default_board, find_kind
from grader.errors import BadRequest
from grader.oidc_settings import PROVIDER_NAME, OidcProvider
from grader.sandbox.options import NODES, RUNC, SandboxOptions

# Container engines put secrets here, by settings' names.
SECRETS = Path("/run/secrets")


def default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "grader"


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


_DATABASE_URL = re.compile(r"(sqlite|postgresql)(\+\w+)?://")
_QUOTED = "a password's / : @ # ? % are written as %2F %3A %40 %23 %3F %25"


def _is_redis_url(value: str) -> bool:
    parts = urlsplit(value)
    try:
        # Raises if the port is part of a password that was not quoted.
        _ = parts.port
    except ValueError:
        return False
    return bool(parts.scheme == "unix" or (parts.scheme in ("redis", "rediss") and parts.hostname))


def _host_and_port(value: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(f"//{value}")
        port = 587 if parts.port is None else parts.port
    except ValueError:
        return None
    # Rules out a scheme, a path, a user and a colon without a port.
    host = parts.hostname or ""
    whole = f"[{host}]" if ":" in host else host
    fits = value.lower() in (whole, f"{whole}:{parts.port}")
    return (host, port) if host and port and fits and not re.search(r"\s", value) else None


class Settings(BaseSettings):
    """Every field is an environment variable: ``data_dir`` is ``GRADER_DATA_DIR``."""

    model_config = SettingsConfigDict(
        env_prefix="GRADER_",
        env_nested_delimiter="__",
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
        secrets_dir=SECRETS if SECRETS.is_dir() else None,
    )

    data_dir: Path = Field(
        default_factory=default_data_dir, description="database, socket of the embedded Redis, secrets, logs"
    )
    # Both hold passwords, so errors do not show them.
    database_url: str = Field(
        default="",
        repr=False,
        description="an SQLAlchemy URL, such as postgresql+psycopg://...; empty: SQLite in the data folder",
    )
    redis_url: str = Field(
        default="",
        repr=False,
        description="such as redis://:PASSWORD@host:6379/0 or rediss://...; empty: an embedded Redis",
    )
    challenges: Path | None = Field(
        default=None,
        description="a folder with challenges/ and reference/; empty: the included catalogue",
    )
    box: Literal["auto", "docker", "bubblewrap", "local"] = Field(
        default="auto",
        description="what submissions run in; auto takes the first of docker, bubblewrap and local that works",
    )
    runtime: str = Field(
        default=RUNC,
        description="the Docker engine's runtime for boxes; runsc (gVisor) is for boxes without a GPU",
    )
    gpu_access: str = Field(
        default=NODES,
        description="how a Docker box gets its GPU: nodes binds device files and the driver's folders; cdi "
        "asks the engine for a Container Device Interface device (not yet tried on a real engine)",
    )
    host: str = Field(default="127.0.0.1", description="the address the web listens on")
    port: int = Field(
        default=8000,
        ge=0,
        le=65535,
        description="the port it listens on; 0 takes any free port (grader up only)",
    )
    device: str = Field(
        default_factory=default_board,
        description="the board that a worker without a GPU serves; unset: emulated, or cpu if the emulated GPU is not "
        "built",
    )
    gpu: str = Field(
        default="",
        description="GPUs that workers serve: numbers, UUIDs, all or none; 0+1: one worker uses both; empty: grader up "
        "takes all, grader worker none",
    )
    devices: str = Field(
        default_factory=lambda given: given.get("device") or default_board(),
        description="boards that accept submissions even without a worker, separated by commas, the default first; "
        "unset: as GRADER_DEVICE",
    )
    token_days: int = Field(
        default=limits.TOKEN_DAYS,
        ge=1,
        le=3650,
        description="the longest life of an API token, in days; grader login --days N asks for less",
    )
    proxies: int = Field(
        default=0,
        ge=0,
        le=8,
        description="number of reverse proxies in front of the web whose X-Forwarded-* headers are trusted",
    )
    worker_server: str = Field(
        default="",
        description="the server that workers here serve over HTTPS, such as https://grader.uni.edu, with "
        "GRADER_WORKER_TOKEN; empty: they use the database and Redis",
    )
    worker_token: str = Field(
        default="",
        repr=False,
        description="a worker's token for GRADER_WORKER_SERVER, from `grader admin worker token`",
    )
    lock_dir: Path | None = Field(
        default=None, description="where workers lock their GPUs; all platforms of a machine share one folder"
    )
    lease_s: float = Field(
        default=limits.LEASE_SECONDS,
        gt=0,
        description="seconds without a heartbeat before a worker loses its submission",
    )
    heartbeat_s: float = Field(
        default=limits.HEARTBEAT_SECONDS, gt=0, description="seconds between a worker's heartbeats"
    )
    sweep_s: float = Field(
        default=limits.SWEEP_SECONDS,
        gt=0,
        description="seconds between sweeps for lost submissions and wake-ups",
    )
    attempts: int = Field(
        default=limits.ATTEMPTS,
        ge=1,
        description="times a submission is judged before failures of the platform end it",
    )
    spare_boxes: int = Field(
        default=1,
        ge=0,
        le=8,
        description="boxes that a worker starts ahead for each language; on a GPU more while many submit",
    )

    # Operating it.
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="the least severe level that is logged"
    )
    log_format: Literal["auto", "json", "text"] = Field(
        default="auto", description="auto: text on a terminal, else JSON"
    )
    access_log: bool = Field(
        default=False, description="log every web request, not only those that change something or fail"
    )
    metrics_token: str = Field(
        default="",
        description="the bearer token that may read /metrics; without this and GRADER_METRICS_ALLOW nobody may",
    )
    metrics_allow: str = Field(
        default="",
        description="addresses and networks that may read /metrics without a token, separated by commas",
    )
    metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="the port on 127.0.0.1 where workers of a host without a web serve its metrics; 0: none",
    )
    retention_days: int = Field(
        default=0,
        ge=0,
        le=36500,
        description="days after which sweepers remove reports that no board needs; 0: never",
    )

    # Queues and quotas.
    waiting_per_user: int = Field(
        default=limits.WAITING_PER_USER,
        ge=1,
        le=1000,
        description="submissions that one user may have waiting or running at once",
    )
    quota: int = Field(
        default=limits.QUOTA,
        ge=1,
        le=1_000_000,
        description="submissions per user and challenge within GRADER_QUOTA_HOURS",
    )
    quota_hours: float = Field(
        default=limits.QUOTA_HOURS, gt=0, le=24 * 366, description="hours over which GRADER_QUOTA counts"
    )

    # Accounts. A validator sees only the fields above, so it belongs to the later of two.
    sign_up: Literal["closed", "invite", "domain", "open"] = Field(
        default="closed",
        description="who may make an account: closed (only staff make them), invite, domain (people with a verified "
        "e-mail address of a domain), open",
    )
    url: str = Field(
        default="",
        description="the address that people open, such as https://grader.uni.edu; links in mail and printouts "
        "begin with it",
    )
    trusted_proxies: str = Field(
        default="",
        description="addresses and networks, separated by commas, of the proxies whose X-Forwarded-* headers "
        "are trusted; headers from others are dropped",
    )
    git_hosts: str = Field(
        default="",
        description="git servers with internal addresses from which courses may fetch their catalogues, such as "
        "git.uni.edu, separated by commas; others must have public addresses. file allows repositories of "
        "the workers' own disks: for tests only",
    )
    smtp_host: str = Field(
        default="",
        description="the mail server, such as mail.uni.edu or, if its port is not 587, mail.uni.edu:465; empty: "
        "nothing is mailed",
    )
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="none is only for a relay on this machine without a password"
    )
    smtp_user: str = Field(default="", description="the user name at the mail server; empty: no sign-in")
    smtp_password: str = Field(default="", repr=False, description="the password at the mail server")
    smtp_from: str = Field(default="", description="the sender of mail")
    digest_minutes: int = Field(
        default=limits.DIGEST_MINUTES,
        ge=0,
        le=7 * 24 * 60,
        description="minutes that notices are collected before they are mailed; 0: none are",
    )
    sign_up_domains: str = Field(
        default="",
        description="e-mail domains that GRADER_SIGN_UP=domain accepts, separated by commas; .uni.edu "
        "accepts all its subdomains",
    )

    client_install: str = Field(
        default="",
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f]*$",
        description="the command that installs the command line, such as pip install kernel-grader, for the "
        "first page; empty: pip install with the address of this server's own client",
    )

    box_image: str = Field(
        default="", description="the image of Docker boxes; empty: the host's own toolchain"
    )

    run_limit: int = Field(
        default=limits.RUNS_PER_HOUR,
        ge=1,
        le=100_000,
        description="runs (public cases only) per user and hour",
    )
    gpu_seconds_per_day: float = Field(
        default=0.0,
        ge=0,
        le=86_400,
        description="GPU seconds that a student's submissions and runs may use in a day of UTC, unless staff gave "
        "the student another budget; 0: any number",
    )
    runs_at_once: int = Field(
        default=limits.RUNS_AT_ONCE,
        ge=1,
        le=100,
        description="runs that one user may have waiting or running at once",
    )

    oidc: dict[str, OidcProvider] = Field(
        default_factory=dict, repr=False, description="providers of single sign-on, by name"
    )

    # Privacy.
    board_readers: Literal["everybody", "members", "staff"] = Field(
        default="members",
        description="who may read leaderboards; profiles are never open to more: everybody, members (anyone signed "
        "in), staff",
    )
    deletion_days: int = Field(
        default=14,
        ge=0,
        le=365,
        description="days between a request to delete an account and the deletion",
    )
    profile_readers: Literal["public", "members", "course", "private"] = Field(
        default="members",
        description="who may read profiles and calendars: public (everybody), members (anyone signed in), course "
        "(people who share a course), private (only the person); each person can narrow it, staff always may",
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_old_names(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Unknown variables are ignored, so earlier names are refused."""
        given = {name.upper(): value for name, value in os.environ.items()}
        if port := given.get("GRADER_SMTP_PORT", ""):
            host = given.get("GRADER_SMTP_HOST") or values.get("smtp_host") or "mail.uni.edu"
            raise ValueError(
                f"GRADER_SMTP_PORT is no longer a setting: write GRADER_SMTP_HOST={host}:{port} instead of both"
            )
        return values

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, value: str) -> str:
        if value and not _DATABASE_URL.match(value):
            raise ValueError(f"write it like postgresql+psycopg://name:password@host/name; {_QUOTED}")
        return value

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, value: str) -> str:
        if value and not _is_redis_url(value):
            raise ValueError(f"write it like redis://:password@host:6379/0, rediss:// or unix://; {_QUOTED}")
        return value

    @field_validator("device", "devices")
    @classmethod
    def _names_known_devices(cls, value: str) -> str:
        unknown = [name for name in _listed(value) if find_kind(name) is None]
        if unknown:
            raise ValueError(f"there is no device '{unknown[0]}'")
        return value

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query):
            raise ValueError("write it like https://grader.uni.edu")
        return value.rstrip("/")

    @field_validator("trusted_proxies")
    @classmethod
    def _check_networks(cls, value: str) -> str:
        for each in _listed(value):
            ipaddress.ip_network(each, strict=False)
        return value

    @field_validator("smtp_host")
    @classmethod
    def _check_mail_server(cls, value: str, info: ValidationInfo) -> str:
        if value and _host_and_port(value) is None:
            raise ValueError("write it like mail.uni.edu or mail.uni.edu:465; an IPv6 address like [::1]:25")
        # A request's Host header must not decide a mailed link.
        if value and not info.data.get("url"):
            raise ValueError("mails contain links: set GRADER_URL to the address that people open")
        return value

    @field_validator("smtp_user")
    @classmethod
    def _keep_the_password_off_the_wire(cls, value: str, info: ValidationInfo) -> str:
        if value and info.data.get("smtp_security") == "none":
            raise ValueError("a password needs GRADER_SMTP_SECURITY=starttls or tls")
        return value

    @field_validator("smtp_from")
    @classmethod
    def _need_a_sender(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("smtp_host") and "@" not in value:
            raise ValueError("mail needs a sender, such as grader@uni.edu")
        return value

    @field_validator("sign_up_domains")
    @classmethod
    def _need_domains_and_mail(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("sign_up") == "domain":
            if not _listed(value):
                raise ValueError("GRADER_SIGN_UP=domain needs at least one domain, such as uni.edu")
            if not info.data.get("smtp_host"):
                raise ValueError("e-mail addresses are verified by mail: set GRADER_SMTP_HOST")
        if any("@" in each or " " in each for each in _listed(value)):
            raise ValueError("write domains without @, separated by commas, such as uni.edu,.uni.org")
        return value

    @field_validator("oidc")
    @classmethod
    def _check_providers(
        cls, value: dict[str, OidcProvider], info: ValidationInfo
    ) -> dict[str, OidcProvider]:
        for name in value:
            if not PROVIDER_NAME.fullmatch(name):
                raise ValueError(
                    f"a provider's name has only letters and digits, here in capitals; '{name[:40]}' does not"
                )
        # No request may choose where the provider sends people back to.
        if value and not info.data.get("url"):
            raise ValueError(
                "providers send people back to GRADER_URL: set it to the address that people open"
            )
        return value

    @property
    def sandbox(self) -> SandboxOptions:
        return SandboxOptions(self.runtime, self.gpu_access, self.box_image)

    @property
    def networks(self) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
        return [ipaddress.ip_network(each, strict=False) for each in _listed(self.trusted_proxies)]

    @property
    def mail_server(self) -> tuple[str, int]:
        found = _host_and_port(self.smtp_host)
        assert found is not None, "a validator checked it"
        return found

    @property
    def domains(self) -> list[str]:
        return [each.lower() for each in _listed(self.sign_up_domains)]

    @property
    def sql_url(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir / 'grader.sqlite3'}"

    @property
    def redis_socket(self) -> Path:
        """At most about 100 characters."""
        return self.data_dir / "redis.sock"

    @property
    def queue_url(self) -> str:
        return self.redis_url or f"unix://{self.redis_socket}"

    @property
    def git_host_list(self) -> list[str]:
        return [host.lower() for host in _listed(self.git_hosts)]

    @property
    def device_list(self) -> list[str]:
        return _listed(self.devices)

    def secret(self, name: str) -> bytes:
        """32 bytes, made on first use, readable only by their owner."""
        folder = self.data_dir / "secrets"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / name
        if not path.exists():
            # Completely or not at all: an empty secret could be guessed. Of two processes, the second takes
            # the first one's.
            partial = path.with_name(f".{name}.{os.getpid()}.{secrets.token_hex(4)}")
            try:
                with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(secrets.token_bytes(32).hex())
                with suppress(FileExistsError):
                    path.hardlink_to(partial)
            finally:
                partial.unlink(missing_ok=True)
        return bytes.fromhex(path.read_text().strip())


def load_settings(**chosen: Any) -> Settings:
    """Else from the environment. Raises BadRequest with the variable."""
    try:
        settings = Settings(**{name: value for name, value in chosen.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        said = first["msg"].removeprefix("Value error, ").removesuffix(".")
        if first["loc"]:
            said = f"GRADER_{'__'.join(str(part) for part in first['loc']).upper()} cannot be used: {said}"
        raise BadRequest(f"{said}.", "See the settings in docs/reference/settings.md.") from error
    return settings.model_copy(update={"data_dir": settings.data_dir.absolute()})
