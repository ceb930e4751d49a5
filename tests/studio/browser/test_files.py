"""Files that a person drops on the page: data, models, and rules with mistakes."""

import pytest

from fuzzymil import Training
from fuzzymil.estimators import MIANFISClassifier
from fuzzymil.studio import Document, Session
from fuzzymil.studio.start import demo_bags, demo_document

pytestmark = pytest.mark.slow

OTHER = b"patient,outcome,temp\na,ill,39.5\na,ill,36\nb,well,36.5\nc,ill,40\nd,well,37\n"
BROKEN = b"VARIABLE x1: low = Gausian(0, 1)\nIF x1 is low THEN positive = 1\n"


def drop(window, name, content):
    window.open("files")
    window.page.set_input_files("#file-input", {"name": name, "mimeType": "text/plain", "buffer": content})
    window.page.locator("dialog").wait_for()


def test_data_are_opened_and_undo_brings_the_former_ones_back(opened, tmp_path):
    window = opened(Session(demo_document(), demo_bags(), name="demo", folder=tmp_path))
    drop(window, "ward.csv", OTHER)
    window.key("bag-column").select_option("patient")
    window.key("label-column").select_option("outcome")
    assert window.page.locator("dialog", has_text="x1, x2").count() == 1  # what the table does not have
    assert window.key("start-from").is_checked()
    window.edited(window.page.locator("dialog .primary").click)
    assert [each.name for each in window.session.document.rules.variables] == ["temp"]
    window.edited(lambda: window.page.keyboard.press("Control+z"))
    assert window.session.document.text == demo_document().text
    assert window.page.locator(".topbar", has_text="150 bags").count() == 1


def test_rules_that_cannot_read_the_data_are_said_to_in_every_view(opened):
    window = opened()
    drop(window, "ward.csv", OTHER)
    window.key("bag-column").select_option("patient")
    window.key("label-column").select_option("outcome")
    window.key("start-from").uncheck()
    window.edited(window.page.locator("dialog .primary").click)
    for view in ("viewer", "bags", "surface", "validation"):
        window.open(view)
        window.page.locator(f"#view-{view}", has_text="'x1'").wait_for()
    window.open("sets")
    assert window.page.locator("#view-sets .histogram").count() == 0  # those of the former data are gone
    assert window.page.locator(".toast.error").count() <= 1
    window.open("bags")
    window.edited(window.page.locator("#view-bags [data-key='start-anew']").click)
    assert window.session.context.data.problem is None


def test_a_text_with_mistakes_is_mended_in_the_editor(opened):
    window = opened()
    before = window.text
    drop(window, "broken.rules", BROKEN)
    window.page.locator("dialog .primary").click()
    window.page.locator(".mistakes li").wait_for()
    assert window.text == before
    window.edited(window.page.locator(".mistakes button.small").click)
    assert window.text == BROKEN.decode().replace("Gausian", "Gaussian")


def test_a_text_with_mistakes_can_be_given_up(opened):
    window = opened()
    drop(window, "broken.rules", BROKEN)
    window.page.locator("dialog .primary").click()
    window.page.locator(".mistakes li").wait_for()
    window.key("discard").click()
    window.settle()
    assert window.page.locator("textarea").input_value() == window.text == demo_document().text
    assert window.page.locator(".status", has_text="All changes saved").count() == 1
    assert not window.key("discard").is_visible()


def test_new_rules_are_offered_for_a_table_of_other_columns(opened):
    window = opened(Session(Document("VARIABLE word  IF anything THEN y = 0.5"), name="words"))
    drop(window, "ward.csv", OTHER)
    assert window.key("start-from").is_checked()
    assert window.page.locator("dialog", has_text="about word").count() == 1


def test_a_figure_is_of_the_sets_or_of_a_bag(opened):
    window = opened()
    window.open("bags")
    window.open("files")
    window.key("format").select_option("svg")
    for of in ("sets", "bag"):
        window.key("figure-of").select_option(of)
        with window.page.expect_download() as download:
            window.key("download").click()
        assert ("witness" in download.value.path().read_text(encoding="utf-8")) == (of == "bag")


def test_a_member_of_a_committee_is_chosen(opened):
    bags = demo_bags()
    model = MIANFISClassifier(n_rules=2, n_estimators=3, training=Training(max_epochs=2), random_state=0).fit(bags)
    members = list(map(Document.of, model.members_))
    window = opened(Session(members[0], bags, name="trio", model=model._class_reading(), members=members))
    decided = model.predict(bags)
    window.open("bags")
    shown = window.page.locator("#view-bags tbody tr[data-place] td:nth-child(5)").all_text_contents()
    assert [each[2:] for each in shown] == decided[: len(shown)].tolist()
    assert window.page.locator("#view-bags .why-head", has_text=f"committee says {decided[0]}").count() == 1
    window.open("viewer")
    assert decided[0] in window.key("committee-says").text_content()
    window.edited(lambda: window.key("member").select_option(label="3 of 3"))
    assert window.text == members[2].text
    right = (decided == bags.labels).mean()
    assert window.page.locator(".scoreboard", has_text=f"{100 * right:.1f}%").count() == 1
    window.edited(lambda: window.page.keyboard.press("Control+z"))
    assert window.key("member").input_value() == "0"
