"""What is mutated, how it is read, and what must hold for whatever was read.

A target makes some valid files, mutates one, reads it and checks what came out. A refusal is an exception that users
are told about; anything else that is raised is a bug, and so is an accepted file whose content is not what it says.
"""

import asyncio
import base64
import contextlib
import dataclasses
import gzip
import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mutations import mutate_arrays, mutate_bytes, mutate_json, mutate_lines, mutate_text

from fuzzymil import Bags, RuleBase, load_model
from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError
from fuzzymil.datasets import make_two_concepts, read_bags, write_bags
from fuzzymil.rules.files import export_rules, read_rules
from fuzzymil.studio import Document, Session
from fuzzymil.studio.document import Data
from fuzzymil.studio.history import FOLDER
from fuzzymil.studio.server import _converse
from fuzzymil.studio.start import demo_bags, demo_document
from fuzzymil.studio.worker import load_bags, save_bags

TESTS = Path(__file__).parent.parent
REFUSALS = (InputError, ModelFileError, ParameterError)
BAGS = make_two_concepts(5, 5, random_state=0)


class SilentDifferenceError(AssertionError):
    """A mutated file was accepted, and what was read is not what the file says."""


@dataclasses.dataclass(frozen=True)
class Target:
    """One kind of file.

    Attributes
    ----------
    seeds : callable
        ``seeds(folder)`` returns the contents of valid files.
    mutate : callable
        ``mutate(rng, content)``.
    check : callable
        ``check(content, folder)`` reads the content and raises if something is wrong; returns whether it was read.
    """

    seeds: Callable
    mutate: Callable
    check: Callable


def _same(one, other):
    def equal(a, b):
        if (a is None) != (b is None):
            return False
        return a is None or (a.dtype.kind == b.dtype.kind and np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))

    return (
        np.array_equal(one.instances, other.instances, equal_nan=True)
        and equal(one.ids, other.ids)
        and equal(one.labels, other.labels)
        and equal(one.instance_labels, other.instance_labels)
        and np.array_equal(one.offsets, other.offsets)
        and one.names == other.names
    )


# ---------------------------------------------------------------- bags


def _labeled(labels=None):
    rng = np.random.default_rng(1)
    n = len(BAGS)
    return Bags(
        rng.normal(size=(BAGS.n_instances, 3)).round(3),
        BAGS.offsets,
        ids=[f"b{b}" for b in range(n)],
        labels=np.arange(n) % 2 if labels is None else labels,
        feature_names=["width", "depth", "hue"],
    )


def _written(name, bags=None):
    def seeds(folder):
        path = folder / name
        write_bags(_labeled() if bags is None else bags, path)
        contents = [path.read_bytes()]
        path.unlink()
        return contents

    return seeds


def _check_bags(name, other_reader=None):
    def check(content, folder):
        path = folder / name
        path.write_bytes(content)
        found = read_bags(path)
        if not np.isfinite(found.instances[~np.isnan(found.instances)]).all():
            raise SilentDifferenceError("an infinite value was read")
        if other_reader is not None:
            other_reader(path, found)
        # Whatever was read can be written and read again.
        again = folder / "again.csv"
        try:
            write_bags(found, again)
        except InputError:
            return True  # ids or names that CSV cannot hold
        back = read_bags(again, bag="bag", label=None if found.labels is None else "label")
        if not np.array_equal(back.instances, found.instances, equal_nan=True):
            raise SilentDifferenceError("values changed when written and read again")
        return True

    return check


def _read_slowly(path, found):
    """Read a table row by row and compare with how it was read."""
    from fuzzymil.datasets.formats import csv

    arrow, least = csv._read_by_arrow, csv._LEAST_FOR_ARROW
    try:
        csv._read_by_arrow = lambda *_: None
        slow = read_bags(path)
        csv._read_by_arrow, csv._LEAST_FOR_ARROW = arrow, 0
        fast = read_bags(path)
    finally:
        csv._read_by_arrow, csv._LEAST_FOR_ARROW = arrow, least
    if not (_same(slow, found) and _same(fast, found)):
        raise SilentDifferenceError("the fast and the slow reader of tables disagree")


