"""Comments of a text: which statement each of them belongs to."""

from __future__ import annotations

import dataclasses
import itertools

from fuzzymil.rules.language.lexer import Token
from fuzzymil.rules.language.premises import PremiseReader

__all__ = ["CommentReader"]


class CommentReader(PremiseReader):
    """Gives comments to the statements that they precede or end the line of."""

    comments: list[Token]  # those that belong to no statement yet

    def header(self) -> str:
        """Take the comments at the top of the text, down to the last blank line before the first statement."""
        top = [comment for comment in self.comments if comment.start < self.token.start]
        starts = [comment.start for comment in top] + [self.token.start]
        gaps = [self.text.count("\n", *pair) > 1 for pair in itertools.pairwise(starts)]
        n_taken = max((n for n, gap in enumerate(gaps, start=1) if gap), default=0)
        del self.comments[:n_taken]
        return "\n".join(comment.text for comment in top[:n_taken])

    def note(self, comment: str) -> None:
        """Add a comment on the text as a whole."""
        self.parsed.comment = "\n".join(filter(None, (self.parsed.comment, comment)))

    def annotate(self, first: int, *, is_rule: bool) -> None:
        """Give the statement that started at a token the comments before and in it, and at the end of its last line."""
        line = self.text.find("\n", self.before.start)
        own = [comment for comment in self.comments if line < 0 or comment.start < line]
        if self.token.kind != "end" and (line < 0 or self.token.start < line):  # another statement on this line
            own = [comment for comment in own if comment.start < self.token.start]
        del self.comments[: len(own)]
        comment = "\n".join(comment.text for comment in own)
        if not comment:
            return
        word = self.tokens[first].text.lower()
        declared = {"variable": self.parsed.variables, "output": self.parsed.outputs}.get(word, {})
        name = self.tokens[min(first + 1, len(self.tokens) - 1)].text
        if is_rule:
            self.parsed.rules[-1] = self.parsed.rules[-1]._replace(comment=comment)
        elif name in declared:
            declared[name] = dataclasses.replace(declared[name], comment=comment)
        else:
            self.note(comment)
