# SPDX-License-Identifier: Apache-2.0
"""What is true of every page. A check gives the list of what it found wrong."""
import base64
import json

PLOTS = """
[...document.querySelectorAll('figure')].map((figure) => {
  const canvas = figure.querySelector('canvas');
  const chart = Chart.getChart(canvas);
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  let drawn = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    if (pixels[i + 3] === 0) continue;
    drawn += 1;
    colours.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
  }
  const sets = chart ? chart.data.datasets : [];
  // Thin bars are drawn over half a pixel, so no exact colour of theirs may be there.
  const near = (a, b) => [16, 8, 0].every((shift) => Math.abs(((a >> shift) & 255) - ((b >> shift) & 255)) < 64);
  const is_seen = (wanted) => [...colours].some((each) => near(each, wanted));
  const colour = (set) => [].concat(set.backgroundColor).filter((each) => /^#[0-9a-f]{6}$/.test(each));
  return {
    title: figure.querySelector('figcaption').textContent,
    label: canvas.getAttribute('aria-label') || '',
    role: canvas.getAttribute('role'),
    elements: sets.reduce((sum, set, index) => sum + chart.getDatasetMeta(index).data.length, 0),
    share: drawn / (canvas.width * canvas.height),
    seen: sets.some((set) => colour(set).some((each) => is_seen(parseInt(each.slice(1), 16)))),
    width: canvas.getBoundingClientRect().width,
    below: chart && chart.legend && chart.options.plugins.legend.display !== false
      ? chart.legend.legendHitBoxes.reduce((most, box) => Math.max(most, box.top + box.height), 0) - chart.height : 0,
  };
})"""

OPEN_ALL = """
document.querySelectorAll('details').forEach((each) => { each.open = true; if (each.fill) each.fill(); });
document.querySelectorAll('#page button').forEach((each) => /^Show all/.test(each.textContent) && !each.hidden && each.click());
0"""

TABLES = """
[...document.querySelectorAll('table')].map((table) => ({
  caption: table.caption ? table.caption.textContent : '',
  rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)),
}))"""

WIDE = """
[...document.querySelectorAll('#page *, header *')].filter((each) => {
  if (each.closest('.scroll, pre, .skip, option') !== null) return false;
  const box = each.getBoundingClientRect();
  return box.width > 0 && box.right > document.documentElement.clientWidth + 0.5;
}).map((each) => each.tagName + '.' + each.className).slice(0, 5)"""

UNNAMED = """
[...document.querySelectorAll('section')].filter((each) =>
  !document.getElementById(each.getAttribute('aria-labelledby'))).map((each) => 'section ' + each.id)
.concat([...document.querySelectorAll('input, select')].filter((each) => each.labels.length === 0).map((each) => each.id))
.concat([...document.querySelectorAll('table')].filter((each) => !each.caption || each.caption.textContent === '').map(() => 'table'))
.concat([...document.querySelectorAll('h1')].length === 1 ? [] : ['h1'])"""


def drawn(page, expected):
    plots = page.evaluate(PLOTS)
    wrong = []
    titles = [plot["title"] for plot in plots]
    matches = len(titles) == len(expected) and all(a.startswith(b) for a, b in zip(titles, expected))
    if not matches:
        wrong.append(f"plots are {titles}, expected {expected}")
    for plot in plots:
        if plot["elements"] == 0 or plot["share"] < 0.003 or not plot["seen"]:
            wrong.append(f"plot '{plot['title']}' is blank: {plot}")
        if plot["role"] != "img" or not plot["label"]:
            wrong.append(f"plot '{plot['title']}' has no text for those who do not see it")
        if plot["below"] > 1:
            wrong.append(f"the legend of '{plot['title']}' is cut off by {plot['below']} pixels")
    return wrong


def tables_equal(page, expected):
    page.evaluate(OPEN_ALL)
    found = {}
    for table in page.evaluate(TABLES):
        found.setdefault(table["caption"], []).append(table["rows"])
    wrong = []
    for caption, rows in expected.items():
        if caption not in found:
            wrong.append(f"there is no table '{caption}'")
        elif not any(fits(rows, each) for each in found[caption]):
            wrong.append(f"table '{caption}' is not what the JSON says: {difference(rows, found[caption][0])}")
    return wrong