def _table(folder):
    seeds = [*_written("a.csv")(folder), *_written("a.tsv")(folder)]
    quoted = seeds[0].replace(b"b1,", b'"b1",').replace(b"label", b'"label"')
    large = seeds[0].replace(b"b1,", b"9007199254740993,").replace(b"b2,", b"9007199254740992,")
    return [*seeds, quoted, large, seeds[0].replace(b",", b";").replace(b"width", b"instance_label")]


def _uci(folder):
    rows = [f"M{b},c{n},{n}.5,{b},{b % 2}.\n" for b in range(6) for n in range(3)]
    return ["".join(rows).encode()]


def _mat(folder):
    from scipy.io import savemat

    found = []
    bags = _labeled()
    cells = np.empty(len(bags), dtype=object)
    cells[:] = [np.array(bag) for bag in bags]
    layouts = [
        {"x": bags.instances, "bagid": bags.bag_index, "label": np.asarray(bags.labels)[bags.bag_index]},
        {"bags": cells, "labels": bags.labels},
        {"d": {"instances": bags.instances, "bag_ids": bags.bag_index.astype(np.uint8), "class": bags.bag_index}},
    ]
    for layout in layouts:
        for packed in (True, False):
            stream = io.BytesIO()
            savemat(stream, layout, do_compression=packed)
            found.append(stream.getvalue())
    return [*found, *_written("a.mat")(folder)]


def _npy(folder):
    found = []
    for array in (np.ones((3, 2)), np.arange(6, dtype=np.int32).reshape(2, 3), np.asfortranarray(np.eye(2))):
        stream = io.BytesIO()
        np.save(stream, array)
        found.append(stream.getvalue())
    return found


def _check_npy(content, folder):
    inner = folder / "arrays"
    inner.mkdir(exist_ok=True)
    (inner / "a.npy").write_bytes(content)
    found = read_bags(inner)
    if not np.array_equal(found[0], np.load(io.BytesIO(content)), equal_nan=True):
        raise SilentDifferenceError("NumPy reads another array")
    return True


def _slides(folder):
    """Files with features and positions: ``.npz``, plain and packed."""
    found = []
    for save in (np.savez, np.savez_compressed):
        stream = io.BytesIO()
        save(stream, features=np.arange(6.0).reshape(3, 2), coords=np.arange(6).reshape(3, 2))
        found.append(stream.getvalue())
    return found


def _check_slides(content, folder):
    inner = folder / "slides"
    inner.mkdir(exist_ok=True)
    (inner / "a.npz").write_bytes(content)
    return read_bags(inner).n_bags == 1


def _hdf5(folder):
    import h5py

    found = []
    for settings in ({}, {"chunks": (2, 2), "compression": "gzip"}):
        with h5py.File(folder / "seed.h5", "w") as file:
            file.create_dataset("features", data=np.arange(6.0).reshape(3, 2), **settings)
            file["coords"] = np.arange(6).reshape(3, 2)
        found.append((folder / "seed.h5").read_bytes())
    (folder / "seed.h5").unlink()
    return found


def _excel(folder):
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["bag", "label", "width"], ["b1", 0, 1.5], ["b1", 0, 2], ["b2", 1, None]):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return [stream.getvalue()]


def _lists(folder):
    return [b"slide,tumour\n" + b"".join(f"b{b},{b % 2}\n".encode() for b in range(len(BAGS)))]


def _check_list(content, folder):
    """Read labels from another file; whoever has one is in it."""
    (folder / "labels.csv").write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = _labeled().with_labels(dict.fromkeys(_labeled().ids.tolist(), 0))
        write_bags(found, folder / "bags.csv")
        read = read_bags(folder / "bags.csv", labels=folder / "labels.csv", unlabeled="drop")
    if any(str(name) not in content.decode("utf-8-sig") for name in read.ids):
        raise SilentDifferenceError("a bag got a label that is not in the file")
    return True


