package codes

import "strings"

// parse reads a group: its title after "# ", and an entry after each "## ". The first paragraph of
// an entry is its summary; the one that begins with "Fix: " ends the reasons. The first block of
// code is the example's input, the second one its output.
func parse(text string) Group {
	sections := strings.Split(text, "\n## ")
	title, intro, _ := strings.Cut(sections[0], "\n")
	g := Group{Title: strings.TrimPrefix(title, "# "), Text: flow(intro)}
	for _, s := range sections[1:] {
		e := entry(s)
		e.Group = g.Title
		g.Entries = append(g.Entries, e)
	}
	return g
}

func entry(section string) Entry {
	code, body, _ := strings.Cut(section, "\n")
	prose, blocks, hasExample := strings.Cut(body, "```")
	reasons, fix, _ := strings.Cut(prose, "\nFix: ")
	summary, why, _ := strings.Cut(strings.TrimSpace(reasons), "\n\n")
	e := Entry{Code: code, Summary: flow(summary), Why: flow(why), Fix: flow(fix)}
	if hasExample {
		e.Example = example(blocks)
	}
	return e
}

func example(blocks string) *Example {
	language, rest, _ := strings.Cut(blocks, "\n")
	input, rest, _ := strings.Cut(rest, "```\n")
	_, output, _ := strings.Cut(rest, "```text\n")
	output, _, _ = strings.Cut(output, "```")
	return &Example{Language: language, Input: input, Output: output}
}

// flow joins the lines of each paragraph.
func flow(text string) string {
	var out []string
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		out = append(out, strings.Join(strings.Fields(p), " "))
	}
	return strings.Join(out, "\n\n")
}
