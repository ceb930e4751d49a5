"""The report in a real browser: clicks, keys, narrow screens, no script, and names that try to break out.

Needs the package playwright and a Chromium of the system (none is downloaded); skipped where either is absent.
"""

import re
import shutil

import numpy as np
import pytest

from fuzzymil import Bags, MISugeno, RuleBase
from fuzzymil.report import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the path")

HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)></details><!--"

# Every visible text against what lies behind it, as WCAG 2 computes it; returns those below AA.
POOR_CONTRAST = """() => {
  const parse = (text) => {
    const numbers = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith("color(") ? numbers.map((v, n) => (n < 3 ? 255 * v : v)) : numbers;
  };
  const over = (front, back) => front.slice(0, 3).map((v, n) => v * (front[3] ?? 1) + back[n] * (1 - (front[3] ?? 1)));
  const linear = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const poor = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node.checkVisibility() || node.closest("script")) continue;
    seen += 1;
    const style = getComputedStyle(node);
    const back = behind(node);
    const [a, b] = [light(over(parse(style.color), back)), light(back)].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) poor.push(walker.currentNode.textContent.trim().slice(0, 40));
  }
  return { seen, poor };
}"""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A report on rules over 14 features, and bags of which some are taken for the wrong class."""
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 1, (5, 14))
    rules = RuleBase.from_arrays(
        centers, np.full((5, 14), 2.0), [0, 1, 0, 1, 0.3], feature_names=[f"feature {d}" for d in range(14)]
    )
    cube = centers[rng.integers(0, 5, (12, 3))] + rng.normal(0, 1, (12, 3, 14))
    given = Bags.from_list(
        list(cube), rules.feature_names, labels=np.arange(12) % 2, ids=[f"bag {b}" for b in range(12)]
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(MISugeno(rules=rules).fit(given), given, path, n_folds=3)
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """A function that opens the report; whatever the browser complains about fails the test."""
    complaints, contexts = [], []

    def visit(width=1280, where=address, **settings):
        context = browser.new_context(viewport={"width": width, "height": 800}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: complaints.append(request.url) if request.url[:5] == "http:" else None)
        page.goto(where)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert complaints == []


def values(page, collection, key):
    shown = f"#{collection} [data-list] > [data-item]:not([hidden])"
    return page.locator(shown).evaluate_all(f"items => items.map(item => item.dataset.{key})")


@pytest.mark.slow
def test_rules_are_sorted_by_clicks(opened):
    page = opened()
    assert values(page, "rulebook", "place") == list("01234")
    button = page.locator("#rulebook button", has_text="share of the decision")
    button.click()
    falling = list(map(float, values(page, "rulebook", "share")))
    assert falling == sorted(falling, reverse=True)
    assert button.get_attribute("aria-pressed") == "true"
    assert button.get_attribute("aria-label") == "share of the decision, descending"
    button.click()
    assert list(map(float, values(page, "rulebook", "share"))) == falling[::-1]
    page.locator("#rulebook button", has_text="number").click()
    assert values(page, "rulebook", "place") == list("01234")
    assert button.get_attribute("aria-pressed") == "false"


def test_rules_are_narrowed(opened):
    page = opened()
    page.locator("#only-rulebook").select_option(label="for 1")
    assert values(page, "rulebook", "place") == ["1", "3"]
    assert page.locator("#rulebook output").text_content() == "2 of 5 rules"
    page.locator("#find-rulebook").fill("rule 4")
    assert values(page, "rulebook", "place") == ["3"]
    page.locator("#find-rulebook").fill("no such words")
    assert page.locator("#rulebook .none").is_visible()
    page.locator("#only-rulebook").select_option("")
    page.locator("#find-rulebook").fill("")
    assert len(values(page, "rulebook", "place")) == 5


def test_features_are_found_and_sorted(opened):
    page = opened()
    page.locator("#find-features").fill("feature 1")
    assert values(page, "features", "name") == ["feature 1", *(f"feature 1{d}" for d in range(4))]
    page.locator("#find-features").fill("")
    button = page.locator("#features button", has_text="name")
    button.click()
    button.click()
    assert values(page, "features", "name") == [f"feature {d}" for d in range(13, -1, -1)]


def test_a_click_on_a_bag_tells_why(opened):
    page = opened()
    bag = page.locator("#bag-list [data-item]").nth(4)
    why = bag.get_by_text("Contributions to the decision value")
    assert not why.is_visible()
    bag.locator("summary").click()
    assert why.is_visible()
    assert bag.locator("svg.set").first.is_visible()
    bag.locator("summary").click()
    assert not why.is_visible()


def test_wrong_bags_alone(opened):
    page = opened()
    page.locator("#only-bag-list").select_option("wrong")
    shown = page.locator("#bag-list [data-item]:not([hidden])")
    assert 0 < shown.count() < 12
    assert all("wrong" in text for text in shown.locator("summary").all_text_contents())
    assert page.locator("#bag-list output").text_content() == f"{shown.count()} of 12 bags"


def test_least_certain_first(opened):
    page = opened()
    button = page.locator("#bag-list button", has_text="certainty")
    button.click()
    button.click()
    rising = list(map(float, values(page, "bag-list", "certainty")))
    assert rising == sorted(rising)
    assert page.locator("article h4").first.text_content().startswith(values(page, "bag-list", "name")[0])


def test_the_pointer_reads_a_set(opened):
    page = opened()
    page.locator("#rulebook svg.set").first.hover()
    readout = page.locator("#readout")
    assert readout.is_visible()
    assert re.fullmatch(r"-?[\d.e-]+: membership [01]\.\d\d", readout.text_content())
    page.mouse.move(1, 1)
    assert not readout.is_visible()


def test_everything_is_reached_by_keys(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    wanted = "button, input, select, summary, a[href], [tabindex='0']"
    visible = page.evaluate(f"[...document.querySelectorAll(`{wanted}`)].filter(e => e.checkVisibility()).length")
    page.evaluate("window.reached = new Set([document.activeElement])")
    for _ in range(visible - 1):
        page.keyboard.press("Tab")
        page.evaluate("window.reached.add(document.activeElement)")
    assert page.evaluate("window.reached.size") == visible


def test_keys_do_what_clicks_do(opened):
    page = opened()
    page.locator("#rulebook button", has_text="conclusion").focus()
    page.keyboard.press("Enter")
    assert values(page, "rulebook", "conclusion")[0] == "1"
    bag = page.locator("#bag-list [data-item]").first
    bag.locator("summary").focus()
    page.keyboard.press("Enter")
    assert bag.get_by_text("Contributions").is_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out(opened, width):
    page = opened(width)
    page.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("media", ["screen", "print"])
def test_contrast_is_enough_everywhere(opened, media):
    page = opened()
    page.locator("#rulebook button").first.click()
    page.emulate_media(media=media)
    page.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
    found = page.evaluate(POOR_CONTRAST)
    assert found["seen"] > 500
    assert found["poor"] == []
    assert page.locator("#rulebook .tools").is_visible() == (media == "screen")


def test_reading_needs_no_script(opened):
    page = opened(java_script_enabled=False)
    assert not page.locator(".tools").first.is_visible()
    assert page.locator("#rulebook .rule").first.is_visible()
    assert page.locator("article").count() == 6
    bag = page.locator("#bag-list [data-item]").first
    bag.locator("summary").click()
    assert bag.get_by_text("Contributions to the decision value").is_visible()


def test_figures_are_drawn_under_the_policy(opened):
    page = opened()
    width = page.locator("#performance img").first.evaluate("image => image.naturalWidth")
    assert width > 100


def test_names_cannot_run_anything(opened, tmp_path):
    names = [f"a{HOSTILE}", f"b{HOSTILE}"]
    rules = RuleBase.from_arrays([[0.2, 0.9], [0.8, 0.1]], np.full((2, 2), 0.3), [0, 1], feature_names=names)
    parts = [[[0.1 * k, 1.0], [1.0 - 0.1 * k, 0.0]] for k in range(8)]
    labels = np.array([f"yes{HOSTILE}", f"no{HOSTILE}"])[np.arange(8) % 2]
    given = Bags.from_list(parts, names, labels=labels, ids=[f"{HOSTILE}{k}" for k in range(8)])
    write_report(MISugeno(rules=rules).fit(given), given, tmp_path / "report.html", title=HOSTILE, n_folds=2)
    page = opened(where=(tmp_path / "report.html").as_uri())
    page.locator("#bag-list button", has_text="name").click()
    page.locator("#find-bag-list").fill("<script>")
    assert values(page, "bag-list", "name") == [f"{HOSTILE}{k}" for k in range(8)]
    assert page.locator("script").count() == 1
    assert page.locator("img[onerror]").count() == 0
    assert page.title() == HOSTILE
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("page_colors", ["background: #fff; color: #111", "background: #111; color: #ddd"])
def test_notebooks_can_be_read_on_light_and_dark_pages(opened, tmp_path, page_colors):
    """As a notebook has it: inside a page that styles tables in its own way."""
    rng = np.random.default_rng(0)
    given = Bags.from_list(list(rng.uniform(0, 1, (12, 3, 2))), ["hue", HOSTILE], labels=["sky", HOSTILE] * 6)
    rules = RuleBase.from_arrays(
        [[0.2, 0.2], [0.8, 0.8]], np.full((2, 2), 0.2), [0, 1], feature_names=["hue", HOSTILE], output_names=["sky"]
    )
    model = MISugeno(rules=rules).fit(given)
    shown = [given, rules, model, model.explain(given, position=0), model.importance(given, n_repeats=2)]
    body = "".join(each._repr_html_() for each in shown)
    noisy = "<style>.page table { font-size: 40px } .page tbody tr:nth-child(odd) { background: #f0f }</style>"
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><body style='{page_colors}'>{noisy}<div class=page>{body}</div>", "utf-8")
    page = opened(where=path.as_uri(), width=900)
    found = page.evaluate(POOR_CONTRAST)
    assert found["seen"] > 60
    assert found["poor"] == []
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 900
    first = page.locator("details").first
    assert first.get_attribute("open") is not None
    first.locator("summary").click()  # needs no script
    assert first.get_attribute("open") is None