# ---------------------------------------------------------------- models, rules, checkpoints


def _golden(kind):
    def seeds(folder):
        paths = sorted((TESTS / "golden").glob("*/*.json"))
        texts = [path.read_bytes() for path in paths if path.name != "expected.json"]
        return [text for text in texts if json.loads(text)["format"] == kind]

    return seeds


def _check_model(content, folder):
    path = folder / "model.json"
    path.write_bytes(content)
    model = load_model(path)
    model.save(folder / "again.json")
    again = load_model(folder / "again.json")
    one, other = ([json.dumps(rules.to_dict()) for rules in _rules_of(m)] for m in (model, again))
    if one != other or str(getattr(model, "classes_", "")) != str(getattr(again, "classes_", "")):
        raise SilentDifferenceError("saved and loaded again, the model is another one")
    if getattr(model, "run", None) is not None:
        raise SilentDifferenceError("a file chose how fits run")
    # Compiling takes most of the time, and a program is needed for every new shape: one in ten predicts.
    if len(content) % 10 == 0 and model.n_features_in_ < 50:
        rows = Bags.from_list(np.random.default_rng(0).normal(size=(3, 1, model.n_features_in_)))
        if hasattr(model, "classes_"):
            chances = model.predict_proba(rows)
            if not (np.isfinite(chances).all() and np.allclose(chances.sum(axis=1), 1)):
                raise SilentDifferenceError(f"the probabilities are {chances.tolist()}")
        else:
            model.predict(rows)
    return True


def _rules_of(model):
    return model.members_ if hasattr(model, "members_") else [model.rules_]


def _rule_documents(folder):
    sugeno = RuleBase.parse(
        "VARIABLE x: low = Gaussian(0, 1), high = Sigmoid(1, 2)\nVARIABLE z: low = Bell(0, 1, 2)\n"
        "IF SOME (x is low AND NOT z is low) OR AT LEAST 2 x is very high THEN y = 1\nIF x is high THEN y = 0.5"
    )
    mamdani = RuleBase.parse(
        "VARIABLE x: low = Triangular(0, 1, 2)\nOUTPUT risk FROM 0 TO 1: small = Triangular(0, 0, 1)\n"
        "IF x is low THEN risk is small"
    )
    found = []
    for rules in (sugeno, mamdani):
        rules.save(folder / "rules.json")
        found.append((folder / "rules.json").read_bytes())
    return found


def _rule_texts(ending):
    def seeds(folder):
        paths = sorted((TESTS / "data" / "formats").glob(f"*{ending}"))[:12]
        paths += sorted((TESTS / "data" / "systems").glob(f"*{ending}"))
        return [path.read_bytes() for path in paths]

    return seeds


def _converted(format):
    """Our own files of a format, and those of FLL written in it, as far as it can hold them."""

    def seeds(folder):
        found = _rule_texts(f".{format}")(folder)
        for content in _rule_texts(".fll")(folder):
            path = folder / "seed.fll"
            path.write_bytes(content)
            with contextlib.suppress(ParameterError):
                found.append(export_rules(read_rules(path), format).encode())
        return found

    return seeds


def _check_rules(name):
    def check(content, folder):
        path = folder / name
        path.write_bytes(content)
        rules = read_rules(path)
        rows = Bags.from_list(np.linspace(0, 1, 2 * len(rules.feature_names)).reshape(2, 1, -1))
        if name.endswith(".json"):
            if json.dumps(type(rules).from_dict(rules.to_dict()).to_dict()) != json.dumps(rules.to_dict()):
                raise SilentDifferenceError("saved and loaded again, the rules are others")
            if len(content) % 10 == 0:
                rules.infer(rows)
        return True

    return check


