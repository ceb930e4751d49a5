"""What the errors of the rule language say, and the character they point at."""

import re

import numpy as np
import pytest

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import InputError, ParameterError, RuleSyntaxError
from fuzzymil.membership import Gaussian
from fuzzymil.rules import MamdaniRules
from fuzzymil.rules._formats import sets
from fuzzymil.rules._formats.syntax import whole
from fuzzymil.rules.language import cures
from fuzzymil.rules.language.parser import MAX_TEXT
from fuzzymil.rules.rule import Variable

TERMS = {"low": Gaussian(0, 1), "medium": Gaussian(1, 1), "high": Gaussian(2, 1)}
VARIABLES = (Variable("depth", TERMS), Variable("size", TERMS), Variable("hue", TERMS))


def error_of(text, variables=VARIABLES, **operators):
    with pytest.raises(RuleSyntaxError) as caught:
        RuleBase.parse(text, variables, **operators)
    return str(caught.value)


def pointed_at(message):
    """What stands above and right of the caret."""
    _, shown, caret = message.rsplit("\n", 2)
    assert caret.strip() == "^"
    return shown[caret.index("^") :]


# Each case: the text, facts in the message (separated by |), and the text at the caret.

ERRORS = {
    "unknown variable": (
        "IF dept is low THEN y = 1",
        "variable|'dept'|depth, size, hue|Did you mean 'depth'?",
        "dept is",
    ),
    "unknown term": (
        "IF depth is medum THEN y = 1",
        "term|of 'depth'|'medum'|low, medium, high|Did you mean 'medium'?",
        "medum THEN",
    ),
    "unknown term after a hedge": ("IF depth is not very hihg THEN y = 1", "Did you mean 'high'?", "hihg"),
    "unknown variable in a conclusion": (
        "IF depth is low THEN y = 2*Depth",
        "variable|'Depth'|depth, size, hue|Did you mean 'depth'?",
        "Depth",
    ),
    "no output": ("IF depth is low THEN risk is low", "'risk'|OUTPUT", "risk is"),
    "unknown family": (
        "VARIABLE x: low = gaussian(0, 1)",
        "family|'gaussian'|Gaussian, Triangular, Trapezoidal|Did you mean 'Gaussian'?",
        "gaussian(",
    ),
    "unknown statement": ("VARIABEL x: low = Gaussian(0, 1)", "'VARIABEL'|Did you mean 'VARIABLE'?", "VARIABEL x"),
    "unknown setting": (
        "USING tnorm = min IF depth is low THEN y = 1",
        "setting|'tnorm'|t_norm, aggregation, alpha|Did you mean 't_norm'?",
        "tnorm =",
    ),
    "term twice": ("VARIABLE x: low = Gaussian(0, 1), low = Gaussian(1, 1)", "'low' of 'x'|twice", "low = Gaussian(1"),
    "variable twice": ("VARIABLE x VARIABLE x", "'x'|twice", "x"),
    "variable given and declared": ("VARIABLE depth: low = Gaussian(0, 1)", "'depth'|twice", "depth:"),
    "setting twice": ("USING alpha = 1 USING alpha = 2", "'alpha'|twice", "alpha = 2"),
    "concluded twice": ("IF depth is low THEN y = 1, y = 2", "'y'|twice", "y = 2"),
    "no conclusion": ("IF depth is low", "AND, OR or THEN|the end of the text|'THEN y = 1'", ""),
    "no conclusion after THEN": ("IF depth is low THEN", "Expected a conclusion|'y = 1'|found the end", ""),
    "no conclusion before the next rule": (
        "IF depth is low THEN IF hue is low THEN y = 1",
        "Expected a conclusion|found 'IF'",
        "IF hue",
    ),
    "no value": (
        "IF depth is low THEN y",
        "Expected '=' and a number ('+=' to add it, 'is' and a term), found the end of the text.",
        "",
    ),
    "no value after =": ("IF depth is low THEN y =", "a number or a variable|the end of the text", ""),
    "the end comes before a comment": ("IF depth is low # THEN y = 1", "Expected AND, OR or THEN", " # THEN"),
    "division": ("IF depth is low THEN y = depth / 2", "'/'|sum of numbers times variables", "/ 2"),
    "whole division": ("IF depth is low THEN y = 3 // 2", "Comments begin with '#'|'//'", "// 2"),
    "power": ("IF depth is low THEN y = depth^2", "'^'", "^2"),
    "power by stars": ("IF depth is low THEN y = depth**2", "'**'|'0.3 + 2*depth'", "**2"),
    "function": ("IF depth is low THEN y = 1 + sin(depth)", "Function|sum of numbers times variables", "sin("),
    "function times": ("IF depth is low THEN y = 2*exp(depth)", "Function", "exp("),
    "variable times variable": (
        "IF depth is low THEN y = depth*size",
        "a number|sum of numbers times variables|'size'",
        "size",
    ),
    "number times number": ("IF depth is low THEN y = 2*3", "a variable|sum of numbers times variables|'3'", "3"),
    "bracket in a conclusion": (
        "IF depth is low THEN y = 2*(depth + 1)",
        "a variable|sum of numbers times variables|'('",
        "(depth",
    ),
    "two signs": ("IF depth is low THEN y = 1 - -2", "a number or a variable|'-'", "-2"),
    "other two signs": ("IF depth is low THEN y = -+2", "a number or a variable|'+'", "+2"),
    "product without a star": ("IF depth is low THEN y = 2depth", "letter|'2*depth'", "2depth"),
    "underscore in a number": ("IF depth is low THEN y = 1_000", "'10000' or '1e4'", "1_000"),
    "hexadecimal": ("IF depth is low THEN y = 0x10", "letter", "0x10"),
    "exponent without digits": ("IF depth is low THEN y = .5e", "letter", ".5e"),
    "decimal comma": ("VARIABLE x: low = Gaussian(0,5, 1)", "center, width|got 3|'0.5'", "Gaussian(0,5"),
    "too great a number": ("IF depth is low THEN y = 1e999", "1e999|too large", "1e999"),
    "too great a sum": ("IF depth is low THEN y = 1e308 + 1e308", "too large", "= 1e308"),
    "too great a slope": ("IF depth is low THEN y = 1e308*depth + 1e308*depth", "too large", "= 1e308"),
    "infinite conclusion": ("IF depth is low THEN y = inf", "finite|'inf'", "inf"),
    "open bracket": (
        "IF (depth is low AND (size is low) THEN y = 1",
        "AND, OR or ')'|'(' at character 4|found 'THEN'",
        "THEN y",
    ),
    "closing bracket": ("IF depth is low) THEN y = 1", "')'|closes no|remove", ") THEN"),
    "empty brackets": (
        "IF () THEN y = 1",
        "Expected a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...), found ')'.",
        ") THEN",
    ),
    "closing bracket after a conclusion": ("IF depth is low THEN y = 1)", "')'|closes no", ")"),
    "empty premise": (
        "IF THEN y = 1",
        "Expected a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...), found 'THEN'.",
        "THEN",
    ),
    "nothing after AND": ("IF depth is low AND THEN y = 1", "Expected a condition", "THEN"),
    "AND and OR": (
        "IF depth is low AND OR size is low THEN y = 1",
        "Expected a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...), found 'OR'.",
        "OR size",
    ),
    "no term": ("IF depth is THEN y = 1", "term of 'depth'|low, medium, high|'THEN'", "THEN"),
    "no is": ("IF depth low THEN y = 1", "'is' is missing|'depth is low'", "low"),
    "equals in a premise": ("IF depth = low THEN y = 1", "'is'|'='|'depth is low'", "= low"),
    "comparison": ("IF depth < 3 THEN y = 1", "'<'|'depth is low'", "< 3"),
    "hedge before the variable": ("IF very depth is low THEN y = 1", "hedge|'depth is very ...'", "very"),
    "unknown hedge": (
        "IF depth is quite low THEN y = 1",
        "hedge|'quite'|not, very, somewhat, extremely, seldom",
        "quite",
    ),
    "keyword as a term": ("IF depth is with THEN y = 1", "'with'|keyword|double quotes", "with"),
    "keyword as a variable": (
        "VARIABLE is: low = Gaussian(0, 1)",
        "name of a variable|found 'is'|double quotes",
        "is:",
    ),
    "keyword as a new term": (
        "VARIABLE x: very = Gaussian(0, 1)",
        "name of a term|'very'|keyword|double quotes",
        "very",
    ),
    "name of two words": ("IF hue value is low THEN y = 1", 'double quotes|"hue value"', "hue value"),
    "unknown name of two words": (
        "IF patch position is low THEN y = 1",
        "'patch position'|depth, size, hue|double quotes",
        "patch",
    ),
    "declared name of two words": (
        "VARIABLE patch position: up = Gaussian(0, 1)",
        'double quotes|"patch position"',
        "patch",
    ),
    "else": ("IF depth is low THEN y = 1 ELSE y = 0", "ELSE|IF NOT|IF anything", "ELSE"),
    "more than one number": ("IF depth is low THEN y = 1 2", "'2'|WITH", "2"),
    "no rule after a label": ("Rule 1: depth is low THEN y = 1", "IF is missing", "depth"),
    "negative weight": ("IF depth is low THEN y = 1 WITH -1", "weight|at least 0|'-1'", "-1"),
    "no weight": ("IF depth is low THEN y = 1 WITH", "weight|found the end", ""),
    "infinite weight": ("IF depth is low THEN y = 1 WITH 1e400", "1e400|too large", "1e400"),
    "no parameters": ("VARIABLE x: low = Gaussian", "'('|Gaussian|center, width|the end of the text", ""),
    "empty parameters": ("VARIABLE x: low = Gaussian()", "a number|Gaussian|center, width|')'", ")"),
    "named parameters": ("VARIABLE x: low = Gaussian(center=0, width=1)", "without names|center, width", "center"),
    "too few parameters": ("VARIABLE x: low = Bell(0, 1)", "Bell|center, width, slope|got 2", "Bell"),
    "bad parameters": ("VARIABLE x: low = Gaussian(0, -1)", "Gaussian|width|-1.0", "Gaussian"),
    "open parameters": ("VARIABLE x: low = Gaussian(0, 1", "Expected ',' or ')', found the end of the text.", ""),
    "infinite parameter": ("VARIABLE x: low = Gaussian(inf, 1)", "Gaussian|a number|'inf'", "inf"),
    "no set": (
        "VARIABLE x: low = 3",
        "Expected a fuzzy set|Bell, Discrete|found '3'",
        "3",
    ),
    "term without a set": ("VARIABLE x: low, high", "'=' and a fuzzy set|'low = Gaussian(0, 1)'|found ','", ", high"),
    "no terms": ("VARIABLE x:", "name of a term|'low = Gaussian(0, 1)'|the end of the text", ""),
    "no name": ("VARIABLE", "Expected the name of a variable, found the end of the text.", ""),
    "number as a name": ("VARIABLE 3", "Expected the name of a variable, found '3'.", "3"),
    "range that goes down": ("VARIABLE x FROM 2 TO 1", "range of 'x'|from 2 to 1|lower value first", "x FROM"),
    "no range": ("VARIABLE x FROM TO 1", "lowest value|found 'TO'", "TO"),
    "open quotation": ('IF "depth is low THEN y = 1', "never closed", '"depth'),
    "quotation over a line end": ('IF "dep\nth" is low THEN y = 1', "never closed", '"dep'),
    "open unit": ("VARIABLE x [m: low = Gaussian(0, 1)", "square bracket|never closed", "[m"),
    "single quotes": ("IF 'depth' is low THEN y = 1", "double quotes", "'depth"),
    "curly quotes": ("IF “depth” is low THEN y = 1", "double quotes", "“depth”"),
    "other character": ("IF depth is low @ size is low THEN y = 1", "'@'|double quotes", "@ size"),
    "full stop": ("IF depth is low THEN y = 1\nIF depth is low.", "full stop|remove", "."),
    "control character": ("IF depth is low\x00 THEN y = 1", "'\\x00'", "  THEN"),
    "no setting": ("USING", "Expected the name of a setting, found the end of the text.", ""),
    "setting without a value": ("USING t_norm =", "a name, a number or numbers|found the end", ""),
    "setting without an equals": ("USING t_norm min", "Expected '=' and a value, found 'min'.", "min"),
    "open numbers": ("USING alpha = (1, 2", "Expected ',' or ')', found the end of the text.", ""),
    "empty numbers": ("USING alpha = ()", "a name, a number or numbers|found ')'", ")"),
    "bad setting": (
        "USING alpha = 1, t_norm = mni IF depth is low THEN y = 1",
        "t_norm|'mni'|product, min, lukasiewicz|Did you mean 'min'?",
        "t_norm = mni",
    ),
    "bad number of alphas": (
        "USING alpha = (1, 2) IF depth is low THEN y = 1",
        "alpha|one per rule (1)|(1.0, 2.0)",
        "alpha",
    ),
    "word for a number": ("USING alpha = high IF depth is low THEN y = 1", "alpha|'high'", "alpha"),
    "truth for a number": ("USING alpha = yes IF depth is low THEN y = 1", "alpha|True", "alpha"),
    "number for a truth": ("USING limited = 1 IF depth is low THEN y = 1", "limited|yes or no|1.0", "limited"),
    "bad default": ("USING default = (1, 2) IF depth is low THEN y = 1", "default|1 value|got 2", "default"),
    "infinite default": ("USING default = inf IF depth is low THEN y = 1", "default|finite", "default"),
    "shortened premise": (
        "IF depth is low AND ... (3 less selective) THEN y = 1",
        "shortened|to_source()|to_text(max_terms=None)",
        "...",
    ),
    "shortened conclusion": ("IF depth is low THEN y = 0.3 + 2*depth + ... (1 smaller)", "shortened", "..."),
    "output that the first rule lacks": (
        "IF depth is low THEN sky = 1 IF hue is low THEN sky = 1, see = 2",
        "'see'|first rule|(sky)",
        "IF hue",
    ),
    "misspelt output": ("IF depth is low THEN sky = 1 IF hue is low THEN skyy = 1", "Did you mean 'sky'?", "IF hue"),
    "output left out": ("IF depth is low THEN a = 1, b = 1 IF hue is low THEN a = 1", "'b'|every rule", "= 1"),
    "a term where numbers are concluded": (
        "OUTPUT y: big = Gaussian(1, 1) IF depth is low THEN y is big",
        "'y'|'big'|MIMamdani",
        "IF depth",
    ),
    # ------------------------------------------------------------------ words and signs left out
    "THEN left out": ("IF depth is low y = 1", "THEN is missing|'y'", "y = 1"),
    "THEN left out before a sum": ("IF depth is low y += 1", "THEN is missing|'y'", "y += 1"),
    "the next rule for THEN": ("IF depth is low\nIF hue is low THEN y = 1", "THEN|the next statement", ""),
    "the next rule for a conclusion": (
        "IF depth is low THEN\nRule 2: IF hue is low THEN y = 1",
        "a conclusion|'y = 1'|the next statement",
        "",
    ),
    "IF left out": ("depth is low THEN y = 1", "IF is missing", "depth"),
    "IF left out before a bracket": ("(depth is low) THEN y = 1", "IF is missing", "(depth"),
    "IF left out before a quantifier": ("SOME depth is low THEN y = 1", "IF is missing", "SOME"),
    "premise left out": ("THEN y = 1", "THEN has no IF", "THEN"),
    "AND left out": ("IF depth is low size is low THEN y = 1", "AND or OR is missing|'size'", "size"),
    "variable left out": ("IF depth is low OR high THEN y = 1", "Repeat|'depth is low OR depth is high'", "high"),
    "term left out before AND": ("IF depth is AND size is low THEN y = 1", "term of 'depth'|low, medium, high", "AND"),
    "term left out after a hedge": ("IF depth is very THEN y = 1", "term of 'depth'|low, medium, high|'THEN'", "THEN"),
    "is left out before a hedge": ("IF depth very low THEN y = 1", "'is' is missing", "very"),
    "comma left out between terms": (
        "VARIABLE x: low = Gaussian(0, 1) high = Gaussian(2, 1)",
        "terms|commas|'high'",
        "high = Gaussian(2",
    ),
    "comma left out between parameters": ("VARIABLE x: low = Gaussian(0 1)", "commas|missing", "1)"),
    "comma left out before a minus": ("VARIABLE x: low = Sigmoid(0 -1)", "commas|missing", "-1)"),
    "comma left out between settings": (
        "USING t_norm = min alpha = 2 IF depth is low THEN y = 1",
        "settings|commas|'alpha'",
        "alpha = 2",
    ),
    "comma left out between conclusions": ("IF depth is low THEN a = 1 b = 2", "conclusions|commas|'b'", "b = 2"),
    "comma left out between sums": ("IF depth is low THEN a += 1 b -= 2", "conclusions|commas|'b'", "b -= 2"),
    "comma left out between defaults": (
        "Default: a = 1 b = 2 IF depth is low THEN a += 1, b += 1",
        "outputs|commas|'b'",
        "b = 2",
    ),
    "comma too many": (
        "VARIABLE x: low = Gaussian(0, 1),\nIF depth is low THEN y = 1",
        "another term|comma|next statement",
        "",
    ),
    "colon left out before terms": ("VARIABLE x low = Gaussian(0, 1)", "colon|'VARIABLE x: low = ...'", "low"),
    "colon left out after a range": ("VARIABLE x FROM 0 TO 2 low = Gaussian(0, 1)", "colon", "low"),
    "colon left out after a label": ("Rule 1 IF depth is low THEN y = 1", "colon|'Rule 1: IF ...'", "Rule"),
    "colon left out after Default": ("Default y = 1 IF depth is low THEN y = 1", "colon|'Default: y = 0.5'", "y = 1"),
    "equals left out": ("VARIABLE x: low Gaussian(0, 1)", "'='|'Gaussian'", "Gaussian"),
    # ------------------------------------------------------------------ words and signs of other languages
    "double ampersand": ("IF depth is low && size is low THEN y = 1", "AND|'&&'", "&& size"),
    "ampersand": ("IF depth is low & size is low THEN y = 1", "AND|'&'", "& size"),
    "double bar": ("IF depth is low || size is low THEN y = 1", "OR|'||'", "|| size"),
    "bar": ("IF depth is low | size is low THEN y = 1", "OR|'|'", "| size"),
    "exclamation mark": ("IF !(depth is low) THEN y = 1", "NOT|'!'", "!("),
    "logical signs": ("IF depth is low \u2227 size is low THEN y = 1", "AND|'\u2227'", "\u2227"),
    "not equal": ("IF depth != low THEN y = 1", "'!='|'depth is not low'", "!= low"),
    "comma for AND": ("IF depth is low, size is low THEN y = 1", "AND (or OR)|comma", ", size"),
    "double equals in a premise": ("IF depth == low THEN y = 1", "'is'|'=='|'depth is low'", "== low"),
    "in for is": ("IF depth in low THEN y = 1", "'is'|'in'|'depth is low'", "in low"),
    "arrow for THEN": ("IF depth is low -> y = 1", "THEN|'->'", "-> y"),
    "double arrow for THEN": ("IF depth is low => y = 1", "THEN|'=>'", "=> y"),
    "arrow sign for THEN": ("IF depth is low \u2192 y = 1", "THEN|'\u2192'", "\u2192 y"),
    "colon for THEN": ("IF depth is low: y = 1", "THEN|':'", ": y"),
    "comma for THEN": ("IF depth is low, y = 1", "THEN|','", ", y"),
    "assignment": ("IF depth is low THEN y := 1", "'='|':='", ":= 1"),
    "double equals in a conclusion": ("IF depth is low THEN y == 1", "'y = 1'|'=='", "== 1"),
    "is before a number": ("IF depth is low THEN y is 1", "'y = 1'|'is'", "is 1"),
    "is before a negative number": ("IF depth is low THEN y is -1", "'y = -1'|'is'", "is -1"),
    "colon before a number": ("IF depth is low THEN y: 1", "'y = 1'|':'", ": 1"),
    "OR in a conclusion": ("IF depth is low THEN a = 1 OR b = 1", "OR|commas", "OR b"),
    "number as a term": ("IF depth is 3 THEN y = 1", "term|number|'depth is low'|around 3", "3 THEN"),
    "equals and a number": ("IF depth = 3 THEN y = 1", "term|number|'depth is low'|around 3", "3 THEN"),
    "brackets around a term": ("IF depth is very (low) THEN y = 1", "term|without parentheses", "(low)"),
    "hedge after the term": ("IF depth is low very THEN y = 1", "hedge|'is very low'", "very"),
    "unknown hedge before a hedge": ("IF depth is quit very low THEN y = 1", "hedge|'quit'|not, very", "quit"),
    "misspelled hedge": ("IF depth is vrey low THEN y = 1", "hedge|'vrey'|Did you mean 'very'?", "vrey"),
    "than": ("IF depth is low than y = 1", "THEN|'than'", "than y"),
    "xor": ("IF depth is low XOR size is low THEN y = 1", "XOR|not supported|OR", "XOR"),
    "comment of SQL": ("IF depth is low THEN y = 1 # ok\n-- of sand", "'#'|'--'", "-- of sand"),
    "weight by another word": ("IF depth is low THEN y = 1 WEIGHT 0.5", "'WITH 0.5'|'WEIGHT'", "WEIGHT"),
    "weight with a word too many": ("IF depth is low THEN y = 1 WITH weight = 0.5", "'WITH 0.5'|'weight'", "WITH"),
    "certainty factor": ("IF depth is low THEN y = 1 CF 0.5", "'WITH 0.5'|'CF'", "CF"),
    "comment by slashes": ("// deep\nIF depth is low THEN y = 1", "Comments|'#'|'//'", "// deep"),
    "comment by a percent sign": ("IF depth is low THEN y = 1 % deep", "Comments|'#'|'%'", "% deep"),
    "comment over several lines": ("/* deep\n*/ IF depth is low THEN y = 1", "Comments|'#'|'/*'", "/* deep"),
    "percentage as a weight": ("IF depth is low THEN y = 1 WITH 50%", "'0.5'|'50%'", "50%"),
    "percentage as a parameter": ("VARIABLE x: low = Gaussian(0, 12.5 %)", "'0.125'|'12.5%'", "12.5 %"),
    "percentage as a count": ("IF AT LEAST 50% depth is low THEN y = 1", "count|MOST|ON AVERAGE", "50%"),
    "decimal comma in a conclusion": ("IF depth is low THEN y = 0,5", "'0.5'|'0,5'", "0,5"),
    "decimal comma in a weight": ("IF depth is low THEN y = 1 WITH 0,25", "'0.25'|'0,25'", "0,25"),
    "decimal comma in a range": ("VARIABLE x FROM 0,5 TO 2: low = Gaussian(0, 1)", "'0.5'|'0,5'", "0,5"),
    "decimal comma in a setting": ("USING alpha = 2,5 IF depth is low THEN y = 1", "'2.5'|'2,5'", "2,5"),
    "decimal comma in a default": ("Default: y = 0,5 IF depth is low THEN y = 1", "'0.5'|'0,5'", "0,5"),
    "thousands": ("IF depth is low THEN y = 1,000", "'1.000'|'1000'", "1,000"),
    "minus sign": ("IF depth is low THEN y = \u22121", "'-'|minus", "\u22121"),
    "dash for a minus": ("IF depth is low THEN y = 2 \u2013 depth", "'-'|minus", "\u2013"),
    "sign for times": ("IF depth is low THEN y = 2 \u00d7 depth", "'*'|multiplication", "\u00d7"),
    "semicolon between terms": (
        "VARIABLE x: low = Gaussian(0, 1); high = Gaussian(2, 1)",
        "commas|semicolons",
        "; high",
    ),
    "colon for equals": ("VARIABLE x: low: Gaussian(0, 1)", "'='|':'", ": Gaussian"),
    "brackets for a range": ("VARIABLE x [0, 2]: low = Gaussian(0, 1)", "unit|'FROM 0 TO 2'", "[0, 2]"),
    "square brackets for parameters": ("VARIABLE x: low = Gaussian[0 1]", "parentheses|Gaussian", "[0 1]"),
    "braces": ("VARIABLE x: {low = Gaussian(0, 1)}", "'{'|parentheses", "{low"),
    "MATLAB's family": ("VARIABLE x: low = gaussmf(1, 0)", "'gaussmf'|Gaussian(c, sigma)", "gaussmf"),
    "MATLAB's family and brackets": ("VARIABLE x: low = trimf [0 1 2]", "'trimf'|Triangular(a, b, c)", "trimf"),
    **{
        f"{name} of MATLAB": (f"VARIABLE x: low = {name}(1, 0)", f"'{name}'|{said}", name)
        for name, said in {
            "gauss2mf": "TwoSidedGaussian(c1, s1, c2, s2)",
            "smf": "SShape(a, b)",
            "zmf": "ZShape(a, b)",
            "pimf": "PiShape(a, b, c, d)",
            "dsigmf": "SigmoidDifference(c1, a1, a2, c2)",
            "psigmf": "SigmoidProduct(c1, a1, a2, c2)",
            "linsmf": "Ramp(a, b)",
            "linzmf": "Ramp(b, a)",
        }.items()
    },
    "INPUT for VARIABLE": ("INPUT x: low = Gaussian(0, 1)", "'INPUT'|'VARIABLE'", "INPUT"),
    "SET for USING": ("SET t_norm = min", "'SET'|'USING'", "SET"),
    "WHEN for IF": ("WHEN depth is low THEN y = 1", "'WHEN'|'IF'", "WHEN"),
    "equals left out of a setting": ("USING t_norm: min IF depth is low THEN y = 1", "'='|':'", ": min"),
}


