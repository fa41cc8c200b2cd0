// Package cformat formats rendered C and C++ as the project's .clang-format specifies, where the
// format depends on the length of names: it breaks lines at 120 columns. The templates already have
// the rest of the format. A test compares outputs with clang-format itself.
package cformat

import "strings"

// width is ColumnLimit of .clang-format.
const width = 120

// Fold breaks lines of code that are longer than 120 columns, and lists that end in a comma; it
// joins functions of one statement. Each line must be a whole statement, an entry of a list, or the
// head of a function. Comments, directives of the preprocessor and literals stay as they are.
func Fold(text string) string {
	text = joinShort(text)
	if !hasLong(text) && !strings.Contains(text, listEnd) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text) + len(text)/16)
	for line := range strings.Lines(text) {
		body := strings.TrimLeft(line, " ")
		if strings.HasSuffix(body, listEnd) {
			line = list(len(line)-len(body), strings.TrimSuffix(body, listEnd))
		} else if len(line)-1 > width && isCode(body) {
			line = statement(len(line)-len(body), strings.TrimSuffix(body, "\n")) + "\n"
		}
		out.WriteString(line)
	}
	return out.String()
}

// isCode reports whether a long line is a statement. A line of a comment begins with an asterisk
// and a space, an assignment through a pointer with an asterisk and its name.
func isCode(line string) bool {
	return !strings.ContainsAny(line[:1], "#/\"") && (line[0] != '*' || isWord(line[1]))
}

// hasLong reports whether a line is too long, without looking at each byte.
func hasLong(text string) bool {
	for len(text) > width {
		last := strings.LastIndexByte(text[:width+1], '\n')
		if last < 0 {
			return true
		}
		text = text[last+1:]
	}
	return false
}

// listEnd ends a list with one item on each line.
const listEnd = ", };\n"

// list puts the items of a list on lines of their own, or in columns from the fifth on.
func list(indent int, body string) string {
	first := opening(body)
	items := split(body[first+1:] + ",")
	items = items[:len(items)-1]
	inner := part{at: indent + 4, next: indent + 8, nested: true, known: &known{}}
	laid := inner.each(items)
	if len(items) > 4 {
		laid = inner.inColumns(items)
	}
	return spaces(indent) + body[:first+1] + "\n" + spaces(inner.at) + laid.text + "\n" + spaces(indent) + "};\n"
}

// statement breaks one line. The body of an if, and what follows a label, then begin a new line.
func statement(indent int, body string) string {
	if len(body)+indent <= width {
		return spaces(indent) + body
	}
	if label, rest, ok := strings.Cut(body, ": "); ok && (label == "default" || strings.HasPrefix(label, "case ")) {
		lines := spaces(indent) + label + ":"
		for one := range strings.SplitAfterSeq(rest, "; ") {
			lines += "\n" + statement(indent+2, strings.TrimSuffix(one, " "))
		}
		return lines
	}
	if strings.HasPrefix(body, "if (") {
		end := closing(body, len("if ("))
		if rest := strings.TrimPrefix(body[end+1:], " "); rest != "" && rest != "{" {
			return statement(indent, body[:end+1]) + "\n" + statement(indent+2, rest)
		}
	}
	if name, base, ok := strings.Cut(body, " : "); ok && strings.HasPrefix(body, "struct ") {
		return spaces(indent) + name + "\n" + spaces(indent+4) + ": " + base
	}
	if at := strings.IndexByte(body, '('); indent+at+1 > width && isDeclaration(body[:at]) {
		name := strings.LastIndexByte(body[:at], ' ')
		rest := part{text: body[name+1:], at: indent, next: indent + 4, isHead: true, known: &known{}}
		return spaces(indent) + body[:name] + "\n" + spaces(indent) + rest.layOut().text
	}
	whole := part{text: body, at: indent, next: indent + 4, nested: body[0] == '{', known: &known{}}
	return spaces(indent) + whole.layOut().text
}

// joinShort puts a function of one statement on one line, where that fits.
func joinShort(text string) string {
	text = strings.ReplaceAll(text, ") {\n  }\n", ") {}\n")
	for _, end := range []string{";\n}\n", ";\n  }\n"} {
		text = joinBefore(text, end)
	}
	return text
}

// joinBefore joins the functions that end so.
func joinBefore(text, end string) string {
	var out strings.Builder
	indent, written := len(end)-len(";\n}\n"), 0
	for from := 0; ; {
		at := strings.Index(text[from:], end)
		if at < 0 {
			break
		}
		at += from
		from = at + len(end)
		body := strings.LastIndexByte(text[:at], '\n') + 1
		head := strings.LastIndexByte(text[:max(body-1, 0)], '\n') + 1
		first := text[head:max(body-1, head)]
		one := first + " " + strings.TrimLeft(text[body:at], " ") + "; }"
		if isHead(first, indent) && columns(one) <= width {
			if written == 0 {
				out.Grow(len(text))
			}
			out.WriteString(text[written:head] + one)
			written = from - 1
		}
	}
	if written == 0 {
		return text
	}
	out.WriteString(text[written:])
	return out.String()
}

// isHead reports whether a line is the whole head of a function.
func isHead(line string, indent int) bool {
	body := strings.TrimLeft(line, " ")
	isWhole := strings.Count(body, "(") == strings.Count(body, ")")
	if len(line)-len(body) != indent || !strings.HasSuffix(body, ") {") || !isWhole {
		return false
	}
	word, _, _ := strings.Cut(body, " ")
	return word != "if" && word != "for" && word != "while" && word != "switch" && word != "}"
}
