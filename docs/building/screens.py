"""Take the screenshots of the studio's page: ``python docs/building/screens.py``.

Walks through the tutorial of ``docs/studio.md`` in a headless Chromium, and photographs every view in both themes.
"""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).parents[1]
FIGURES = DOCS / "figures" / "studio"
RULE = "IF seconds_per_page is high AND pages is high THEN yes = 1"
COLORS = 256  # of a picture: the page is flat, and so its files are small


def main() -> None:
    """Walk through the tutorial."""
    FIGURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as parent, sync_playwright() as playwright:
        folder = Path(parent) / "shop"
        folder.mkdir()
        shutil.copy(DOCS.parent / "examples" / "visits.csv", folder)
        options = ["visits.csv", "--bag", "user", "--label", "converted", "--no-browser"]
        command = [sys.executable, "-m", "fuzzymil", "studio", *options]
        server = subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert server.stdout is not None
        try:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(server.stdout.readline().strip())
            page.locator(".tab[aria-selected=true]").wait_for()
            walk(page)
            browser.close()
        finally:
            server.terminate()
            server.wait()


def walk(page: Page) -> None:
    """Do what the tutorial says, and take a picture of each view."""
    settle(page)
    page.locator("[data-key='variable-pages']").click()
    page.locator("[data-key='term-high']").click()
    photograph(page, "sets")
    visit(page, "rules")
    page.locator("textarea").focus()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(RULE.replace("pages is high", "pages is hihg"))
    page.locator(".mistakes li").wait_for()
    photograph(page, "rules-mistake")
    page.locator(".mistakes button.small").click()
    page.locator(".rule-table tbody tr").nth(1).wait_for()
    settle(page)
    photograph(page, "rules")
    visit(page, "bags")
    page.locator("[aria-label='Find bags by name or label']").fill("u007")
    page.locator(".grid-table tr[data-place]").first.click()
    settle(page)
    page.locator("[aria-label='Find bags by name or label']").fill("")
    photograph(page, "bags")
    visit(page, "viewer")
    photograph(page, "viewer")
    visit(page, "surface")
    page.locator("[data-key='axis-y']").select_option("pages")
    settle(page)
    photograph(page, "surface")
    visit(page, "training")
    page.locator("[data-key='train']").click()
    page.locator("[data-key='accept']").wait_for(timeout=120_000)
    settle(page)
    photograph(page, "training")
    page.locator("[data-key='accept']").click()
    page.locator(".toast").wait_for()
    page.locator(".toast [aria-label=Dismiss]").click()
    visit(page, "validation")
    page.locator("[data-key='folds-go']").click()
    page.locator("table[aria-label='Held-out folds'] tbody tr").nth(4).wait_for(timeout=120_000)
    photograph(page, "validation")
    visit(page, "history")
    page.locator("[data-key='compare-1']").check()
    settle(page)
    photograph(page, "history")
    visit(page, "files")
    page.locator("[data-key='format']").select_option("snippet")
    photograph(page, "files")


def visit(page: Page, view: str) -> None:
    """Open a view and wait until it is drawn."""
    page.locator(f"#tab-{view}").click()
    settle(page)


def settle(page: Page) -> None:
    """Wait until nothing is asked for any more."""
    page.wait_for_timeout(400)
    page.wait_for_function("() => !document.querySelector('.studio').hasAttribute('data-busy')")
    page.wait_for_timeout(200)


def photograph(page: Page, name: str) -> None:
    """Write the page in both themes, in few colors."""
    settle(page)
    for _ in range(2):
        page.mouse.move(640, 20)  # away from what it would highlight
        theme = page.locator(".studio").get_attribute("data-theme")
        page.wait_for_timeout(200)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture.quantize(COLORS, dither=Image.Dither.NONE).save(FIGURES / f"{name}-{theme}.png", optimize=True)
        page.locator("button[title='Light or dark']").click()
        page.evaluate("() => document.activeElement.blur()")
    print(f"Wrote {name}-light.png and {name}-dark.png")


if __name__ == "__main__":
    main()
