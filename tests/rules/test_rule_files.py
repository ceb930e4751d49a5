"""Rules in files: by their extension, whole or not at all, and errors that name the line."""

import pytest
from small_systems import BAGS, base, concluding

from fuzzymil import RuleBase
from fuzzymil._utils.errors import ModelFileError, ParameterError, RuleSyntaxError
from fuzzymil.inference.membership import Triangular
from fuzzymil.rules import Variable
from fuzzymil.rules.files import export_rules, read_rules, write_rules
from fuzzymil.rules.premise import Is


def mamdani():
    outputs = (Variable("risk", {"small": Triangular(0, 0, 0.6)}, 0, 1),)
    return concluding(base(Is("depth", "low")), outputs, ({"risk": "small"},))


@pytest.mark.parametrize("ending", [".json", ".rules", ".txt", ".fll", ".fis", ".FLL"])
@pytest.mark.parametrize("rules", [base(Is("depth", "low")), mamdani()], ids=["sugeno", "mamdani"])
def test_files_come_back_as_what_was_written(tmp_path, ending, rules):
    path = tmp_path / f"rules{ending}"
    lost = write_rules(rules, path)
    again = read_rules(path)
    if ending == ".fis" and rules.concludes_sets:  # where MATLAB's sampling is meant
        assert (again.defuzzification.sampling, again.defuzzification.resolution) == ("points", 101)
        again = again.with_settings(
            sampling=rules.defuzzification.sampling, resolution=rules.defuzzification.resolution
        )
    assert again == rules
    assert read_rules(str(path)) == read_rules(path)
    assert any(BAGS in sentence for sentence in lost) == (ending.lower() in (".fll", ".fis"))


@pytest.mark.parametrize("ending", [".md", ".tex"])
def test_tables_are_written_but_not_read(tmp_path, ending):
    path = tmp_path / f"rules{ending}"
    write_rules(mamdani(), path)
    assert "Triangular" in path.read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match=rf"rules\{ending} .*table"):
        read_rules(path)


def test_failure_to_write_leaves_the_older_file(tmp_path):
    path = tmp_path / "rules.fis"
    write_rules(base(Is("depth", "low")), path)
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="limited"):
        write_rules(base(Is("depth", "low"), limited=True), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["rules.fis"]


@pytest.mark.parametrize(
    ("name", "content", "kind", "message"),
    [
        ("a.fll", b"Engine: x\nInputVariabel: y\n", RuleSyntaxError, r"a\.fll: Line 2, character 1: Unknown"),
        ("a.fis", b"[System]\n\nType='fuzzy'\n", RuleSyntaxError, r"a\.fis: Line 3, character 7: Unknown Type"),
        ("a.rules", b"IF x is low THEN y = 1", RuleSyntaxError, r"a\.rules: Line 1, character 4: Unknown variable"),
        ("a.txt", b"", RuleSyntaxError, r"a\.txt: The text"),
        ("a.rules", b"IF x\n\xff", RuleSyntaxError, r"a\.rules: Line 2 is not UTF-8"),
        ("a.json", b"{}", ModelFileError, r"a\.json.*fuzzymil\.rules"),
        ("a.json", b'{"format": "fuzzymil.rules", "version": 1}', ModelFileError, r"a\.json: The rules in this file"),
        ("a.fzz", b"", ParameterError, r"extension '\.fzz'.*\.fll"),
        ("a.fll", b"x" * 8_000_010, RuleSyntaxError, r"a\.fll: The text has [\d,]+ characters"),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path, name, content, kind, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(kind, match=message):
        read_rules(path)


def test_byte_order_mark_and_line_ends_of_other_systems_do_not_matter(tmp_path):
    rules, path = base(Is("depth", "low")), tmp_path / "rules.fll"
    path.write_bytes(b"\xef\xbb\xbf" + export_rules(rules, "fll").replace("\n", "\r\n").encode())
    assert read_rules(path) == rules
    path.write_bytes(export_rules(rules, "fll").replace("\n", "\r").encode())
    assert read_rules(path) == rules


def test_missing_files_and_other_values_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        read_rules(tmp_path / "nothing.fll")
    with pytest.raises(ParameterError, match="Expected a RuleBase, got 'IF"):
        write_rules("IF x is low THEN y = 1", tmp_path / "a.fll")


REFUSED = {
    "AND and OR": ("IF x is low AND (z is low OR z is high) THEN y = 1", {"fis", "fml"}),
    "a variable twice": ("IF x is low AND x is high THEN y = 1", {"fis"}),
    "NOT of a premise": ("IF NOT (x is low AND z is high) THEN y = 1", {"fml"}),
    "formulas": ("IF z is formula THEN y = 1", {"fml"}),
    "quantifiers": ("IF SOME x is low THEN y = 1", {"fll", "fis", "fcl", "fml"}),
    "hedges": ("IF x is very low THEN y = 1", set()),
}


@pytest.mark.parametrize("what", REFUSED)
def test_formats_refuse_what_the_page_on_rules_says(what):
    rule, refusing = REFUSED[what]
    sets = 'low = Gaussian(0, 3), high = Gaussian(10, 3), formula = Formula("x / 10")'
    rules = RuleBase.parse(f"VARIABLE x FROM 0 TO 10: {sets}\nVARIABLE z FROM 0 TO 10: {sets}\n{rule}")
    if what != "formulas":
        rules = rules.edit(drop_unused_terms=True)
    for format in ("fll", "fis", "fcl", "fml"):
        if format in refusing:
            with pytest.raises(ParameterError):
                export_rules(rules, format)
        else:
            assert export_rules(rules, format)
