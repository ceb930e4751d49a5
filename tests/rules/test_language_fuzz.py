"""No text crashes the reader or keeps it busy: it is a rule base, or an error of the one documented kind."""

import random

import pytest

from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules import RuleBase, Variable
from fuzzymil.rules.language.parser import MAX_TEXT

DECLARED = """VARIABLE depth [m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1), deep = Sigmoid(1, 5)
VARIABLE size: shallow = Bell(0, 1, 2), deep = Trapezoidal(0, 1, 2, 3)
"""
VALID = [
    DECLARED
    + """# two rules
USING t_norm = min, aggregation = max, alpha = (1, -2.5e3), normalize = no, default = 0.5
Rule 1: IF depth is very shallow AND NOT (size is deep OR size is not shallow) THEN mine = 1.15 WITH 0.5
Rule 2: IF depth is "deep" THEN mine = 0.3 + 2*depth - size
""",
    r"""VARIABLE "a \"b\" \\": low = Gaussian(-1e-3, .5);
    IF "a \"b\" \\" is somewhat low or anything then y = 1, z = -2""",
    "OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5)\n"
    "VARIABLE z: a = Gaussian(0, 1) IF z is a THEN risk is small",
    "VARIABLE z: a = Gaussian(0, 1), b = Gaussian(1, 1)\r\nUSING alpha = -inf\r\n"
    "1: IF NOT z is a AND z is b THEN y = z\r\n",
]
WORDS = """IF THEN AND OR NOT is with anything very somewhat extremely seldom VARIABLE OUTPUT USING FROM TO inf yes no
depth size mine risk shallow deep small medium x y low t_norm alpha default min max Rule R1 Gaussian Bell Sigmoid
Triangular Trapezoidal 0 1 0.5 -2 1e3 1e999 .5 5. 007 ( ) [ ] , : ; = + - * / . ... # " ' \\ [m] "" "\\n" é ²"""
SPACED = ["\n", "\r\n", "\t", "\u2028", "\x00", '"half way"', "Gaussian(0, 1)", "= 1", "x is low", "y = 1"]
PIECES = WORDS.split() + SPACED
ALPHABET = "abzIF \n\t\r\"'\\#()[]{}<>,:;=+-*/.0123456789eEé²深\u0301\u200b\u2028\ufeff\x00\x7f😀_%&!"


def random_characters(rng):
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(60)))


def any_characters(rng):
    return "".join(chr(rng.randrange(0x20000)) for _ in range(rng.randrange(30)))


def soup_of_tokens(rng):
    return rng.choice(["", " "]).join(rng.choice(PIECES) + rng.choice(["", " "]) for _ in range(rng.randrange(40)))


def likely_rules(rng):
    """Rules that are well formed but for one place in ten."""

    def choice(*options):
        return rng.choice(options if rng.random() < 0.98 else PIECES)

    def premise(depth):
        kind = rng.randrange(6 if depth else 2)
        if kind < 2:
            hedges = choice("", "not ", "very not ")
            return f"{choice('depth', 'size')} {choice('is')} {hedges}{choice('shallow', 'deep')}"
        if kind == 2:
            return f"{choice('NOT')} {premise(depth - 1)}"
        if kind == 3:
            return f"({premise(depth - 1)}{choice(')')}"
        return f"{premise(depth - 1)} {choice('AND', 'OR')} {premise(depth - 1)}"

    rules = (
        f"{choice('IF')} {premise(3)} {choice('THEN')} mine {choice('=')} {choice('1', '2*size', '-depth')} "
        for _ in range(rng.randrange(1, 3))
    )
    return DECLARED + "".join(rules)


def mutated(rng):
    text = rng.choice(VALID)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        change = rng.randrange(7)
        if change == 0:
            text = text[:at] + text[at + 1 :]
        elif change == 1:
            text = text[:at] + rng.choice(ALPHABET) + text[at + 1 :]
        elif change == 2:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif change == 3:
            text = text[:at]
        elif change == 4:
            text = text[:at] + text[to:]
        elif change == 5:
            text = text[:to] + text[at:to] + text[to:]
        else:
            text = text[at:] + text[:at]
    return text


def doubled(rng):
    return rng.choice(["", "\n", " "]).join(rng.choice(VALID) for _ in range(rng.randrange(4)))


