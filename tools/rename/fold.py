#!/usr/bin/env python3
"""Folds lines of Go over 120 columns after commas, operators, dots, and inside strings; gofmt follows."""

import re, sys

LIMIT = 117


def width(s):
    return len(s.expandtabs(4))


TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|`[^`]*`|\'(?:[^\'\\]|\\.)+\'|//.*$|/\*.*?\*/|\s+|\w+|&&|\|\||:=|[<>=!+\-*/%&|^]=|\.\.\.|.'
)


def inside(line):
    """Tells whether a line is part of a list that an earlier line opened."""
    depth = 0
    for m in TOKEN.finditer(line):
        t = m.group()
        if len(t) == 1 and t in "([{":
            depth += 1
        elif len(t) == 1 and t in ")]}":
            depth -= 1
            if depth < 0:
                return True
    return line.rstrip().endswith(",")


def breaks(line):
    """Places to break after, with their rank: the lower the better."""
    depth, out, tokens, at = 0, [], [], 0
    for m in TOKEN.finditer(line):
        tokens.append(m)
    for i, m in enumerate(tokens):
        t = m.group()
        if t in "([{" and len(t) == 1:
            depth += 1
        elif t in ")]}" and len(t) == 1:
            depth -= 1
        elif t.startswith("//"):
            break
        elif t == "," and (depth > 0 or inside(line)) and m.end() < len(line):
            out.append((m.end(), depth, 0))
        elif t in ("&&", "||", "+") or (
            t == ":"
            and depth == 0
            and line[m.end() : m.end() + 1].isspace()
            and not line.lstrip().startswith(("case", "default"))
        ):
            out.append((m.end(), depth, 1))
        elif t == "." and i and tokens[i - 1].group() == ")":
            out.append((m.end(), depth, 2))
    return out, tokens


def split_string(line, tokens):
    for m in tokens:
        t = m.group()
        if t[0] in '"`' and len(t) > 24 and width(line[: m.end()]) > LIMIT - 4:
            before = line[: m.start()]
            if re.search(r"(^\s*import|^\s*)$", before) and line.strip().startswith("import"):
                return None
            room = LIMIT - 4 - width(before)
            q = t[0]
            best = -1
            for k in range(1, len(t) - 1):
                if t[k] == " " and k < room and (q == "`" or t[k - 1] != "\\"):
                    best = k
            if best < 12:
                continue
            return line[: m.start() + best + 1] + q + " +", q + t[best + 1 :] + line[m.end() :]
    return None


def fold(line, indent, first=True):
    if width(line) <= LIMIT:
        return [line]
    comment = re.search(r"\s+// .*$", line)
    out, tokens = breaks(line)
    last = tokens[-1]
    if last.group().startswith("//") and line[: last.start()].strip():
        base = re.match(r"\s*", line).group()
        return [base + last.group()] + fold(line[: last.start()].rstrip(), indent)
    fits = [(rank, depth, at) for at, depth, rank in out if width(line[:at]) <= LIMIT and at > len(indent) + 4]
    if fits:
        commas = [f for f in fits if f[0] == 0]
        pool = commas or fits
        low = min(d for _, d, _ in pool)
        good = (
            [at for r, d, at in pool if d == low and width(line[:at]) > LIMIT * 0.25]
            or [at for r, d, at in pool if width(line[:at]) > LIMIT * 0.25]
            or [max(at for _, _, at in pool)]
        )
        at = max(good)
        rest = line[at:].strip()
        if rest and width(rest) + 8 < width(line):
            return [line[:at].rstrip()] + fold(indent + "\t" + rest, indent, False)
    s = split_string(line, tokens)
    if s:
        return [s[0]] + fold(indent + "\t" + s[1], indent, False)
    return [line]


def main(path):
    text = open(path).read()
    lines, out, raw, block = text.split("\n"), [], False, False
    for line in lines:
        if line.startswith("/*"):
            block = True
        if block:
            out.append(line)
            block = "*/" not in line
            continue
        ticks = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'|(?<![`])//[^`]*$', "", line).count("`") % 2
        if raw or ticks:
            out.append(line)
            raw ^= bool(ticks)
            continue
        if width(line) > 120 and not line.lstrip().startswith("//"):
            out += fold(line, re.match(r"\s*", line).group())
        else:
            out.append(line)
    new = "\n".join(out)
    if new != text:
        open(path, "w").write(new)


for p in sys.argv[1:]:
    main(p)
