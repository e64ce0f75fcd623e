"""Under dlprof a script sees, prints, writes and ends as it does bare, whatever is done to it; see `python -m tests.conformance`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.case import Case
from tests.conformance.compare import judge
from tests.conformance.differences import DOCUMENTED, meant_for
from tests.conformance.interpreters import MissingError
from tests.conformance.pending import PENDING
from tests.conformance.tables import all_cases, everyday

pytestmark = pytest.mark.integration


def _param(case: Case) -> object:
    marks = [pytest.mark.xfail(reason=PENDING[case.name], strict=True)] if case.name in PENDING else []
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", [_param(case) for case in everyday()])
def test_a_script_is_not_changed_by_being_traced(case: Case, tmp_path: Path) -> None:
    """Streams, exit code, files, descriptors, signals, environment: all as without dlprof, but for what is documented."""
    try:
        verdict = judge(case, tmp_path / "case")
    except MissingError as error:
        pytest.skip(str(error))

    assert list(verdict.lines) == []
    assert list(verdict.documented) == meant_for(case), "what no longer differs is no difference to be documented"


def test_what_is_listed_are_cases() -> None:
    """A name that no case bears documents nothing."""
    names = {case.name for case in all_cases()}

    assert sorted(set(PENDING) - names) == []
    assert [one.why for one in DOCUMENTED if not any(one.concerns(name) for name in names)] == []
