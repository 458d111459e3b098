"""The base of all models."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Base of our models: unknown keys are errors, instances do not change."""

    # What breaks a model may be a source or a hidden case, and its error is logged.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
