#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of docs/architecture.md as SVG: stacks of software, host, functions, engines.

usage: architecture.py OUT.svg
"""
import html
import sys

WIDTH, HEIGHT = 900, 800
SOFTWARE, CONTRACT, MODEL, FRONT, OUTSIDE = "#d6ecd9", "#fff0b8", "#dbe7f5", "#f6dfe9", "#eeeeee"
LINE = 15  # of text
lines = []


def text(x, y, words, size=12, anchor="middle", weight="normal"):
    lines.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" '
                 f'font-weight="{weight}">{html.escape(words)}</text>')


def box(x, y, width, height, fill, title, *rest, dashed=False):
    """A box with a bold line and plain ones, in its middle."""
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    lines.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{fill}" '
                 f'stroke="#555555"{dash}/>')
    first = y + height / 2 - LINE * len(rest) / 2 + 4
    text(x + width / 2, first, title, weight="bold")
    for number, words in enumerate(rest, 1):
        text(x + width / 2, first + LINE * number, words, size=11)


def arrow(x, begin, end, words=""):
    """Down, with heads at both ends: calls go down, answers and interrupts come back."""
    lines.append(f'<line x1="{x}" x2="{x}" y1="{begin + 2}" y2="{end - 2}" stroke="#333333" '
                 'marker-start="url(#head)" marker-end="url(#head)"/>')
    if words:
        text(x + 8, (begin + end) / 2 + 4, words, size=11, anchor="start")


def stacks():
    for x, name in ((10, "1  npusim run"), (306, "2  npusim exec"), (602, "3  npusim serve")):
        text(x + 4, 18, name, size=13, anchor="start", weight="bold")
    box(10, 28, 288, 116, SOFTWARE, "workloads/", "and, on the simulator as a library (machine/),",
        "apps/python, apps/demo, tests of a driver")
    arrow(154, 144, 168)
    box(10, 168, 288, 84, SOFTWARE, "libnpudrv", "driver/")
    arrow(154, 252, 276)
    box(306, 28, 288, 46, OUTSIDE, "programs of others", "processes of their own")
    arrow(450, 74, 98)
    box(306, 98, 288, 46, SOFTWARE, "apps/compat, apps/dsmi", "ACL, runtime, HAL; device management")
    arrow(450, 144, 168, "socket, shared memory")
    box(306, 168, 288, 32, SOFTWARE, "apps/exec")
    arrow(450, 200, 220)
    box(306, 220, 288, 32, SOFTWARE, "libnpudrv")
    arrow(450, 252, 276)
    box(602, 28, 288, 46, SOFTWARE, "a program on libnpudrv", "driver/vfio is its include/npu/platform")
    arrow(746, 74, 98)
    box(602, 98, 288, 46, OUTSIDE, "stock Linux guest", "vfio-pci, IOMMU, MSI-X")
    arrow(746, 144, 168)
    box(602, 168, 288, 32, OUTSIDE, "QEMU, vfio-user-pci")
    arrow(746, 200, 276, "vfio-user socket")


def host():
    box(10, 276, 584, 30, CONTRACT, "include/npu/platform: BARs, DMA memory, interrupts, time, tasks")
    box(602, 276, 288, 30, MODEL, "exported function (model/host)")
    arrow(302, 306, 328)
    arrow(746, 306, 328)
    box(10, 328, 880, 30, MODEL, "model/host: CPUs, tasks, memory, IOMMU, interrupts")
    arrow(450, 358, 380)
    box(10, 380, 880, 30, MODEL, "model/pcie: root complex, links, switches, endpoint with configuration space and MSI-X")


def card():
    box(10, 432, 880, 334, "#ffffff", "", dashed=True)
    text(880, 448, "a card: model/chip", anchor="end", weight="bold")
    text(20, 450, "functions in front", anchor="start", weight="bold")
    arrow(230, 410, 460)
    text(238, 450, "include/npu/abi: registers, descriptors, tables", size=11, anchor="start")
    box(20, 460, 420, 58, FRONT, "function 0, the physical function",
        "BAR0 registers, BAR2 decoder, DMA ring, queues, MMU context,", "events, streams, faults, telemetry")
    box(460, 460, 420, 58, FRONT, "functions 1 .. n, virtual functions",
        "the same, of their part of the card", "model/partitions: the parts")
    arrow(400, 518, 548)
    arrow(670, 518, 548)
    text(20, 538, "engines behind, shared by all functions", anchor="start", weight="bold")
    names = (("DMA engines", "model/dma", ""), ("command processor", "model/command", ""),
             ("AI Cores", "model/aicore", "kernels"), ("AICPUs", "model/aicpu", "firmware/aicpu"),
             ("control processors", "model/control", "firmware/pager"))
    for number, (name, folder, program) in enumerate(names):
        x, height = 20 + 175 * number, 46 if program else 70
        box(x, 548, 160, height, MODEL, name, folder)
        if program:
            box(x, 594, 160, 24, SOFTWARE, program)
        arrow(x + 80, 618, 638)
    box(20, 638, 860, 28, MODEL, "model/mmu: TLB, walkers of page tables")
    arrow(100, 666, 726)
    arrow(360, 666, 686)
    box(195, 686, 335, 24, MODEL, "model/l2: for programs on the cores")
    arrow(360, 710, 726)
    box(20, 726, 510, 28, MODEL, "model/hbm: channels, banks")
    arrow(625, 666, 686)
    box(545, 686, 160, 68, MODEL, "model/link: HCCS", "memory of other cards")
    arrow(800, 666, 686)
    box(720, 686, 160, 68, MODEL, "model/ats", "memory of host processes")


def legend():
    for number, (fill, words) in enumerate(((SOFTWARE, "real software of npusim"), (OUTSIDE, "software of others"),
                                            (CONTRACT, "contract"), (MODEL, "model: SystemC/TLM-2.0"),
                                            (FRONT, "model: what a driver sees"))):
        x = 12 + 176 * number
        lines.append(f'<rect x="{x}" y="776" width="14" height="14" fill="{fill}" stroke="#555555"/>')
        text(x + 20, 788, words, size=11, anchor="start")


def main():
    lines.extend([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
                  f'height="{HEIGHT}" font-family="sans-serif">',
                  '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" '
                  'markerHeight="5" orient="auto-start-reverse"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
                  '<rect width="100%" height="100%" fill="#ffffff"/>'])
    for part in (stacks, host, card, legend):
        part()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["</svg>"]) + "\n")


main()
