"""The real server as its own process, and a headless Chromium."""

from __future__ import annotations

import os
import selectors
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from grader.service import accounts
from grader.service.accounts import User
from grader.service.platform import Platform, open_platform
from tests.components import need
from tests.web import stage

# Chromium on a busy machine takes its time; nothing here waits longer than it must.
PATIENCE = 30
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@dataclass(frozen=True)
class Site:
    """A served platform: its address, and the platform itself, to play the worker's part with."""

    url: str
    platform: Platform
    ada: User
    bob: User


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    need("browser")
    settings = stage.make_settings(tmp_path_factory.mktemp("site"))
    platform = open_platform(settings)
    people = [accounts.create_user(platform, name, stage.PASSWORD) for name in ("ada", "bob")]
    environment = {
        **os.environ,
        "GRADER_DATA_DIR": str(settings.data_dir),
        "GRADER_REDIS_URL": settings.redis_url,
        "GRADER_BOX": "local",
        "GRADER_PORT": "0",
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "grader.web.server"], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Site(_address(server), platform, *people)
    finally:
        server.terminate()
        server.wait(PATIENCE)
        if server.stdout:
            server.stdout.close()
        platform.close()


def _address(server: subprocess.Popen[str]) -> str:
    """What the server says it listens on, within the deadline."""
    assert server.stdout
    with selectors.DefaultSelector() as selector:
        selector.register(server.stdout, selectors.EVENT_READ)
        assert selector.select(PATIENCE), "the server said nothing"
    line = server.stdout.readline()
    assert line.startswith("Listening on http://127.0.0.1:"), line
    return line.split()[-1]


@pytest.fixture(scope="module")
def chromium(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    options = webdriver.ChromeOptions()
    for flag in [*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"]:
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def page(chromium: WebDriver, site: Site) -> Iterator[WebDriver]:
    """A window in which nobody is signed in; afterwards its console must be empty."""
    chromium.delete_all_cookies()
    look(chromium, 1280, 800)
    yield chromium
    noise = [entry for entry in chromium.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert noise == []


def look(driver: WebDriver, width: int, height: int, *, dark: bool = False) -> None:
    """Size and colour scheme of what is shown."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)  # type: ignore[attr-defined]
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})  # type: ignore[attr-defined]


def sign_in(driver: WebDriver, site: Site, name: str = "ada", path: str = "/") -> None:
    driver.get(f"{site.url}/sign-in?next={path}")
    driver.find_element(By.NAME, "name").send_keys(name)
    driver.find_element(By.NAME, "password").send_keys(stage.PASSWORD)
    driver.find_element(By.CSS_SELECTOR, "main button").click()
    WebDriverWait(driver, PATIENCE).until(lambda it: it.current_url == site.url + path)


def headline(driver: WebDriver, wanted: str) -> None:
    """Wait until the submission's page says ``wanted``."""
    WebDriverWait(driver, PATIENCE, ignored_exceptions=[Exception]).until(
        lambda it: it.find_element(By.CSS_SELECTOR, ".headline").text == wanted, f"headline '{wanted}'"
    )


def shot(driver: WebDriver, name: str) -> None:
    """Keep a picture where GRADER_SHOTS names a folder."""
    if folder := os.environ.get("GRADER_SHOTS"):
        driver.save_screenshot(str(Path(folder) / f"{name}.png"))
