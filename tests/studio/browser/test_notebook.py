"""The same modules in a widget: loaded from texts, with messages that do not travel over a socket."""

import json

import pytest

from fuzzymil.studio.messages import json_value

pytestmark = pytest.mark.slow

# What anywidget does: it imports the module from a text, and hands it a model with traits and messages.
SHOW = """async () => {
  const { esm, modules, style } = await window.traits();
  const listeners = [];
  window.push = (message) => listeners.forEach((listener) => listener(message));
  const model = {
    get: (name) => ({ _modules: modules, _style: style })[name],
    on: (name, listener) => listeners.push(listener),
    send: async (message) => window.push(JSON.parse(await window.answer(JSON.stringify(message)))),
  };
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const el = document.createElement("div");
  document.body.append(el);
  await (await import(url)).default.render({ model, el });
}"""


def test_the_widget_shows_and_edits(browser):
    pytest.importorskip("anywidget", reason="the extra notebook is not installed")
    from fuzzymil.studio.start import demo_bags, demo_document
    from fuzzymil.studio.widget import show

    widget = show(demo_document().rules, demo_bags())
    page = browser.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    pushed = []
    widget.session.windows[:] = [pushed.append]

    def answer(text):
        return json.dumps(json_value(widget.session.answer(json.loads(text))))

    page.expose_function("answer", answer)
    traits = {"esm": str(widget._esm), "modules": widget._modules, "style": widget._style}
    page.expose_function("traits", lambda: traits)
    page.evaluate(SHOW)
    field = page.locator("[data-key='parameter-left-0']")
    field.wait_for()
    assert page.locator(".scoreboard .figure").text_content().endswith("%")
    field.fill("0.5")
    field.press("Enter")
    page.wait_for_function("() => true")
    for _ in range(200):
        if pushed:
            break
        page.wait_for_timeout(25)
    page.evaluate("(message) => window.push(message)", json.loads(json.dumps(json_value(pushed[-1]))))
    assert widget.rules.variables[0].terms["left"].center == 0.5
    page.locator("#tab-viewer").click()
    page.locator(".walk-cell").first.wait_for()
    assert complaints == []
    page.close()
    widget.close()
