"""What a window of the studio does, without a browser."""

import json

from fuzzymil.studio.messages import to_json


class Page:
    """What a window does: it sends messages as JSON, and keeps what is pushed."""

    def __init__(self, session):
        self.session, self.pushed = session, []
        session.windows.append(lambda message: self.pushed.append(json.loads(to_json(message))))

    def ask(self, type, **fields):
        fields.setdefault("revision", self.session.revision)
        answer = json.loads(to_json(self.session.answer({"id": 7, "type": type, **fields})))
        assert answer["id"] == 7
        return answer

    def get(self, type, **fields):
        answer = self.ask(type, **fields)
        assert answer["ok"], answer["error"]
        return answer

    def refused(self, type, code, **fields):
        answer = self.ask(type, **fields)
        assert not answer["ok"]
        assert answer["error"]["code"] == code, answer["error"]
        return answer["error"]

    @property
    def state(self):
        return self.get("state")["state"]

    def of_type(self, type):
        return [message for message in self.pushed if message["type"] == type]
