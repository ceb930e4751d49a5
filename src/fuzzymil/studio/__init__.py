"""The rule studio: see, drag, write and train rules in the browser or in a notebook."""

from fuzzymil.studio.document import Document
from fuzzymil.studio.session import Session
from fuzzymil.studio.training import Trainer  # registers its messages

__all__ = ["Document", "Session", "Trainer"]
