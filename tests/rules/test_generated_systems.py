"""Systems with everything that a format can hold come back from it with the same answers."""

import pytest
from generated_systems import FORMATS
from round_trips import check


@pytest.mark.parametrize("format", FORMATS)
def test_generated_systems_come_back(format, tmp_path):
    check(format, 15, tmp_path, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_many_generated_systems_have_every_set_and_operator(format, tmp_path):
    assert not check(format, 500, tmp_path, seed=1)
