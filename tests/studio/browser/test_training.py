"""Training, versions, files, and a server that dies, in the browser."""

import os
import re
import signal
import subprocess
import sys

import pytest

from fuzzymil.studio import Session
from fuzzymil.studio.start import demo_bags, demo_document

pytestmark = pytest.mark.slow


def test_training_is_stopped_compared_and_rejected_or_accepted(opened):
    window = opened()
    page, start = window.page, window.text
    window.open("training")
    window.key("epochs").fill("10000")
    window.key("epochs").press("Enter")
    window.key("train").click()
    page.locator("#view-training [role=status]", has_text=re.compile(r"Epoch \d+ of 10000")).wait_for(timeout=60_000)
    window.key("stop").click()
    reject = window.key("reject")
    reject.wait_for(timeout=60_000)
    assert page.locator(".ghost-figure .ghost").count() >= 2
    assert page.locator(".change input[type=checkbox]").count() == 3  # two rules and the default
    window.open("sets")
    window.open("training")  # the proposal waits
    reject.click()
    page.locator(".toast", has_text="as they were").wait_for()
    assert window.text == start

    window.key("epochs").fill("30")
    window.key("epochs").press("Enter")
    window.key("train").click()
    window.key("accept-2").wait_for(timeout=60_000)
    window.key("accept-2").click()
    page.get_by_text("With what is ticked below").wait_for()
    proposed = window.session.proposal["document"].rules
    assert proposed.default != demo_document().rules.default
    window.key("accept-default").click()
    window.edited(page.get_by_role("button", name="Accept 1 rule", exact=True).click)
    old, new = demo_document().rules, window.session.document.rules
    assert new.rules[0].coefs != old.rules[0].coefs
    assert new.rules[1].coefs == old.rules[1].coefs
    assert new.default == old.default
    assert new.variables[0].terms["right"] == old.variables[0].terms["right"]
    assert new.variables[0].terms["left"] != old.variables[0].terms["left"]
    assert reject.count() == 0


def test_versions_are_named_compared_and_revisited(opened):
    window = opened()
    page, start = window.page, window.text
    field = window.key("parameter-left-0")
    field.fill("0.5")
    window.edited(lambda: field.press("Enter"))
    window.open("history")
    window.key("name-0").click()
    page.locator("dialog input").fill("As the expert said")
    page.keyboard.press("Enter")
    page.locator(".version b", has_text="As the expert said").wait_for()
    window.key("compare-0").check()
    page.locator("#view-history .ghost-figure").wait_for()
    assert "Gaussian(0.7, 0.3)" in page.locator("#view-history .ghost-figure").text_content()
    window.edited(window.key("goto-0").click)
    assert window.text == start


def test_files_are_dropped_previewed_and_exported(opened, tmp_path):
    window = opened(Session(demo_document(), demo_bags(), name="demo", folder=tmp_path))
    page = window.page
    window.open("files")
    table = "shop,minutes,buys\na,1,no\na,2,no\nb,9,yes\nc,8,yes\nd,1,no\n"
    page.locator("#file-input").set_input_files({"name": "v.csv", "mimeType": "text/csv", "buffer": table.encode()})
    page.locator("dialog select").first.select_option("shop")
    page.locator("dialog select").nth(1).select_option("buys")
    window.edited(page.locator("dialog .primary").click)
    assert window.session.bags.n_bags == 4
    window.key("format").select_option("fll")
    window.settle()
    assert page.locator("#view-files .notice, #view-files .export-preview").count() > 0
    window.key("format").select_option("rules")
    with page.expect_download() as download:
        window.key("download").click()
    assert download.value.path().read_text(encoding="utf-8").startswith(("#", "VARIABLE"))
    for replaced in (False, True):
        window.key("save").click()
        page.locator("dialog input").fill("mine.rules")
        page.keyboard.press("Enter")
        if replaced:
            page.get_by_role("button", name="Replace").click()
        page.locator(".toast", has_text="Wrote mine.rules").nth(int(replaced)).wait_for()
    assert (tmp_path / "mine.rules").read_text(encoding="utf-8").strip()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_nothing_is_lost_when_the_server_is_killed(opened, tmp_path):
    command = [sys.executable, "-m", "fuzzymil", "studio", "--demo", "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    servers = []

    def started():
        server = subprocess.Popen(
            command, cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        servers.append(server)
        return server.stdout.readline().strip()

    try:
        window = opened(address=started())
        window.page.locator("[aria-label='End the guided start']").click()
        field = window.key("parameter-left-0")
        for revision, value in enumerate(("0.61", "0.62"), start=1):
            field.fill(value)
            field.press("Enter")
            window.page.locator(f".studio[data-revision='{revision}']").wait_for()
        servers[0].send_signal(signal.SIGKILL)
        servers[0].wait()
        window.page.locator(".status", has_text="Not connected").wait_for()
        window.page.close()
        window.complaints.clear()  # that the connection was lost
        again = opened(address=started())
        assert again.key("parameter-left-0").input_value() == "0.62"
        again.page.locator(".toast", has_text="2 changes").wait_for()
        again.page.keyboard.press("Control+z")
        again.page.wait_for_function("() => document.querySelector(\"[data-key='parameter-left-0']\").value === '0.61'")
    finally:
        for server in servers:
            server.kill()
            server.wait()
            server.stdout.close()
