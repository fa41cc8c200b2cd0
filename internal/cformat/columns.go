package cformat

import "strings"

// layout is a list in columns.
type layout struct {
	sizes []int // of columns
	lines int
}

// inColumns lays out a list in columns: as many as need the fewest lines, where the items of a
// column differ little. One item on each line is always possible.
func (p part) inColumns(items []string) laid {
	var best *layout
	for n := min(width/3, len(items)); n > 1; n-- {
		l, ok := columnsOf(items, n, p.tail)
		if !ok || p.at+l.total() > width {
			continue
		}
		if best != nil && l.lines > best.lines {
			break
		}
		best = l
	}
	if best == nil {
		return p.each(items)
	}
	return laid{text: best.write(p.at, items), cost: (best.lines - 1) * (perDepth*(p.depth+1) + firstArgument)}
}

// columnsOf measures a list in n columns. The last item has a tail.
func columnsOf(items []string, n, tail int) (*layout, bool) {
	l := &layout{sizes: make([]int, n), lines: (len(items) + n - 1) / n}
	least := make([]int, n)
	for i, item := range items {
		size := columns(item)
		if i == len(items)-1 && i%n == n-1 {
			size += tail
		}
		c := i % n
		if l.sizes[c] = max(l.sizes[c], size); i < n || size < least[c] {
			least[c] = size
		}
	}
	for c := range n - 1 {
		if l.sizes[c]-least[c] > 10 {
			return nil, false
		}
	}
	return l, true
}

func (l *layout) total() int {
	sum := len(l.sizes) - 1
	for _, size := range l.sizes {
		sum += size
	}
	return sum
}

func (l *layout) write(at int, items []string) string {
	var out strings.Builder
	for i, item := range items {
		c := i % len(l.sizes)
		if i > 0 && c == 0 {
			out.WriteString("\n" + spaces(at))
		}
		out.WriteString(item)
		if c < len(l.sizes)-1 && i < len(items)-1 {
			out.WriteString(spaces(l.sizes[c] - columns(item) + 1))
		}
	}
	return out.String()
}
