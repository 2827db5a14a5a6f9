# SPDX-License-Identifier: Apache-2.0
"""The checks of pages find what they are for, and nothing in a page that is right."""
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import installed_paths  # noqa: E402
import markdown_check  # noqa: E402
import page_commands  # noqa: E402
import page_text  # noqa: E402
import public_interfaces  # noqa: E402

MD = ".md"  # apart, for what is no document of this tree
WHOLE = """# A page
Prose with `code`, a [link](other.MD#two-words) and an anchor [below](#a-part).

| key | what |
|---|---|
| `a\\|b` | one; two |

```
    indented output . here
```

## A part
- an entry
  and its second line
""".replace(".MD", MD)

BROKEN = {
    "#A page\n": "a heading, table or block that is none",
    "## A part\n": "not of level 1",
    "# A\n# B\n": "a second heading",
    "# A\n### B\n": "level 3 below one of level 1",
    "A page\n======\n": "by underlining",
    "prose\n": "no heading",
    "# A\n| a | b |\n|---|---|\n| 1 | 2 | 3 |\n": "a row of 3 columns in a table of 2",
    "# A\n| a | b |\n|---|---|\n| 1 | 2\n": "without | at both ends",
    "# A\n| a | b | | -- | - |\n": "table or block that is none",
    "# A\n```\ncode\n": "that ``` does not end",
    "# A\n\n    code\n": "an indented block",
    "# A\nprose\n      of a formatter\n": "an indented line in a paragraph",
    "# A\nclients turns.Who has none waits\n": "no blank behind",
    "# A\nwhat it says : nothing\n": "a blank before",
    "# A\nin  between\n": "several blanks",
    "# A\nan `end that is missing\n": "without its other one",
    "# A\n[link](nowhere.txt)\n": "which is not there",
    f"# A\n[link](other{MD}#nowhere)\n": "no such heading",
    "# A\n[link](#nowhere)\n": "no such heading",
    "# A\nend": "the last line has no end",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / f"other{MD}").write_text("# Other\n## Two words\n")
    return tmp_path


def defects(folder, text):
    page = folder / "page.md"
    page.write_text(text)
    return [defect.text for defect in markdown_check.check(page)]


def test_a_page_that_is_whole_has_no_defects(folder):
    assert defects(folder, WHOLE) == []


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_page_is_found(folder, text):
    assert any(BROKEN[text] in found for found in defects(folder, text)), defects(folder, text)


def test_anchors_are_those_of_github(folder):
    page = folder / "page.md"
    page.write_text("# A `b`, (c): d_e\n## Same\n## Same\n")
    assert markdown_check.anchors_of(page) == {"a-b-c-d_e", "same", "same-1"}


def commands_of(tmp_path, text, name="page.md"):
    page = tmp_path / name
    page.write_text(text)
    return page_text.read_page(page)


def test_commands_are_those_of_blocks_and_whole_ones_in_backquotes(tmp_path):
    page = commands_of(tmp_path, "# A\n```sh\na \\\n  b\n```\n\n```\n$ c\nout\n\n$ d\n```\n"
                       "`npusim --config 910b2 lspci` and `npusim run WORKLOAD`\n")
    assert [command.text for command in page.commands] == [
        "a \\\n  b", "c", "d", "npusim --config 910b2 lspci"]
    assert page.commands[1].output == ["out"]
    assert page.mentions == [(13, "npusim run WORKLOAD")]


def test_commands_of_manual_pages_are_found(tmp_path):
    page = commands_of(tmp_path, ".Dl npusim list\n.Ql npusim --config 910b2 lspci .\n", "npusim.1")
    assert [command.text for command in page.commands] == ["npusim list", "npusim --config 910b2 lspci"]


def test_a_block_that_only_looks_like_commands_is_a_defect(tmp_path):
    assert commands_of(tmp_path, "# A\n```\nfirst\nnpusim list\n```\n").defects


@pytest.mark.parametrize("text, mistake", [
    ("npusim run dma_latency --report FILE", None),
    ("npusim lits", "there is no command 'lits'"),
    ("npusim run --prolife", "run has no option --prolife"),
    ("npusim run -- ./program --own", None),
])
def test_what_is_only_named_must_exist(text, mistake):
    helps = {"run": "--report FILE --profile", "": ""}
    assert page_text.mistaken_mention(text, helps.get) == mistake


@pytest.mark.parametrize("expected, found, right", [
    (["a", "b"], ["a", "b"], True), (["a"], ["a", "b"], False), (["a", "..."], ["a", "b"], True),
    (["...", "c"], ["a", "b", "c"], True), (["...", "b"], ["a", "b", "c"], False),
])
def test_output_is_compared(expected, found, right):
    assert page_commands.fits(expected, found) == right


class Pages:
    """A source with one page, whose npusim is `true`."""

    def __init__(self, folder, text, rules):
        (folder / "docs").mkdir()
        (folder / "docs/a.md").write_text(text)
        self.book = page_commands.Book(folder)
        self.book.text = {"pages": ["docs/*.md"], "apart": [], "rules": {"docs/a.md": rules}}

    def wrong(self):
        found = list(page_commands.try_page("docs/a.md", self.book, pathlib.Path("/nowhere"),
                                            pathlib.Path("/bin/true"), lambda _: "", False))
        return found + list(self.book.left_over(["docs/a.md"]))