MAMDANI = {
    "unknown output": (
        "OUTPUT risk: low = Gaussian(0, 1) IF depth is low THEN rsk is low",
        "output|'rsk'|Did you mean 'risk'?",
        "rsk is",
    ),
    "unknown term of an output": (
        "OUTPUT risk: low = Gaussian(0, 1) IF depth is low THEN risk is lo",
        "term|of 'risk'|'lo'|Did you mean 'low'?",
        "lo",
    ),
    "THEN left out before a term": (
        "OUTPUT risk: low = Gaussian(0, 1) IF depth is low risk is low",
        "THEN is missing|'risk'",
        "risk is low",
    ),
    "comma left out between terms concluded": (
        "OUTPUT a: low = Gaussian(0, 1) OUTPUT b: low = Gaussian(0, 1) IF depth is low THEN a is low b is low",
        "conclusions|commas|'b'",
        "b is low",
    ),
    "equals before a term": (
        "OUTPUT risk: low = Gaussian(0, 1) IF depth is low THEN risk = low",
        "'risk is low'|term",
        "low",
    ),
}


CASES = [(RuleBase, *case) for case in ERRORS.values()] + [(MamdaniRules, *case) for case in MAMDANI.values()]


@pytest.mark.parametrize(("kind", "text", "facts", "at"), CASES, ids=[*ERRORS, *MAMDANI])
def test_a_mistake_is_named_once_with_its_place_and_a_cure(kind, text, facts, at):
    with pytest.raises(RuleSyntaxError) as caught:
        kind.parse(text, VARIABLES)
    ((line, character, reason),) = caught.value.mistakes  # one mistake, one message
    for fact in facts.split("|"):
        assert fact in reason
    message = str(caught.value)
    assert message.startswith(f"Line {line}, character {character}: {reason}\n")
    shown = pointed_at(message)
    assert shown.startswith(at) if at else not shown


