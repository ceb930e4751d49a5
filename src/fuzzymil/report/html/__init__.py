"""What the HTML pages of this library share: one style sheet, markup that escapes, figures inside the page."""

from fuzzymil.report.html.assets import asset, style_sheet
from fuzzymil.report.html.markup import Markup, element, image, joined

__all__ = ["Markup", "asset", "element", "image", "joined", "style_sheet"]
