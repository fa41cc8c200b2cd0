package cformat

import "strings"

// part is a text of one statement, from a column on.
type part struct {
	text   string
	at     int  // the column that it begins in
	next   int  // that of what follows a break outside of brackets
	tail   int  // what must stand behind it on its last line
	depth  int  // of brackets
	nested bool // in braces
	isHead bool // of a function, from its name on
	known  *known
}

// known are the layouts of a statement's parts that need breaks. Each part is tried in several
// places, and so are the parts of each of these: without them, the work would double with each
// nested call.
type known struct {
	layouts map[part]laid
	made    int // how often a part was laid out
}

// laid is a part with its breaks.
type laid struct {
	text string
	cost int // of its breaks, in clang-format's measure
	over int // columns behind the last one
}

// less reports whether clang-format prefers a layout.
func (l laid) less(other laid) bool {
	return l.over < other.over || l.over == other.over && l.cost < other.cost
}

// What clang-format counts for a break: more in brackets, and more for the first one of each pair.
const (
	perDepth       = 20
	firstBreak     = 15
	assignment     = 2
	soleArgument   = 19
	firstArgument  = 1
	firstParameter = 100
)

// fits reports whether it needs no break.
func (p part) fits() bool { return p.at+columns(p.text)+p.tail <= width }

// layOut returns the best layout.
func (p part) layOut() laid {
	whole := laid{text: p.text, over: max(0, p.at+columns(p.text)+p.tail-width)}
	if whole.over == 0 {
		return whole
	}
	best, ok := p.known.layouts[p]
	if !ok {
		best = p.broken(whole)
		if p.known.layouts == nil {
			p.known.layouts = map[part]laid{}
		}
		p.known.layouts[p] = best
	}
	return best
}

// broken returns the best layout of a part that does not fit on the rest of the line.
func (p part) broken(best laid) laid {
	p.known.made++
	if first, last := p.bracket(); first >= 0 {
		best = p.inBrackets(first, last)
		best.text = p.text[:first+1] + best.text + p.text[last:]
	}
	if conditions, values := choices(p.text); len(conditions) > 0 {
		return p.chain(conditions, values)
	}
	if terms, cost := operands(p.text); len(terms) > 1 {
		best = p.fill(terms, cost)
	}
	if left, right, ok := cutAssignment(p.text); ok {
		moved := part{text: right, at: p.next, next: p.next + 4, tail: p.tail, depth: p.depth,
			known: p.known}.layOut()
		moved.text = left + "\n" + spaces(p.next) + moved.text
		moved.cost += perDepth*(p.depth+1) + assignment + firstBreak
		if moved.less(best) {
			return moved
		}
	}
	return best
}

// inBrackets lays out the text between two brackets: aligned with the first one's contents, or on
// separate lines.
func (p part) inBrackets(first, last int) laid {
	isBraces := p.text[first] == '{'
	inner := part{text: p.text[first+1 : last], at: p.at + columns(p.text[:first+1]), depth: p.depth + 1,
		tail: p.tail + columns(p.text[last:]), nested: p.nested || isBraces, known: p.known}
	inner.next = inner.at + 4
	below := inner
	below.at, below.next = p.next, p.next+4
	items := split(inner.text)
	if isBraces && (strings.HasPrefix(inner.text, ".") || p.nested && first == 0 && len(items) > 5) {
		return inner.each(items)
	}
	head := p.text[:first]
	moving := perDepth*(p.depth+2) + firstBreak + firstArgument
	switch {
	case len(items) == 1:
		moving += soleArgument - firstArgument
	case p.isHead || isDeclaration(head):
		moving += firstParameter
	}
	layOut := func(p part) laid { return p.fill(items, firstArgument) }
	if isBraces && len(items) > 5 && (!p.nested || len(items) > 19) {
		layOut = func(p part) laid { return p.inColumns(items) }
	}
	if strings.HasSuffix(head, "if ") {
		return layOut(inner)
	}
	moved := layOut(below)
	moved.text = "\n" + spaces(below.at) + moved.text
	moved.cost += moving
	if inner.at >= width && below.at < inner.at { // nothing fits there
		return moved
	}
	if aligned := layOut(inner); !moved.less(aligned) {
		return aligned
	}
	return moved
}

// fill puts as many items on each line as fit.
func (p part) fill(items []string, penalty int) laid {
	var out strings.Builder
	var sum laid
	column, wasBroken := p.at, false
	for i, item := range items {
		one := part{text: item, depth: p.depth, nested: p.nested, known: p.known}
		if i == len(items)-1 {
			one.tail = p.tail
		}
		if i > 0 {
			one.at, one.next = column+1, column+5
			cost := perDepth*(p.depth+1) + penalty
			if wasBroken || !one.fits() && (i < len(items)-1 || !one.isBetterHere(p.at, cost)) {
				out.WriteString("\n" + spaces(p.at))
				column = p.at
				sum.cost += cost
			} else {
				out.WriteString(" ")
				column = one.at
			}
		}
		one.at, one.next = column, column+4
		l := one.layOut()
		out.WriteString(l.text)
		sum.cost, sum.over = sum.cost+l.cost, sum.over+l.over
		end := l.text[strings.LastIndexByte(l.text, '\n')+1:]
		if wasBroken = len(end) < len(l.text); wasBroken {
			column = 0
		}
		column += columns(end)
	}
	if sum.cost > 0 {
		sum.cost += firstBreak
	}
	sum.text = out.String()
	return sum
}

// isBetterHere reports whether a last item that needs breaks anyway does better on the line of what
// is before it than below that.
func (p part) isBetterHere(below, cost int) bool {
	moved := p
	moved.at, moved.next = below, below+4
	if moved.fits() {
		return false
	}
	there := moved.layOut()
	there.cost += cost
	here := p.layOut()
	return here.over == 0 && here.less(there)
}

// each puts one item on each line.
func (p part) each(items []string) laid {
	var out strings.Builder
	var sum laid
	for i, item := range items {
		one := part{text: item, at: p.at, next: p.at + 4, depth: p.depth, nested: true, known: p.known}
		if i == len(items)-1 {
			one.tail = p.tail
		}
		if i > 0 {
			out.WriteString("\n" + spaces(p.at))
			sum.cost += perDepth*(p.depth+1) + firstArgument
		}
		l := one.layOut()
		out.WriteString(l.text)
		sum.cost, sum.over = sum.cost+l.cost, sum.over+l.over
	}
	sum.text = out.String()
	return sum
}

// chain puts one choice on each line, with the question marks in one column.
func (p part) chain(conditions, values []string) laid {
	prefix := ""
	if left, right, ok := cutAssignment(conditions[0]); ok {
		prefix, conditions[0] = left+" ", right
	} else if rest, ok := strings.CutPrefix(conditions[0], "return "); ok {
		prefix, conditions[0] = "return ", rest
	}
	rest := strings.TrimPrefix(p.text, prefix)
	if strings.HasSuffix(prefix, "= ") && p.next+columns(rest)+p.tail <= width {
		return laid{text: strings.TrimSuffix(prefix, " ") + "\n" + spaces(p.next) + rest}
	}
	at, mark := p.at+columns(prefix), 0
	for i, condition := range conditions {
		if i > 0 {
			conditions[i] = ": " + condition
		}
		mark = max(mark, columns(conditions[i]))
	}
	var out strings.Builder
	out.WriteString(prefix)
	for i, condition := range conditions {
		out.WriteString(condition + spaces(mark-columns(condition)) + " ? " + values[i] + "\n" + spaces(at))
	}
	out.WriteString(spaces(mark) + " : " + values[len(conditions)])
	return laid{text: out.String()}
}