def test_all_mistakes_are_reported_together_and_in_order():
    text = """
VARIABLE depth FROM 0 TO 2: shallow = Gausian(0, 2), deep = Sigmoid(1, 5)  // meters
VARIABLE size low = Gaussian(0, 1) high = Gaussian(2 1)
USING t_norm = mn, agregation = max
IF depth is quite shallow && size is low THEN mine = 1 WEIGHT 0,5
IF dept is deep mine = 0
IF depth is deep, size is hihg THEN mine = \u22121
IF size is low THEN
Rule 5: IF dept is shallow THEN mine = 50%
ELSE mine = 0
"""
    with pytest.raises(RuleSyntaxError) as caught:
        RuleBase.parse(text)
    found = {(line, text.split("\n")[line - 1][character - 1 :][:4]) for line, character, _ in caught.value.mistakes}
    assert found == {
        (2, "Gaus"),
        (2, "// m"),
        (3, "low "),
        (3, "high"),
        (3, "1)"),
        (4, "t_no"),
        (4, "agre"),
        (5, "quit"),
        (5, "&& s"),
        (5, "WEIG"),
        (5, "0,5"),
        (6, "dept"),
        (6, "mine"),
        (7, ", si"),
        (7, "hihg"),
        (7, "\u22121"),
        (8, ""),
        (9, "dept"),
        (9, "50%"),
        (10, "ELSE"),
    }
    message = str(caught.value)
    assert message.startswith("19 mistakes:\nLine 2, character 39: Unknown membership family 'Gausian'")
    assert "'dept'; choose from depth, size. Did you mean 'depth'? (Also at line 9, character 12.)\n" in message
    assert message.count("^") == 19
    lines = [int(line.split()[1].rstrip(",")) for line in message.split("\n") if line.startswith("Line ")]
    assert lines == sorted(lines)


