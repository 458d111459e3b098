"""An accepted submission's place on its board, and the next challenge."""

from __future__ import annotations

from pydantic import Field

from grader.schemas.strict import Strict

# With fewer other entries a percentile says little about the kernel.
PERCENTILE_FROM = 10


class Standing(Strict):
    """Without ``rank`` the counts are 0."""

    submission: str
    rank: int | None = Field(default=None, description="of the author's entry; null: see `unranked`")
    entry: str | None = Field(
        default=None, description="the author's entry, their fastest submission; this one or another"
    )
    others: int = Field(default=0, ge=0, description="entries of other people")
    slower: int = Field(
        default=0, ge=0, description="of these, those that are slower by more than the board's resolution"
    )
    level: int = Field(
        default=0, ge=0, description="of these, those that the board cannot tell apart from it"
    )
    percentile: float | None = Field(
        default=None,
        description="percent of the others that are slower, level ones counted half; null if there are fewer than "
        f"{PERCENTILE_FROM}",
    )
    unranked: str = Field(default="", description="why there is no rank, a sentence; empty if there is one")
    sol: float | None = Field(
        default=None, description="share of the device's ceiling: time at the speed of light / this time"
    )
    next: str | None = Field(
        default=None, description="the suggested next challenge, for the author; null if all are solved"
    )
    next_title: str | None = None

    @property
    def sentence(self) -> str:
        if self.rank is None:
            return self.unranked
        if not self.others:
            return "The only entry of this board."
        if self.others == 1:
            word = "Faster than" if self.slower else "Level with" if self.level else "Slower than"
            return f"{word} the other entry."
        level = f", level with {self.level:,}" if self.level else ""
        return f"Faster than {self.slower:,} of {self.others:,} other entries{level}."


def percentile(others: int, slower: int, level: int) -> float | None:
    return 100 * (slower + level / 2) / others if others >= PERCENTILE_FROM else None
