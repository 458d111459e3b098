"""Loads a CUDA submission for the emulated GPU. Its host code gets its own process, without the judge's
memory, and asks this one for memory, copies and launches.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from binding import Binding, Call, MakeCall
from emulated import (
    end_like,
    failure_of,
    finding,
    forgotten_of,
    notes_of,
    part,
    record_call,
    remarks_of,
    sampled_of,
    step_of,
    unfreed_of,
    write_all,
)
from emulated_binding import EmulatedBinding
from emulated_quiz import facts_of
from emulated_writers import answer, unread
from failure import Described

device, engine = part("device"), part("engine")

# Work on the host is free in the model, so the host may see only this many bytes of a counted call's data: a
# count or a flag.
_MOST_TAKEN = 256
_TAKEN = (
    "While its work was counted, solve copied {:,} bytes from the GPU to the host. On this board only kernels may "
    f"compute; {_MOST_TAKEN} bytes are allowed, for a count or a flag."
)


def load_submission(message: dict[str, Any], descriptors: list[int]) -> MakeCall:
    """Raises OSError if the library cannot be loaded."""
    host = Host(descriptors[0], tags_prints=bool(message.get("tag_prints")), gpus=message.get("gpus", 1))

    def make(binding: Binding) -> Call:
        assert isinstance(binding, EmulatedBinding), "an emulated GPU has its own memory"
        return HostCall(host, binding)

    return make


class HostCall:
    def __init__(self, host: Host, binding: EmulatedBinding) -> None:
        self._host, self._binding = host, binding
        self._asked: Mapping[str, Any] = {}
        self.modelled_us: float | None = None
        self.unfreed: dict[str, Any] | None = None
        self.forgotten: dict[str, Any] | None = None
        self.sampled: dict[str, Any] | None = None
        self.remarks: list[str] = []
        self.profile: dict[str, Any] | None = None
        self.step: dict[str, Any] | None = None
        self.quiz: list[dict[str, Any]] | None = None
        self.constructs: dict[str, Any] | None = None
        self.instructions = 0

    def ask(self, asked: Mapping[str, Any]) -> None:
        self._binding.asked = self._asked = asked

    def __call__(self) -> None:
        self.unfreed, self.forgotten, self.sampled, self.remarks = None, None, None, []
        self.constructs = None
        try:
            returned = self._host.call(self._binding, watched=bool(self._asked.get("watch")))
        finally:
            self.sampled = self._host.sampled
        self.constructs = returned.constructs
        self.unfreed, self.forgotten = unfreed_of(returned), forgotten_of(returned)
        self.instructions = returned.instructions
        self.remarks = remarks_of(returned)

    def recorded(self) -> None:
        """A call for ``step``: the block that goes wrong, or a chosen one."""
        self.step = None
        asked = self._binding.asked.get("record")
        recorder = self._host.record(asked)
        try:
            self._host.call(self._binding)
        finally:
            self._host.end_record()
            recorder.finish()
            self.step = step_of(recorder)

    def quizzed(self) -> None:
        self.quiz = None
        seed = self._binding.asked["quiz"]
        launches = self._host.keep_launches()
        try:
            self._host.call(self._binding)
        finally:
            self._host.end_record()
        arguments = [(entry, self._binding.addresses.get(entry["name"])) for entry in self._binding.entries]
        self.quiz = facts_of(launches, arguments, seed)

    def counted(self) -> None:
        self.modelled_us = self.profile = self.sampled = self.constructs = None
        try:
            watched = bool(self._asked.get("watch"))
            returned = self._host.call(self._binding, counted=True, watched=watched)
        finally:
            self.sampled = self._host.sampled
        self.instructions = returned.instructions
        self.modelled_us, self.profile = 1e6 * returned.modelled, returned.profile
        self.constructs = returned.constructs

    def writers(self, message: dict[str, Any]) -> dict[str, Any]:
        return self._host.writers(self._binding, message)


class Host:
    def __init__(self, descriptor: int, *, tags_prints: bool = False, gpus: int = 1) -> None:
        self._tags_prints, self._gpus = tags_prints, gpus
        # The submission's processes must not look into this one.
        device.hide()
        # The linker takes only paths. The memory is the judge's and sealed.
        self._library = os.dup(descriptor)
        # The part of the last call that ran, if not all.
        self.sampled: dict[str, Any] | None = None
        self._start()

    def _start(self) -> None:
        self._device = device.Device(engine.Engine(gpus=self._gpus))
        self._device.engine.tags_prints = self._tags_prints
        try:
            self._process = device.HostProcess(self._device, self._library)
        except device.LoadFailed as error:
            raise OSError(str(error)) from None
        except device.HostEnded as ended:
            end_like(ended.status)

    def _start_again(self, binding: EmulatedBinding) -> None:
        binding.leave()
        self._process.close()
        self._device.engine.close()
        self._start()

    def record(self, asked: Any) -> Any:
        recorder = record_call(self._device.engine, asked)
        if recorder.choice is not None:
            recorder.texts = self._texts_with_names()
        return recorder

    def end_record(self) -> None:
        self._device.engine.recorder = None

    def _texts_with_names(self) -> list[str]:
        size, fatbin = os.fstat(self._library).st_size, part("fatbin")
        text = fatbin.section_of(os.pread(self._library, size, 0), fatbin.NAMES)
        return [text.decode("utf-8", "replace")] if text else []

    def keep_launches(self) -> Any:
        return self._device.engine.keep_launches()

    def call(self, binding: EmulatedBinding, *, counted: bool = False, watched: bool = False) -> Any:
        """Returns a ``device.Returned``.

        Raises Described for a finding or an error in the host code. If the host code's process ends, this one
        ends alike, because the judge asks how the box ended.
        """
        with binding.on(self._device) as values:
            try:
                returned = self._process.call(values, counted=counted, watched=watched)
            except device.HostEnded as ended:
                if self._device.call.on_host is None:
                    end_like(ended.status)
                returned = None
            self.sampled = sampled_of(self._device.engine.sample)
        if returned is None:
            touched = self._device.call.on_host
            self._start_again(binding)
            raise Described(finding(touched.kind, touched.message, touched.line))
        write_all(returned.printed)
        if returned.fault is not None:  # a card loses its context too
            self._start_again(binding)
        if (failure := failure_of(returned)) is not None:
            raise Described(failure)
        if counted and returned.taken > _MOST_TAKEN:
            raise Described(finding("taken", _TAKEN.format(returned.taken), 0))
        for note in notes_of(returned):
            write_all(f"[emulated GPU] {note}\n".encode())
        return returned

    def writers(self, binding: EmulatedBinding, message: dict[str, Any]) -> dict[str, Any]:
        name = message["array"]
        if name not in binding.addresses:
            return {}
        entry = next(entry for entry in binding.entries if entry["name"] == name)
        given = [
            (entry, binding.addresses[entry["name"]])
            for entry in binding.entries
            if entry["name"] in message["given"] and entry["name"] in binding.addresses
        ]
        found = answer(self._device, entry, binding.addresses[name], message)
        return {**found, "unread": unread(self._device, given)} if found else {}