def test_mistakes_in_several_texts_are_told_apart():
    message = error_of(["IF depth is wow THEN y = 1", "USING alpa = 1", "IF dpth is low THEN y = 1"])
    assert [line[:7] for line in message.split("\n") if line[:1] == "R"] == ["Rule 1,", "Rule 2,", "Rule 3,"]


def test_a_declaration_with_a_mistake_still_declares():
    message = error_of("VARIABLE x: low = Gaussian(0, 1, 2)\nVARIABLE z: {\nIF x is low AND z is low THEN y = 1", ())
    assert message.count("^") == 2
    assert "Unknown" not in message


def test_conclusions_are_not_compared_if_a_rule_was_given_up():
    message = error_of(
        "IF depth is low AND THEN a = 1, b = 1\nIF size is low THEN a = 1\nIF hue is low THEN a = 1, b = 1"
    )
    assert message.startswith("Line 1, character 21: Expected a condition")


def test_many_mistakes_are_not_all_reported():
    message = error_of("\n".join(f"IF x{n} is low THEN y = 1" for n in range(1000)))
    assert message.startswith("The first 20 mistakes:\nLine 1, ")
    assert message.count("^") == 20
    same = error_of("IF x is low THEN y = 1\n" * 50_000)
    assert "and 196 more" in same
    assert len(same) < 500


