import pytest
from studio_page import Page

from fuzzymil.bags import Bags
from fuzzymil.studio import Document, Session
from fuzzymil.studio.start import demo_bags, demo_document

MAMDANI = """
VARIABLE depth FROM 0 TO 2: shallow = Gaussian(0, 0.4), deep = Gaussian(1.5, 0.4)
OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
IF depth is shallow THEN risk is great
Deep: IF depth is deep THEN risk is small  # as the handbook says
"""


@pytest.fixture
def page():
    """A page on the demonstration."""
    session = Session(demo_document(), demo_bags(), name="demo")
    yield Page(session)
    session.close()


@pytest.fixture
def mamdani():
    bags = Bags.from_list(
        [[[0.1], [1.4]], [[1.5]], [[0.0]], [[1.2], [1.9]]], labels=["no", "yes", "no", "yes"], feature_names=["depth"]
    )
    session = Session(Document(MAMDANI), bags, name="risk")
    yield Page(session)
    session.close()