KNOWN = (Variable("x", {"low": Gaussian(0, 1)}), Variable("y", {"low": Gaussian(0, 1)}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "count", "least"),
    [
        (random_characters, 3000, 0),
        (any_characters, 2000, 0),
        (soup_of_tokens, 4000, 0),
        (likely_rules, 4000, 1000),
        (mutated, 6500, 100),
        (doubled, 500, 50),
    ],
)
def test_any_text_is_a_rule_base_or_a_syntax_error(make, count, least):
    rng = random.Random(0)
    read, messages = 0, []
    for number in range(count):
        text = make(rng)
        try:
            rules = RuleBase.parse(text, KNOWN if number % 2 and make is not likely_rules else None)
        except RuleSyntaxError as problem:
            messages.append(str(problem))
            continue
        read += 1
        assert RuleBase.parse(rules.to_source()) == rules
    assert read + len(messages) == count
    assert max(map(len, messages)) < 10_000
    # What is far from the language is refused; what is near it is read at times and refused at times.
    assert read >= least
    assert len(messages) >= count // 4


def parse(text, variables=KNOWN):
    return RuleBase.parse(text, variables)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "IF " + "(" * 10_000 + "x is low" + ")" * 10_000 + " THEN y = 1",
        "IF " + "NOT " * 100_000 + "x is low THEN y = 1",
        "IF x is " + "not very " * 50_000 + "low THEN y = 1",
        "IF " + "(x is low OR NOT (" * 5_000 + "x is low" + "))" * 5_000 + " THEN y = 1",
        "IF " + " AND ".join(["x is low"] * 100_000) + " THEN y = 1",
        "IF " + " OR ".join(["x is low"] * 100_000) + " THEN y = 1",
        "IF x is low THEN y = " + "(" * 10_000,
        "IF x is low THEN y = " + "- " * 100_000,
        "USING alpha = " + "(" * 100_000,
        "a: " * 100_000,
        ";" * 100_000,
        '"' * 1_000_001,
        '"' + "a" * 1_000_000,
        '"' + "\\" * 1_000_001,
        "[" * 100_000,
        "1" * 1_000_000,
        "IF x is low THEN y = " + "1" * 1_000_000,
        "IF x is low THEN y = 1e" + "9" * 1_000_000,
        "IF " + "z" * 1_000_000 + " is low THEN y = 1",
        "IF x is " + "z" * 1_000_000 + " THEN y = 1",
        "VARIABLE z: " + ", ".join(["low = Gaussian(0, 1)"] * 20_000),
        "USING " + ", ".join(f"setting{n} = 1" for n in range(20_000)),
        "USING alpha = (" + ", ".join("1" * 100_000) + ") IF x is low THEN y = 1",
        "\n" * 1_000_000 + "!",
        " " * 1_000_000 + "!",
        "IF x is low THEN y = 1\n" * (10_000_000 // 23),
        ["IF x is low THEN y = 1"] * (10_000_000 // 23),
        "#" * (MAX_TEXT + 1),
    ],
    ids=lambda text: f"{text[0][:20] if isinstance(text, list) else ascii(text[:20])}-{len(text)}",
)
def test_great_texts_are_refused_with_a_short_message(text):
    with pytest.raises(RuleSyntaxError) as caught:
        parse(text)
    assert len(str(caught.value)) < 10_000


@pytest.mark.slow
def test_long_premises_and_many_rules_are_read():
    assert len(parse("IF " + " OR ".join(["x is not low"] * 1000) + " THEN y = 1").rules[0].premise.parts) == 1000
    assert parse("IF x is low THEN y = 1\n" * 20_000).n_rules == 20_000
    assert parse("IF x is low THEN y = " + " + ".join(["2*x"] * 50_000)).coefs[0, 0].tolist() == [0, 100_000, 0]
    assert len(parse("IF x is low THEN " + ", ".join(f"y{n} = {n}" for n in range(20_000))).outputs) == 20_000


def test_thousands_of_variables_are_read():
    names = [f"x{d}" for d in range(5000)]
    text = "\n".join(f"VARIABLE {name} FROM 0 TO 1: low = Gaussian(0, 1)" for name in names)
    rules = RuleBase.parse(text + "\nIF " + " AND ".join(f"{name} is low" for name in names) + " THEN y = x17")
    assert rules.n_features == len(rules.rules[0].antecedent) == 5000
    assert RuleBase.parse(rules.to_source()) == rules


def test_a_name_of_a_megabyte_is_read():
    name = "z" * 400_000 + '"' + "z" * 200_000
    rules = RuleBase([Variable(name, {"low": Gaussian(0, 1)})], RuleBase.parse("IF anything THEN y = 1", KNOWN).rules)
    assert RuleBase.parse(rules.to_source()) == rules
    assert parse("IF x is low THEN " + "z" * 1_000_000 + " = 1").output_names == ("z" * 1_000_000,)


def test_numbers_of_any_length_are_read():
    rules = parse("IF x is low THEN y = 0." + "3" * 1_000_000 + " WITH 1e-" + "9" * 500_000)
    assert rules.coefs.ravel().tolist() == [1 / 3]
    assert rules.rules[0].weight == 0
