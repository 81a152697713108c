#!/usr/bin/env python3
"""A fault is planted into a page, and check_pages.py has to see it; in good pages it sees nothing."""

import pathlib
import sys
import tempfile
import unittest

import check_pages
import chromium

STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; padding: 8px; font: 16px sans-serif; color: #222; background: #fff; }
svg { display: block; width: 300px; height: 100px; }
svg text { fill: #222; font-size: 12px; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #111; } svg text { fill: #ddd; } }
"""
NO_REQUESTS = ("<meta http-equiv='Content-Security-Policy' "
               "content=\"default-src 'none'; style-src 'unsafe-inline'\">")


def Page(body, style="", head=""):
    return (f"<!DOCTYPE html><html><head><meta charset='utf-8'>{head}<style>{STYLE}{style}</style>"
            f"</head><body>{body}</body></html>")


def Picture(shapes):
    return Page(f"<svg viewBox='0 0 300 100'>{shapes}</svg>")


GOOD = {
    "text": Page("<h1>A page</h1><p>with text that goes on and on and on, in many lines of which "
                 "none touches another, <b>bold</b> and <code>code</code> among it.</p>"),
    "scroll": Page("<div style='overflow-x: auto'><div style='width: 3000px'>wide</div></div>"),
    "picture": Picture("<rect x='0' y='0' width='300' height='100' fill='#888' opacity='.1'/>"
                       "<text x='10' y='20'>ab</text><text x='40' y='20'>cd</text>"
                       "<text x='10' y='33'>ef</text>"),
    "touching": Picture("<line x1='0' y1='17' x2='300' y2='17' stroke='#888'/>"
                        "<text x='10' y='20'>a text on a line</text>"),
    "table": Page("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td></td></tr></table>"),
}

WIDTHS = [400, 800]

# name: page, what has to be told, and where.
FAULTS = {
    "overlap": (Page("<p style='position: absolute; top: 9px'>one text</p>"
                     "<p style='position: absolute; top: 14px'>another</p>"),
                "'another' overlaps 'one text'", {"400 px light", "800 px dark"}),
    "overlap_in_picture": (Picture("<text x='10' y='20'>abcd</text><text x='25' y='24'>ef</text>"),
                           "'ef' overlaps 'abcd'", {"800 px light"}),
    "leaves_picture": (Picture("<text x='280' y='20'>abcdefgh</text>"),
                       "'abcdefgh' sticks out of <svg>", {"400 px light"}),
    "leaves_box": (Page("<p style='width: 50px'>Unbreakable</p>"),
                   "'Unbreakable' sticks out of <p>", {"400 px light"}),
    "block_leaves_box": (Page("<div style='width: 90px'><p style='width: 99px'>a</p></div>"),
                         "<p> 'a' sticks out of <div> by 9.0", {"800 px dark"}),
    "wide": (Page("<p>a</p><div style='width: 500px'>b</div>"),
             "in a window of 400", {"400 px light", "400 px dark"}),
    "cut_off": (Page("<p style='width: 40px; overflow: hidden; white-space: nowrap'>long text</p>"),
                "<p> 'long text' is cut off", {"400 px light"}),
    "small": (Page("<p style='font-size: 7px'>small</p>"), "'small' has letters of 7.0 px",
              {"400 px light"}),
    "grey_in_the_dark": (Page("<p class='g'>grey</p>", ".g { color: #666 }"),
                         "'grey' has a contrast of 3.", {"400 px dark", "800 px dark"}),
    "grey_in_the_light": (Page("<p class='g'>grey</p>", ".g { color: #aaa }"),
                          "'grey' has a contrast of 2.", {"400 px light"}),
    "faint": (Page("<p style='opacity: .4'>faint</p>"), "'faint' has a contrast of 2.",
              {"400 px light"}),
    "on_a_bar": (Picture("<rect x='0' y='0' width='300' height='100' fill='#777'/>"
                         "<text x='10' y='20'>dark</text>"), "'dark' has a contrast of 3.",
                 {"800 px light"}),
    "covered": (Picture("<text x='10' y='20'>under</text>"
                        "<rect x='0' y='0' width='300' height='100' fill='#888'/>"),
                "'under' cannot be seen", {"800 px light"}),
    "white": (Page("<p style='color: #fff'>white</p>"), "'white' cannot be seen",
              {"400 px light"}),
    "image": (Page("<p>a</p><img src='http://127.0.0.1:9/a.png' width='5' height='5'>"),
              "asks for http://127.0.0.1:9/a.png", {""}),
    "stylesheet": (Page("<p>a</p>", head="<link rel='stylesheet' href='other.css'>"),
                   "asks for file://", {""}),
    "refused_image": (Page("<p>a</p><img src='http://127.0.0.1:9/a.png' width='5' height='5'>",
                           head=NO_REQUESTS), "the browser says: ", {""}),
    "script": (Page("<p>a</p><script>console.log('hello')</script>"), "runs a script", {""}),
    "nothing": (Page(""), "there is no text", {"400 px light"}),
}


class CheckPagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        profile = pathlib.Path(cls.folder.name, "chromium")
        profile.mkdir()
        cls.browser = chromium.Browser(chromium.FindChromium(), str(profile))
        cls.looker = check_pages.Looker(cls.browser)

    @classmethod
    def tearDownClass(cls):
        cls.browser.Close()
        cls.folder.cleanup()

    def ProblemsOf(self, name, text):
        path = pathlib.Path(self.folder.name, name + ".html")
        path.write_text(text)
        return self.looker.Problems(path, WIDTHS)

    def test_good_pages(self):
        for name, text in GOOD.items():
            with self.subTest(name):
                self.assertEqual(self.ProblemsOf(name, text), [])

    def test_planted_faults(self):
        for name, (text, words, places) in FAULTS.items():
            with self.subTest(name):
                problems = self.ProblemsOf(name, text)
                for place in places:
                    self.assertTrue(any(words in problem and place in problem
                                        for problem in problems), problems)

    def test_pictures_by_themselves(self):
        start = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 200 100'>"
        for shapes, expected in [("<text x='10' y='20'>ab</text>", ""),
                                 ("<text x='10' y='20'>ab</text><text x='12' y='22'>cd</text>",
                                  "'cd' overlaps 'ab'"),
                                 ("<text x='190' y='20'>abcd</text>", "sticks out of <svg>"),
                                 ("<text x='10' y='20' fill='#999'>ab</text>", "a contrast of 2.")]:
            with self.subTest(shapes):
                path = pathlib.Path(self.folder.name, "picture.svg")
                path.write_text(start + "<rect width='100%' height='100%' fill='#fff'/>" + shapes +
                                "</svg>")
                problems = self.looker.Problems(path, WIDTHS)
                if expected:
                    self.assertTrue(any(expected in problem for problem in problems), problems)
                else:
                    self.assertEqual(problems, [])

    def test_a_file_that_is_not_there(self):
        self.assertIn("cannot be opened", self.looker.Problems("/no/such/page.html")[0])


if __name__ == "__main__":
    if chromium.FindChromium() is None:
        print("skipped: there is no Chromium")
        sys.exit(0)
    unittest.main()