def _texts(folder):
    sugeno, mamdani = (json.loads(text) for text in _rule_documents(folder))
    return [
        RuleBase.from_dict(sugeno).to_source().encode(),
        RuleBase.from_dict(mamdani).to_source().encode(),
        b"VARIABLE d [m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1), deep = Sigmoid(1, 5)\n"
        b"USING t_norm = min, aggregation = max, alpha = -2.5e3, normalize = no, default = 0.5\n"
        b"Rule 1: IF d is very shallow AND NOT (d is deep OR d is not shallow) THEN mine = 1.15 WITH 0.5\n",
    ]


def _check_text(content, folder):
    text = content.decode("utf-8", "replace")
    rules = RuleBase.parse(text)
    if RuleBase.parse(rules.to_source()) != rules:
        raise SilentDifferenceError("printed and parsed again, the rules are others")
    return True


TREE = {"weights": np.arange(12.0).reshape(3, 4), "n": np.array(7), "loss": np.ones((1, 2, 5))}


def _checkpoint(folder):
    from fuzzymil.learn.train.checkpoints import Checkpoint

    place = Checkpoint(folder / "a.checkpoint")
    place.keep(TREE)
    return [place.path.read_bytes()]


def _check_checkpoint(content, folder):
    from fuzzymil.learn.train.checkpoints import _DIGEST_SIZE, _FORMAT, Checkpoint, as_arrays

    path = folder / "a.checkpoint"
    path.write_bytes(content)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = Checkpoint(path).find(TREE)
    if found is None:
        if not told:
            raise SilentDifferenceError("a damaged checkpoint was ignored without a word")
        return False
    said = np.load(io.BytesIO(content[len(_FORMAT) + _DIGEST_SIZE :]))  # which a forged checksum may fit
    if not all(np.array_equal(each, said[name], equal_nan=True) for name, each in as_arrays(found).items()):
        raise SilentDifferenceError("NumPy reads another checkpoint")
    return True


def _mutate_checkpoint(rng, content):
    """Change bytes, or what is in them, under a checksum that is right again."""
    from fuzzymil.learn.train.checkpoints import _DIGEST_SIZE, _FORMAT, _checksum

    if rng.random() < 0.3:
        return mutate_bytes(rng, content)
    inner = mutate_arrays(rng, content[len(_FORMAT) + _DIGEST_SIZE :])
    return _FORMAT + _checksum(inner) + inner


def _arrays(folder):
    found = []
    table = b"user,kind,pages\na,new,1\na,old,2\nb,new,3\n"
    (folder / "a.csv").write_bytes(table)
    for bags in (_labeled(), _labeled(labels=list("abc" * 5)), BAGS, read_bags(folder / "a.csv", bag="user")):
        save_bags(bags, str(folder / "a.npz"))
        found.append((folder / "a.npz").read_bytes())
    return found


def _check_arrays(content, folder):
    (folder / "a.npz").write_bytes(content)
    found = load_bags(str(folder / "a.npz"))
    save_bags(found, str(folder / "again.npz"))
    again = load_bags(str(folder / "again.npz"))
    if not (np.array_equal(again.instances, found.instances, equal_nan=True) and again.names == found.names):
        raise SilentDifferenceError("saved and loaded again, the bags are others")
    return True


def _zipped(seeds):
    return lambda folder: [gzip.compress(content, mtime=0) for content in seeds(folder)]


def _mutate_packed(rng, content):
    """Change bytes, which the checksum tells, or what is packed."""
    if rng.random() < 0.4:
        return mutate_bytes(rng, content)
    return gzip.compress(mutate_text(rng, gzip.decompress(content)), mtime=0)


# ---------------------------------------------------------------- the studio's journal