def fits(rows, found):
    return len(rows) == len(found) and all(row == there[: len(row)] for row, there in zip(rows, found))


def difference(rows, found):
    for row, there in zip(rows, found):
        if row != there[: len(row)]:
            return f"{there}, expected {row}"
    return f"{len(found)} rows, expected {len(rows)}"


def fits_its_width(page):
    wrong = []
    width, inner = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    if width > inner:
        wrong.append(f"the page is {width} pixels wide in a window of {inner}")
    return wrong + [f"{each} reaches beyond the window" for each in page.evaluate(WIDE)]


def named(page):
    return [f"{each} has no name" for each in page.evaluate(UNNAMED)]


COLOURS = "[getComputedStyle(document.body).backgroundColor, ...Object.values(Chart.instances).map((c) => c.options.color)]"


def colours_after(page, scheme, before):
    """The colours, once all of them have changed; browsers tell a page of its scheme when they draw."""
    page.set_scheme(scheme)
    return page.evaluate(f"""
(async () => {{
  const before = {json.dumps(before)};
  const now = () => {COLOURS};
  for (let i = 0; i < 200 && now().some((each, at) => each === before[at]); i += 1) {{
    await new Promise((done) => setTimeout(done, 20));
  }}
  return now();
}})()""")


def recoloured(page):
    """Every plot and the page itself change with the colour scheme, and come back."""
    light = page.evaluate(COLOURS)
    dark = colours_after(page, "dark", light)
    again = colours_after(page, "light", dark)
    wrong = []
    if any(a == b for a, b in zip(light, dark)):
        wrong.append(f"some colours are the same in the dark: {light}, {dark}")
    if again != light:
        wrong.append(f"light colours are {again} after dark ones, {light} before")
    return wrong


PRINTED = """
(() => {
  window.dispatchEvent(new Event('beforeprint'));
  const state = () => [[...document.querySelectorAll('details.table:not(.large), details.tables')].every((each) => each.open),
    ...Object.values(Chart.instances).map((chart) => chart.options.color)];
  const during = state();
  window.dispatchEvent(new Event('afterprint'));
  return { during, open: document.querySelectorAll('details.table[open]').length };
})()"""


def printable(page):
    page.set_scheme("dark")
    before = page.evaluate("document.querySelectorAll('details.table[open]').length")
    printed = page.evaluate(PRINTED)
    wrong = []
    if printed["during"][0] is not True:
        wrong.append("not every table is open on paper")
    if set(printed["during"][1:]) - {"#1b1f24"}:
        wrong.append(f"plots on paper are not in light colours: {printed['during'][1:]}")
    if printed["open"] != before:
        wrong.append(f"{printed['open']} tables are open after printing, {before} were before")
    page.set_scheme("light")
    return wrong


def becomes_pdf(page):
    return [] if base64.b64decode(page.pdf()).startswith(b"%PDF") else ["the page cannot be printed"]


def searchable(page, caption, word, count):
    """The field of a table keeps the rows with a word."""
    shown = page.evaluate(f"""
(() => {{
  const label = [...document.querySelectorAll('label')].find((each) => each.textContent === 'Search {caption.lower()}');
  label.control.value = {word!r};
  label.control.dispatchEvent(new Event('input'));
  const table = [...document.querySelectorAll('table')].find((each) => each.caption.textContent === {caption!r});
  const shown = [...table.tBodies[0].rows].filter((row) => !row.hidden).length;
  label.control.value = '';
  label.control.dispatchEvent(new Event('input'));
  return shown;
}})()""")
    return [] if shown == count else [f"search for '{word}' in {caption} shows {shown} rows, expected {count}"]


def csv_equal(page, path):
    shown = page.evaluate("""
(() => {
  const holder = document.getElementById('csv');
  holder.fill();
  return holder.querySelector('pre').textContent;
})()""")
    with open(path, encoding="utf-8", newline="") as file:
        return [] if file.read() == shown else [f"the CSV shown is not {path}"]