@pytest.mark.parametrize(
    ("text", "shown", "caret"),
    [
        ("IF depth is wow THEN y = 1", "IF depth is wow THEN y = 1", 12),
        ("\tIF depth\tis\twow", " IF depth is wow", 13),
        ("IF depth is wow\r\nTHEN y = 1", "IF depth is wow", 12),
        ('IF "été" is wow', 'IF "été" is wow', 12),
        ('IF "e\u0301te\u0301" is wow', 'IF "e\u0301te\u0301" is wow', 12),
        ('IF "深さ" is wow', 'IF "深さ" is wow', 13),
        ("IF depth\u2028is\x85wow", "IF depth is wow", 12),
        ("# first\n\nIF depth is wow", "IF depth is wow", 12),
        ("IF depth is " + 50 * "very " + "wow" + 50 * " ", "..." + 12 * "very " + "wow" + 37 * " " + "...", 63),
    ],
)
def test_the_caret_stands_under_the_character(text, shown, caret):
    odd = [Variable(name, TERMS) for name in ("depth", "été", "e\u0301te\u0301", "深さ")]
    _, line, mark = error_of(text if "THEN" in text else f"{text}\nTHEN y = 1", odd).split("\n")
    assert line == "  " + shown
    assert mark == "  " + caret * " " + "^"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("IF depth is wow THEN y = 1", "Line 1, character 13: "),
        ("\n\n  IF depth\nis wow THEN y = 1", "Line 4, character 4: "),
        ("# a\r\n# b\r\nIF depth is wow THEN y = 1", "Line 3, character 13: "),
        ("# a\r# b\rIF depth is wow THEN y = 1", "Line 3, character 13: "),
        ("\tIF depth is wow THEN y = 1", "Line 1, character 14: "),
        (
            ["IF depth is low THEN y = 1", "IF size is low THEN y = 1", "IF depth\nis wow THEN y = 1"],
            "Rule 3, line 2, character 4: ",
        ),
        (["IF depth is low THEN y = 1", "IF size is low THEN z = 1"], "Rule 2, line 1, character 1: "),
        (["IF depth is low THEN y = 1", "USING alpa = 1"], "Rule 2, line 1, character 7: "),
    ],
)
def test_the_message_begins_with_the_place(text, where):
    assert error_of(text).startswith(where)