def _journal(folder):
    table = base64.b64encode(b"bag,x1,x2\na,0,1\nb,1,1\n").decode()
    other = Document(demo_document().text.replace("0.7", "0.6"))
    session = Session(
        demo_document(), Data(demo_bags(), "demo"), name="seed", members=(demo_document(), other), folder=folder
    )
    upload = session.answer({"type": "preview", "name": "two.csv", "content": table})["upload"]
    for message in (
        {"type": "show_member", "member": 1},
        {"type": "open", "upload": upload, "bag": "bag"},
        {"type": "set_rule", "number": 1, "weight": 0.5},
        {"type": "freeze", "variable": "x1", "term": "left"},
        {"type": "name_version", "name": "mine"},
        {"type": "set_term", "variable": "x1", "term": "left", "handle": "center", "x": 0.25},
        {"type": "undo"},
    ):
        assert session.answer({"revision": session.revision, **message})["ok"]
    session.close()
    return [(folder / FOLDER / "seed.journal").read_bytes()]


def _check_journal(content, folder):
    """Whatever the journal says, the studio opens, with rules that it shows, and keeps the next edit."""
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    (folder / FOLDER).mkdir(exist_ok=True)
    (folder / FOLDER / "demo.journal").write_bytes(raw)
    session = Session(demo_document(), name="demo", folder=folder)
    try:
        state = session.state()
        assert state["autosave"] is None
        assert session.answer({"type": "add_variable", "name": "new", "revision": 0})["ok"]
        text = session.document.text
    finally:
        session.close()
    again = Session(demo_document(), name="demo", folder=folder)
    kept = again.document.text
    again.close()
    if kept != text:
        raise SilentDifferenceError("an edit was lost")
    return state["version"] > 0


# ---------------------------------------------------------------- what comes through the studio's socket

REQUESTS = (
    {"type": "hello"},
    {"type": "check", "text": "VARIABLE x: low = Gaussian(0, 1)\nIF x is low THEN y = 1"},
    {"type": "complete", "text": "VARIABLE x1", "offset": 9},
    {"type": "set_rule", "number": 1, "weight": 0.5, "label": "mine", "comment": "why"},
    {"type": "rename", "variable": "x1", "name": "width"},
    {"type": "set_term", "variable": "x2", "term": "low", "handle": "center", "x": 0.25},
    {"type": "drag", "variable": "x1", "term": "left", "handle": "center", "x": 0.5, "views": [{"type": "score"}]},
    {"type": "variable", "variable": "x1"},
    {"type": "viewer", "bag": 0, "without": [0], "change": {"0": {"x1": 0.7}}, "extra": [[0.7, 0.7]]},
    {"type": "bags", "sort": "output"},
    {"type": "score"},
    {"type": "add_rule", "text": "IF SOME x1 is left THEN y += 1"},
    {"type": "freeze", "variable": "x1", "term": "left"},
    {"type": "write_text", "text": "VARIABLE x1: a = Gaussian(0, 1)\nIF x1 is a THEN y = 1", "base": ""},
    {"type": "draft", "text": "VARIABLE x1"},
    {"type": "name_version", "version": 0, "name": "first"},
    {"type": "compare", "old": 0, "new": 0},
    {"type": "goto", "version": 0},
    {"type": "undo"},
    {"type": "redo"},
    {"type": "export", "format": "fll"},
    {"type": "losses", "format": "fis"},
    {"type": "preview", "name": "a.csv", "content": base64.b64encode(b"bag,x1,x2\na,0,1\nb,1,1\n").decode()},
    {"type": "open", "upload": "upload-0-0", "bag": "bag"},
    {"type": "save", "format": "rules", "name": "mine.rules"},
    {"type": "diagnose"},
)


def _conversations(folder):
    lines = [json.dumps({"id": n, "revision": 0, **each}) for n, each in enumerate(REQUESTS)]
    return ["\n".join([*lines[n : n + 3], '{"type": "state"}']).encode() for n in range(0, len(lines), 3)]


