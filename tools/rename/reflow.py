#!/usr/bin/env python3
"""Wraps Markdown paragraphs and whole-line comments that are wider than 100 columns."""

import re, sys, textwrap

LIMIT = 100


def width(s):
    return len(s.expandtabs(4))


def fill(words, first, rest):
    lines, line, prefix = [], first, first
    empty = True
    for w in words:
        if not empty and width(line + " " + w) > LIMIT:
            lines.append(line.rstrip())
            line, empty = rest, True
        line += w if empty else " " + w
        empty = False
    lines.append(line.rstrip())
    return lines


def atoms(text):
    """Words; code spans and links stay whole where they are short."""
    out = []
    for m in re.finditer(r"(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+", text):
        out.append(m.group())
    return out


def markdown(text):
    lines, out, i, fence = text.split("\n"), [], 0, False
    while i < len(lines):
        line = lines[i]
        if line.lstrip().startswith(("```", "~~~")):
            fence = not fence
        if (
            fence
            or not line.strip()
            or re.match(r"\s*(```|~~~|#|\||<|\[[^\]]+\]:|    )", line)
            and not re.match(r"\s*[-*\d]", line)
        ):
            out.append(line)
            i += 1
            continue
        m = re.match(r"(\s*(?:[-*+]|\d+\.)\s+|\s*>\s+|\s*)", line)
        lead = m.group(1)
        hang = lead if ">" in lead else " " * len(lead)
        block = [line[len(lead) :]]
        j = i + 1
        while (
            j < len(lines)
            and lines[j].strip()
            and not re.match(r"\s*(```|~~~|#|\||<|(?:[-*+]|\d+\.)\s|>)", lines[j])
            and not block[-1].endswith("  ")
            and not block[-1].endswith("\\")
        ):
            block.append(lines[j].strip())
            j += 1
        if max(width(l) for l in lines[i:j]) > LIMIT:
            words = atoms(" ".join(block))
            made = fill(words, lead, hang)
            # no continuation may look like the start of a list or heading
            if any(re.match(r"\s*([-*+]|\d+\.|#+|>)(\s|$)", l) for l in made[1:]) and ">" not in lead:
                out += lines[i:j]
            else:
                out += made
        else:
            out += lines[i:j]
        i = j
    return "\n".join(out)


def comments(text, ext):
    mark = {"go": "//", "py": "#"}.get(ext)
    lines, out, i = text.split("\n"), [], 0
    inside_raw = False
    while i < len(lines):
        line = lines[i]
        if ext == "go":
            ticks = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'|//[^`]*$', "", line).count("`") % 2
            if inside_raw or ticks:
                inside_raw ^= bool(ticks)
                out.append(line)
                i += 1
                continue
        pats = (
            [re.compile(r"(\s*)(" + re.escape(mark) + r") (?=\S)")]
            if mark
            else [re.compile(r"(\s*)(//|///|\*) (?=\S)")]
        )
        m = pats[0].match(line)
        if not m or (ext not in ("go", "py") and m.group(2) == "*" and not is_block(lines, i)):
            out.append(line)
            i += 1
            continue
        lead = m.group(0)
        j = i
        block = []
        while (
            j < len(lines)
            and lines[j].startswith(lead)
            and lines[j][len(lead) : len(lead) + 1] not in (" ", "", "\t")
            and not (j > i and re.match(r"([-*\\@]|\d+\.)\s?|\\", lines[j][len(lead) :]))
            and not re.match(r"clang-format|go:|#|nolint|shellcheck|\+build", lines[j][len(lead) :])
        ):
            block.append(lines[j][len(lead) :])
            j += 1
            if block[-1].rstrip().endswith("*/"):
                break
        if not block:
            out.append(line)
            i += 1
            continue
        if max(width(l) for l in lines[i:j]) > LIMIT:
            hang = lead
            if re.match(r"([-*]|\d+\.)\s", block[0]):
                hang = lead + "  "
            if re.match(r"\\param", block[0]):
                hang = lead + "               "
            out += fill(" ".join(b.strip() for b in block).split(), lead, hang)
        else:
            out += lines[i:j]
        i = j
    if ext in ("c", "h", "cpp", "hpp"):
        final = []
        for line in out:
            m = re.match(r"^(\s*)/\*\* ?(.*?) ?\*/$|^(\s*)/\* (.*?) \*/$", line)
            if m and width(line) > LIMIT:
                if m.group(2) is not None:
                    ind = m.group(1)
                    final += [ind + "/**"] + fill(m.group(2).split(), ind + " * ", ind + " * ") + [ind + " */"]
                else:
                    ind = m.group(3)
                    made = fill(m.group(4).split(), ind + "/* ", ind + " * ")
                    if width(made[-1] + " */") > LIMIT:
                        made.append(ind + " */")
                    else:
                        made[-1] += " */"
                    final += made
            else:
                final.append(line)
        out = final
    return "\n".join(out)


def is_block(lines, i):
    for k in range(i, max(-1, i - 80), -1):
        if "/*" in lines[k]:
            return True
        if "*/" in lines[k] and k < i:
            return False
    return False


for p in sys.argv[1:]:
    text = open(p, encoding="utf-8").read()
    ext = p.rsplit(".", 1)[-1]
    new = markdown(text) if ext == "md" else comments(text, ext)
    if new != text:
        open(p, "w", encoding="utf-8").write(new)
