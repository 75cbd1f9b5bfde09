"""Which saved state a name means: a checkpoint's own, or the best one of a training run."""

from __future__ import annotations

from typing import Final

from memcli.errors import NothingFound
from memcli.store.run_folder import EVALUATIONS, open_run, run_names
from memcli.store.snapshot import Snapshot
from memcli.store.store import Store
from memcli.strategy.report import best_step

BEST: Final = "best"


def state_at(store: Store, at: str | None) -> Snapshot:
    """Return the newest state, or the one that a name means.

    Args:
        store: The store.
        at: A checkpoint's name; ``best``: the earliest best validation of the newest run
            that has one; ``RUN:best``: that of a run; None: the newest state.

    Raises:
        NothingFound: If there is no such checkpoint, run or validation.
    """
    return store.snapshot(None if at is None else resolve(store, at))


def resolve(store: Store, name: str) -> str:
    """Return the checkpoint that a name means; a checkpoint of that very name comes first.

    Raises:
        NothingFound: If a best state is asked for and nothing was validated.
    """
    if any(saved.name == name for saved in store.checkpoints()):
        return name
    run, _, what = name.rpartition(":")
    if what != BEST:
        return name
    runs = [run] if run else reversed(run_names(store.path))
    found = (best_of(store, each) for each in runs)
    best = next((each for each in found if each is not None), None)
    if best is None:
        raise NothingFound(
            f"{store.path} has no validated state{f' of {run}' if run else ''}",
            hint="`memcli train … --val FILE` makes one; `memcli inspect checkpoints` lists states",
        )
    return best


def best_of(store: Store, run: str) -> str | None:
    """Return the checkpoint of a run's earliest best validation, or None without one.

    Raises:
        NothingFound: If there is no such run.
    """
    step = best_step(open_run(store.path, run, disk=store.disk).lines(EVALUATIONS))
    return None if step is None else checkpoint_name(run, step)


def checkpoint_name(run: str, step: int) -> str:
    """Return the name of the state after a step of a run."""
    return f"{run}.{step}"