def test_many_long_names_make_no_long_message():
    many = [Variable("x" * 500 + str(d), TERMS) for d in range(1000)]
    message = error_of("IF " + "y" * 100_000 + " is low THEN z = 1", many)
    assert "and 988 more" in message
    assert len(message) < 2000
    assert len(error_of("USING alpha = (" + ", ".join(["1"] * 10_000) + ") IF depth is low THEN y = 1")) < 2000


def test_known_names_are_listed_as_they_are_written():
    message = error_of('IF "x" is low THEN y = 1', [Variable("patch position", TERMS), Variable("a\nb", TERMS)])
    assert '"patch position", "a\\nb"' in message


@pytest.mark.parametrize("variables", [VARIABLES, ()], ids=["variables", "none"])
@pytest.mark.parametrize("text", ["", "   \n", "# nothing", "USING alpha = 1", []])
def test_a_text_without_rules_is_refused(text, variables):
    assert "no rule" in (message := error_of(text, variables)) or "declares no variable" in message


def test_rules_without_variables_are_refused():
    message = error_of("IF anything THEN y = 1", None)
    assert "no variable" in message
    assert "'VARIABLE depth: low = Gaussian(0, 1)'" in message


@pytest.mark.parametrize("text", [None, 3, b"IF depth is low THEN y = 1", [None], ["IF depth is low THEN y = 1", 3]])
def test_what_is_no_text_is_refused(text):
    assert "must be text, got" in error_of(text)


