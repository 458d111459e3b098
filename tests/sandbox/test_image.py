"""A Docker box's view of the host."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

import pytest

from grader.sandbox import image


def test_the_layout_binds_only_programs() -> None:
    bound = image.layout().bound
    assert "/usr" in bound
    assert any(Path(sys.prefix).is_relative_to(path) for path in bound)
    assert not {"/", "/opt", "/etc", "/root", "/home", "/var", "/tmp", str(Path.home())} & set(bound)


def test_a_compiler_outside_usr_is_bound_with_its_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that ``/usr/bin`` only links to; but no folder just because of a link in it."""
    toolset, home, libraries = tmp_path / "toolset", tmp_path / "home", tmp_path / "libraries"
    for folder in (toolset / "bin", toolset / "lib" / "gcc", home / "bin", libraries):
        folder.mkdir(parents=True)
    for tool in (toolset / "bin" / "gcc", home / "bin" / "g++"):
        tool.write_text("")
        tool.chmod(0o755)
    path = tmp_path / "path"
    path.mkdir()
    (path / "gcc").symlink_to(toolset / "bin" / "gcc")
    (path / "g++").symlink_to(home / "bin" / "g++")
    monkeypatch.setattr(image, "HOST_PATH", str(path))
    monkeypatch.setattr(image, "ADD_ONS", str(tmp_path))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{libraries}:{tmp_path}/missing:/usr/lib")
    bound = {path for path in image._bound_paths() if path.startswith(str(tmp_path))}
    assert bound == {str(toolset), str(libraries)}


def test_the_image_tar_is_reproducible_and_without_content() -> None:
    data = image.image_tar(image.layout())
    assert data == image.image_tar(image.layout())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        filled = {entry.name for entry in tar if entry.isfile() and entry.size}
    assert filled == {"etc/passwd", "etc/group"}


def test_another_layout_has_another_image_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = image.image_tag()
    image.image_tag.cache_clear()
    monkeypatch.setattr(image, "layout", lambda: image.HostLayout(("/usr",), ()))
    assert image.image_tag() != usual
    image.image_tag.cache_clear()


def test_data_and_checkout_below_a_bound_folder_are_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "opt" / "data"
    data.mkdir(parents=True)
    monkeypatch.setenv("GRADER_DATA_DIR", str(data))
    assert str(data) in image._masked_paths((str(tmp_path / "opt"),))


def test_an_environment_in_a_masked_checkout_stays_reachable() -> None:
    what = image.HostLayout(("/opt", "/opt/checkout/.venv"), ("/opt/checkout",))
    assert what.below("/opt/checkout") == [".venv"]
