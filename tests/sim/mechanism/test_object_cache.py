"""What is made once for an object, and goes with it."""

import gc
import weakref

from sim.mechanism.object_cache import once_per_owner


class Owner:
    pass


class Made:
    pass


def test_each_owner_has_its_own_and_keeps_it_whatever_is_asked_between():
    calls = []

    @once_per_owner
    def made(owner: Owner, more: int) -> Made:
        calls.append((owner, more))
        return Made()

    one, other = Owner(), Owner()
    first = made(one, 1)
    assert made(other, 1) is not first
    assert made(one, 2) is not first
    assert made(one, 1) is first
    assert calls == [(one, 1), (other, 1), (one, 2)]


def test_what_is_made_goes_with_its_owner():
    @once_per_owner
    def made(owner: Owner) -> Made:
        del owner
        return Made()

    owner = Owner()
    seen = weakref.ref(made(owner))
    assert seen() is not None
    del owner
    gc.collect()
    assert seen() is None