@pytest.mark.parametrize(
    ("variables", "said"), [(["depth"], "Expected a Variable, got 'depth'"), (2 * VARIABLES, "Two")]
)
def test_bad_variables_are_refused(variables, said):
    with pytest.raises(ParameterError, match=said):
        RuleBase.parse("IF depth is low THEN y = 1", variables)


def test_a_setting_comes_from_the_text_or_the_call():
    message = error_of("USING t_norm = min IF depth is low THEN y = 1", t_norm="min")
    assert "t_norm" in message
    assert "argument" in message
    assert pointed_at(message).startswith("t_norm = min")
    with pytest.raises(ParameterError, match=r"t_norm.*'mni'") as caught:  # of the call: nothing to point at
        RuleBase.parse("USING alpha = 1 IF depth is low THEN y = 1", VARIABLES, t_norm="mni")
    assert not isinstance(caught.value, RuleSyntaxError)


def test_data_without_a_variable_of_the_rules_are_refused():
    rules = RuleBase.parse("IF depth is low THEN y = 1", VARIABLES)
    with pytest.raises(InputError, match=r"no feature 'depth', which the rules use. Did you mean 'dephts'"):
        rules.infer(Bags.from_list([[[1.0, 2.0, 3.0]]], feature_names=["dephts", "size", "hue"]))
    with pytest.raises(InputError, match="X has 2 features, but these rules expect 3"):
        rules.infer([[[1.0, 2.0]]])


