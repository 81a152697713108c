#!/usr/bin/env python3
"""check_pages.py [--pictures=FOLDER] FILE...: looks at pages and pictures (.html, .svg) in a browser.

Opens each file in Chromium, light and dark, in windows of several widths, and tells of

- two texts that overlap, and letters that are too small to read;
- whatever sticks out of what is around it, is cut off, or makes a page wider than its window;
- text of too little contrast with what is behind it, pixel by pixel;
- every request but that for the file itself, and all that the browser complains of.

Exits with 1 if there is something to tell. Where there is no Chromium, nothing is looked at: one
line says so, and the exit status is 0. --pictures keeps what was seen, as PNG.
"""

import argparse
import base64
import os
import pathlib
import sys
import tempfile

import chromium

WIDTHS = [400, 800, 1400]
WINDOW_HEIGHT = 900
# The height of a picture of a page that Chromium takes at once.
HIGHEST = 16000

HERE = pathlib.Path(__file__).resolve().parent
LAYOUT = (HERE / "layout.js").read_text()
CONTRAST = (HERE / "contrast.js").read_text()

# Takes the letters away, and nothing else: what is behind them stays as it is.
SHOW_LETTERS = """(shown) => {
  const id = 'without-letters';
  const style = document.getElementById(id);
  if (shown) { style.remove(); return; }
  const root = document.documentElement;
  const added = document.createElementNS(root.namespaceURI, 'style');
  added.id = id;
  added.textContent = `*, *::marker { -webkit-text-fill-color: transparent !important }
    text, tspan { fill-opacity: 0 !important }`;
  root.append(added);
}"""


class Looker:
    """Looks at pages, one behind the other, in a tab of `browser`."""

    def __init__(self, browser, pictures=None):
        self._browser = browser
        self._pictures = pictures
        self._page = browser.OpenTab()
        for domain in ("Page", "Network", "Log", "Runtime"):
            self._Call(domain + ".enable")

    def Problems(self, path, widths=None):
        """Returns the problems of the page in the file, a line each, which begins with its place."""
        address = pathlib.Path(path).resolve().as_uri()
        self._Window(WIDTHS[0], "light")
        self._browser.TakeEvents(self._page)
        opened = self._Call("Page.navigate", {"url": address})
        if "errorText" in opened:
            return [f"cannot be opened: {opened['errorText']}"]
        self._browser.WaitFor("Page.loadEventFired", self._page)
        places = {}
        for width in widths or WIDTHS:
            for scheme in ("light", "dark"):
                self._Window(width, scheme)
                for problem in dict.fromkeys(self._Look(path, width, scheme)):
                    places.setdefault(problem, []).append(f"{width} px {scheme}")
        return self._Complaints(address) + [f"{', '.join(where)}: {problem}"
                                            for problem, where in places.items()]

    def _Call(self, method, params=None):
        return self._browser.Call(method, params, self._page)

    def _Window(self, width, scheme):
        self._Call("Emulation.setDeviceMetricsOverride",
                   {"width": width, "height": WINDOW_HEIGHT, "deviceScaleFactor": 1,
                    "mobile": False})
        self._Call("Emulation.setEmulatedMedia",
                   {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def _Look(self, path, width, scheme):
        layout = self._browser.Evaluate(self._page, LAYOUT)
        problems = layout["problems"]
        if layout["height"] > HIGHEST:
            problems.append(f"a page of {layout['height']} px, of which {HIGHEST} can be looked at")
        clip = {"x": 0, "y": 0, "width": layout["width"],
                "height": min(layout["height"], HIGHEST), "scale": 1}
        seen = self._Picture(clip)
        self._browser.Evaluate(self._page, SHOW_LETTERS, False)
        without = self._Picture(clip)
        self._browser.Evaluate(self._page, SHOW_LETTERS, True)
        if self._pictures:
            name = f"{pathlib.Path(path).stem}-{width}-{scheme}.png"
            (pathlib.Path(self._pictures) / name).write_bytes(base64.b64decode(seen))
        texts = [text for text in layout["texts"] if text["bottom"] <= HIGHEST]
        return problems + self._browser.Evaluate(self._page, CONTRAST, seen, without, texts)

    def _Picture(self, clip):
        return self._Call("Page.captureScreenshot",
                          {"format": "png", "clip": clip, "captureBeyondViewport": True})["data"]

    def _Complaints(self, address):
        """Requests, and what went wrong, since the page was opened."""
        problems = []
        for event in self._browser.TakeEvents(self._page):
            params = event["params"]
            if event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if url != address and not url.startswith("data:"):
                    problems.append(f"asks for {url}")
            elif event["method"] == "Log.entryAdded":
                problems.append(f"the browser says: {params['entry']['text']}")
            elif event["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                problems.append("runs a script")
        return problems


def Main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", help="folder for what was seen")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    program = chromium.FindChromium()
    if program is None:
        print("skipped: there is no Chromium (apt-get install chromium, or COOPER_CHROMIUM=PROGRAM)")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        browser = chromium.Browser(program, folder)
        try:
            looker = Looker(browser, options.pictures)
            for path in options.files:
                problems = looker.Problems(path)
                for problem in problems:
                    print(f"{os.path.basename(path)}: {problem}")
                failed += bool(problems)
        finally:
            browser.Close()
    print(f"{len(options.files)} pages, {failed} with something wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(Main())