def test_a_command_that_fails_is_found(tmp_path):
    assert "exit code 3" in Pages(tmp_path, "# A\n```sh\nexit 3\n```\n", {}).wrong()[0]


def test_other_output_is_found(tmp_path):
    assert "it prints" in Pages(tmp_path, "# A\n```\n$ echo a\nb\n```\n", {}).wrong()[0]


def test_a_command_that_is_listed_is_not_run(tmp_path):
    assert Pages(tmp_path, "# A\n```sh\nfalse\n```\n", {"not_run": {"false": "why"}}).wrong() == []


def test_a_rule_for_no_command_is_found(tmp_path):
    assert "no such command" in Pages(tmp_path, "# A\n", {"not_run": {"false": "why"}}).wrong()[0]


def test_another_test_must_be_there(tmp_path):
    pages = Pages(tmp_path, "# A\n```sh\nfalse\n```\n", {"elsewhere": {"false": "No.such_test"}})
    assert "there is no test No.such_test" in pages.wrong()[0]


def test_a_copy_that_differs_is_found(tmp_path):
    (tmp_path / "file").write_text("licence\nlines\n")
    right, wrong = (f"# A\n```yaml same=file\n{text}\n```\n" for text in ("lines", "others"))
    pages = Pages(tmp_path, right, {})
    assert pages.wrong() == []
    (tmp_path / "docs/a.md").write_text(wrong)
    assert "the block is not file" in pages.wrong()[0]


def test_paths_are_found_in_texts():
    text = "see docs/sweeps.md, configs/keys.md.\nguest/ecam of npusim's source, model/docs/a.txt"
    assert installed_paths.PATH.findall(text) == ["docs/sweeps.md", "configs/keys.md"]


INTERFACE_PAGE = """# Interfaces
## ACL
| functions | state |
|---|---|
| aclOne, aclTwo | there |
| aclThree | partly: its half |
| aclFour | refused: 200001 |
"""
INTERFACE_HEADER = """/* aclNone() is not declared. */
#define CALL(x) aclNeither(x)
int aclOne(void); int aclTwo(int a,
  int b);
void* aclThree(void);
int aclFour(void);
"""
INTERFACE_LISTING = "".join(f"00001 T {name}\n" for name in ("aclOne", "aclTwo", "aclThree", "aclFour", "read"))


def interface_defects(page=INTERFACE_PAGE, header=INTERFACE_HEADER, listing=INTERFACE_LISTING):
    rows = public_interfaces.rows_of(page)["ACL"]
    declared = public_interfaces.declared_in(header, r"acl\w+")
    exported = {"ascendcl": public_interfaces.exported_by(listing, r"acl\w+")}
    return list(public_interfaces.defects_of("ACL", rows, declared, exported))


def test_nothing_is_found_where_rows_headers_and_libraries_agree():
    assert interface_defects() == []


@pytest.mark.parametrize("changed, defect", [
    ({"page": INTERFACE_PAGE.replace(", aclTwo", "")}, "aclTwo is declared and has no row"),
    ({"page": INTERFACE_PAGE.replace("aclTwo", "aclTwo, aclFive")}, "aclFive has a row, and no header"),
    ({"page": INTERFACE_PAGE.replace("aclThree", "aclOne, aclThree")}, "aclOne has 2 rows"),
    ({"page": INTERFACE_PAGE.replace("| there", "| perhaps")}, '"perhaps" of aclOne is no state'),
    ({"header": INTERFACE_HEADER + "int aclSix(void);"}, "aclSix is declared and has no row"),
    ({"listing": INTERFACE_LISTING.replace("T aclTwo", "U aclTwo")}, "libascendcl does not export it"),
    ({"listing": INTERFACE_LISTING + "00001 T aclSeven\n"}, "exports aclSeven, and no header"),
])
def test_a_function_that_one_of_them_lacks_is_found(changed, defect):
    assert any(defect in found for found in interface_defects(**changed))


def test_what_the_page_calls_refused_is_called():
    codes = public_interfaces.refused_in(public_interfaces.rows_of(INTERFACE_PAGE)["ACL"])
    assert codes == {"aclFour": 200001}
    assert "aclFour(0L" in public_interfaces.program_of(codes)


ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs/pictures/architecture.svg"


def test_the_picture_of_the_architecture_is_what_its_script_draws(tmp_path):
    drawn = tmp_path / "drawn.svg"
    subprocess.run([sys.executable, PICTURE.with_suffix(".py"), drawn], check=True)
    assert drawn.read_text() == PICTURE.read_text()


def test_the_picture_of_the_architecture_names_folders_that_are_there():
    named = set(re.findall(r"\b(?:apps|driver|firmware|include|model|workloads)/[\w/]*", PICTURE.read_text()))
    assert len(named) > 15
    # A model may be a file: model/chip.
    missing = {name for name in named
               if not (ROOT / name).exists() and not (ROOT / f"{name}.hpp").exists()}
    assert not missing


def test_the_readme_counts_the_values_that_were_fitted():
    rows = len((ROOT / "docs/accuracy/fitted.csv").read_text().splitlines()) - 1
    assert f"- {rows} values were chosen with published figures in view." in (ROOT / "README.md").read_text()