def test_too_much_text_is_refused():
    line = "IF depth is low THEN y = 1\n"
    message = error_of((line * 400_000)[:10_000_017])
    assert "10,000,017 characters" in message
    assert f"{MAX_TEXT:,}" in message
    assert f"{MAX_TEXT:,}" in error_of([line] * (MAX_TEXT // len(line) + 1))


def test_too_many_coefficients_are_refused():
    names = "\n".join(f"VARIABLE x{d}" for d in range(10_001))
    message = error_of(names + "\nIF anything THEN y = x1" * 1000, ())
    assert "1,000 rules with 1 linear output(s) of 10,001 variables have more than 10,000,000 coefficients" in message
    assert RuleBase.parse(names + "\nIF anything THEN y = 1" * 1000).n_rules == 1000


@pytest.mark.parametrize(
    "premise",
    [
        "(" * 10_000 + "depth is low" + ")" * 10_000,
        "(" * 10_000,
        "NOT " * 10_000 + "depth is low",
        "NOT (" * 10_000 + "depth is low" + ")" * 10_000,
        "(depth is low OR size is low AND " * 60 + "hue is low" + ")" * 60,
        "depth is " + "very " * 10_000 + "low",
    ],
    ids=["brackets", "open", "nots", "both", "precedence", "hedges"],
)
def test_deep_nesting_is_refused(premise):
    assert "at most 100 levels" in error_of(f"IF {premise} THEN y = 1")


def test_a_shortened_print_says_how_to_get_all_of_it():
    rules = RuleBase.from_arrays(np.zeros((2, 20)), np.ones((2, 20)), [0.0, 1.0])
    assert "to_source()" in error_of(str(rules), rules.variables)
    again = RuleBase.parse(rules.to_text(max_terms=None, digits=None), rules.variables, aggregation="softmax")
    assert again == rules


@pytest.mark.parametrize("name", [name for name in cures.FAMILIES_ELSEWHERE if name.endswith("mf")])
def test_the_advice_on_a_family_of_matlab_is_what_its_files_mean(name):
    """Numbers for MATLAB's parameters, and for ours as the advice orders them."""
    given, ours = re.search(r"\[(.*)\] is (\w+\(.*\)) here", cures.FAMILIES_ELSEWHERE[name]).groups()
    values = dict(zip(given.split(), (1.0, 2.0, 3.0, 4.0), strict=False))
    numbers = [values[word] for word in given.split()]
    written = re.sub(r"\b(\w+)\b(?=[,)])", lambda match: str(values[match[1]]), ours)
    meant = RuleBase.parse(f"VARIABLE x: low = {written}\nIF x is low THEN y = 1").variables[0].terms["low"]
    assert meant == sets.read(whole(name), name, numbers, sets.FIS)
