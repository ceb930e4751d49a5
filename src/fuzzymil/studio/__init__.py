"""The rule studio: see, drag, write and train rules in the browser or in a notebook."""

from fuzzymil.studio import actions
from fuzzymil.studio.document import Document
from fuzzymil.studio.session import Session

__all__ = ["Document", "Session", "actions"]