class _Socket:
    """A window of the page, as the server sees it; every third frame is binary."""

    def __init__(self, content):
        self.frames = [
            {"type": "receive"} | ({"bytes": line} if n % 3 == 2 else {"text": line.decode("utf-8", "replace")})
            for n, line in enumerate(content.split(b"\n"))
        ]
        self.answers = []
        self.left = len(self.frames)

    async def accept(self):
        pass

    async def receive(self):
        if self.frames:
            return self.frames.pop(0)
        while self.left:  # like a page that waits for its answers
            await asyncio.sleep(0.001)
        return {"type": "websocket.disconnect"}

    async def send_text(self, text):
        self.answers.append(json.loads(text.encode("utf-8")))
        self.left -= "ok" in self.answers[-1]  # unlike what is pushed


def _check_conversation(content, folder):
    """Each frame gets one answer, and afterwards the studio goes on and shows what it kept."""
    session = Session(demo_document(), demo_bags()[:6], name="fuzz", folder=folder)
    try:
        socket = _Socket(content)
        n_frames = len(socket.frames)
        asyncio.run(asyncio.wait_for(_converse(session, socket), 50))
        told = [answer for answer in socket.answers if "ok" in answer]
        if len(told) != n_frames:
            raise SilentDifferenceError(f"{n_frames} messages got {len(told)} answers")
        assert session.state()["autosave"] is None
        assert session.answer({"type": "add_variable", "name": "a new one", "revision": session.revision})["ok"]
        text = session.document.text
    finally:
        session.close()
    again = Session(demo_document(), demo_bags()[:6], name="fuzz", folder=folder)
    kept = again.document.text
    again.close()
    for path in (folder / FOLDER).iterdir():
        path.unlink()
    if kept != text:
        raise SilentDifferenceError("an edit was lost")
    return any(answer["ok"] for answer in told)


TARGETS = {
    "csv": Target(_table, mutate_text, _check_bags("a.csv", _read_slowly)),
    "csv.gz": Target(_zipped(_table), _mutate_packed, _check_bags("a.csv.gz")),
    "headerless": Target(_written("a.txt"), mutate_text, _check_bags("a.txt", _read_slowly)),
    "uci": Target(_uci, mutate_text, _check_bags("a.data", _read_slowly)),
    "svmlight": Target(_written("a.svm"), mutate_text, _check_bags("a.svm")),
    "arff": Target(_written("a.arff"), mutate_text, _check_bags("a.arff")),
    "mat": Target(_mat, mutate_bytes, _check_bags("a.mat")),
    "parquet": Target(_written("a.parquet"), mutate_bytes, _check_bags("a.parquet")),
    "npy": Target(_npy, mutate_bytes, _check_npy),
    "slides.npz": Target(_slides, mutate_bytes, _check_slides),
    "hdf5": Target(_hdf5, mutate_bytes, _check_bags("a.h5")),
    "excel": Target(_excel, mutate_bytes, _check_bags("a.xlsx")),
    "labels": Target(_lists, mutate_text, _check_list),
    "model": Target(_golden("fuzzymil.model"), mutate_json, _check_model),
    "rules.json": Target(_rule_documents, mutate_json, _check_rules("rules.json")),
    "rules": Target(_texts, mutate_text, _check_text),
    "fll": Target(_rule_texts(".fll"), mutate_text, _check_rules("a.fll")),
    "fis": Target(_rule_texts(".fis"), mutate_text, _check_rules("a.fis")),
    "fcl": Target(_converted("fcl"), mutate_text, _check_rules("a.fcl")),
    "fml": Target(_converted("fml"), mutate_text, _check_rules("a.fml")),
    "checkpoint": Target(_checkpoint, _mutate_checkpoint, _check_checkpoint),
    "npz": Target(_arrays, mutate_arrays, _check_arrays),
    "journal": Target(_journal, mutate_lines, _check_journal),
    "messages": Target(_conversations, mutate_lines, _check_conversation),
}
"""Everything that is read from files."""
